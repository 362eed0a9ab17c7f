"""An agent's memory in a LangGraph store: searches of it run early like any other, and go stale with a write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.store.base import PutOp, SearchItem
from pydantic import BaseModel, Field, SkipValidation

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.operators.epochs import EpochStore, Namespace
from langgraph_prefetch.ports import Caller

NamespaceOf = Callable[[Caller], Namespace]
DESCRIPTION = "Search what is remembered from earlier conversations."


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is remembered under one namespace of a store.

    Attributes:
        store: where it is kept; it marks its writes.
        namespace: where in the store: its labels, or a function from the caller (its ``configurable`` values and its
            runtime ``context``, both trusted) to them. The model has no say in it.
        limit: how many items a search gives.
        filter: what an item's value must have, as for ``store.search``.
        text_key: which part of a value is its text; the whole of it, as JSON, if None.

    Raises:
        ConfigurationError: a store that does not mark its writes, or no namespace.
    """

    store: EpochStore
    namespace: Namespace | NamespaceOf
    limit: int = 5
    filter: Mapping[str, Any] | None = field(default=None, hash=False)
    text_key: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.store, EpochStore):
            raise ConfigurationError(
                f"memory takes a store that marks its writes: EpochStore(store), not {type(self.store).__name__}"
            )
        if not callable(self.namespace):
            _checked(self.namespace)
        require_at_least("limit", self.limit, 1)

    def namespace_of(self, caller: Caller) -> Namespace:
        """Where the caller's memory is.

        Raises:
            ConfigurationError: the function gave something that is no namespace.
        """
        return _checked(self.namespace(caller)) if callable(self.namespace) else self.namespace

    def epoch(self, caller: Caller) -> Hashable:
        """Moves with every write, by whatever process, to the caller's memory; it holds the namespace too."""
        namespace = self.namespace_of(caller)
        return (namespace, self.store.epoch(namespace))

    async def aepoch(self, caller: Caller) -> Hashable:
        """:meth:`epoch` without blocking the loop."""
        namespace = self.namespace_of(caller)
        return (namespace, await self.store.aepoch(namespace))

    def search(self, query: str, caller: Caller) -> list[Document]:
        """The items that suit the query best, best first."""
        namespace, how = self.namespace_of(caller), self._how()
        return [self._document(item) for item in self.store.search(namespace, query=query, **how)]

    async def asearch(self, query: str, caller: Caller) -> list[Document]:
        """:meth:`search` without blocking the loop."""
        namespace, how = self.namespace_of(caller), self._how()
        return [self._document(item) for item in await self.store.asearch(namespace, query=query, **how)]

    def tool(self, name: str = "recall", description: str = DESCRIPTION) -> BaseTool:
        """A tool that searches it, to be named in ``tools=`` as any other: its artifact holds the documents."""
        return MemorySearch(name=name, description=description, memory=self)

    def retriever(self) -> BaseRetriever:
        """A retriever over it, for ``prefetcher.retriever``."""
        return MemoryRetriever(memory=self)

    def writer(self, read: str = "memories") -> Runnable[Any, dict[str, Any]]:
        """A node that remembers what stands under ``read`` in the state, all of it in one write.

        Each is a text, a mapping, or a pair of a key and a mapping. Without a key of its own an item has one made of
        its content, so that a node that runs again remembers nothing twice. The state is left as it is.
        """

        def write(state: Any) -> dict[str, Any]:
            if ops := self._puts(state, read):
                self.store.batch(ops)
            return {}

        async def awrite(state: Any) -> dict[str, Any]:
            if ops := self._puts(state, read):
                await self.store.abatch(ops)
            return {}

        return RunnableLambda(write, afunc=awrite, name="remember")

    def _puts(self, state: Any, read: str) -> list[PutOp]:
        namespace = self.namespace_of(GraphCaller.ambient())
        given: Iterable[Any] = (state.get(read) if isinstance(state, Mapping) else getattr(state, read, None)) or ()
        return [PutOp(namespace, key, value) for key, value in map(self._item, given)]

    def _item(self, given: Any) -> tuple[str, dict[str, Any]]:
        match given:
            case (str() as key, Mapping() as value):
                return key, dict(value)
            case Mapping():
                value = dict(given)
            case str():
                value = {self.text_key or "text": given}
            case _:
                raise ConfigurationError(f"to remember takes texts, mappings or (key, mapping), not {given!r:.80}")
        return hashlib.blake2b(_json(value).encode(), digest_size=16).hexdigest(), value

    def _how(self) -> dict[str, Any]:
        return {"limit": self.limit, "filter": dict(self.filter) if self.filter else None}

    def _document(self, item: SearchItem) -> Document:
        value = item.value
        text = str(value[self.text_key]) if self.text_key is not None and self.text_key in value else _json(value)
        key = _json([*item.namespace, item.key])
        metadata = {"namespace": list(item.namespace), "key": item.key, "updated_at": item.updated_at.isoformat()}
        if item.score is not None:
            return Document(id=key, page_content=text, metadata={**metadata, "score": item.score})
        return Document(id=key, page_content=text, metadata=metadata)


class MemoryQuery(BaseModel):
    """What the model says of a search."""

    query: str = Field(description="What to look for.")


class MemorySearch(BaseTool):
    """A search of a memory that is bound when the tool is made, and so can run before its call."""

    args_schema: Any = MemoryQuery
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    memory: SkipValidation[Memory]

    def epoch(self, caller: Caller) -> Hashable:
        """See :meth:`Memory.epoch`."""
        return self.memory.epoch(caller)

    async def aepoch(self, caller: Caller) -> Hashable:
        """See :meth:`Memory.aepoch`."""
        return await self.memory.aepoch(caller)

    def _run(self, query: str, config: RunnableConfig) -> tuple[str, list[Document]]:
        return _answer(self.memory.search(query, _caller(config)))

    async def _arun(self, query: str, config: RunnableConfig) -> tuple[str, list[Document]]:
        return _answer(await self.memory.asearch(query, _caller(config)))


class MemoryRetriever(BaseRetriever):
    """A memory's searches as a retriever."""

    memory: SkipValidation[Memory]

    def epoch(self, caller: Caller) -> Hashable:
        """See :meth:`Memory.epoch`."""
        return self.memory.epoch(caller)

    async def aepoch(self, caller: Caller) -> Hashable:
        """See :meth:`Memory.aepoch`."""
        return await self.memory.aepoch(caller)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.memory.search(query, GraphCaller.ambient())

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self.memory.asearch(query, GraphCaller.ambient())


def _caller(config: RunnableConfig) -> GraphCaller:
    return replace(GraphCaller.ambient(), config=config)


def _answer(documents: list[Document]) -> tuple[str, list[Document]]:
    said = [{"key": each.metadata["key"], "memory": each.page_content} for each in documents]
    return _json(said), documents


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _checked(namespace: Any) -> Namespace:
    if not isinstance(namespace, tuple) or not namespace or not all(isinstance(label, str) for label in namespace):
        raise ConfigurationError(f"a namespace is a tuple of labels, such as ('memories', 'ada'), not {namespace!r}")
    return namespace
