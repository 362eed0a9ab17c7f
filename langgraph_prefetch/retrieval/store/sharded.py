"""One question to several databases or collections at the same time, one answer."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field
from sqlalchemy.exc import SQLAlchemyError

from langgraph_prefetch.errors import ConfigurationError, PrefetchError, ShardError
from langgraph_prefetch.retrieval.search.query import checked_k
from langgraph_prefetch.retrieval.search.results import Nearest
from langgraph_prefetch.retrieval.store.merging import merge
from langgraph_prefetch.retrieval.store.searching import SearchableStore, Vector, as_documents

_NO_ANSWER = PrefetchError | TimeoutError | SQLAlchemyError


class ShardedRetriever(BaseRetriever):
    """A retriever over stores that each hold a part of the passages: asked at once, their answers merged.

    The answer is that of one table with all the passages, where the searches are exact; through indexes it misses no
    more than they do. The first store embeds the query, for all of them. The stores stay their owner's to close.

    Attributes:
        shards: the stores, by a name for errors; all of one metric, of vectors of one length and of one model.
        k: how many documents.
        search_kwargs: the options of every search, such as ``filter``.
        on_failure: ``"error"`` where a shard does not answer, or ``"partial"`` for what the others have: ``failed`` of
            :meth:`nearest` says which are missing, and so does each document's metadata (``missing_shards``).
        timeout_seconds: how long a shard may take; None: as long as its database lets it.
    """

    shards: Mapping[str, SearchableStore]
    k: int = 4
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    on_failure: Literal["error", "partial"] = "error"
    timeout_seconds: float | None = None

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def __init__(self, **given: Any) -> None:
        """Take the stores and options.

        Raises:
            ConfigurationError: there are no shards, or they have several metrics or lengths of vectors.
        """
        super().__init__(**given)
        kinds = {(shard.metric, shard.dimensions) for shard in self.shards.values()}
        if len(kinds) != 1:
            listed = ", ".join(f"{each.dimensions} numbers by {each.metric}" for each in self.shards.values())
            raise ConfigurationError(f"shards must have one metric and vectors of one length, not {listed or 'none'}")

    def nearest(self, query: str | Vector, k: int | None = None, **options: Any) -> Nearest:
        """The nearest passages of all shards.

        Args:
            query: a text or a vector.
            k: how many; None: the retriever's.
            **options: of the search, see :class:`SearchOptions`.

        Raises:
            ShardError: a shard did not answer, and ``on_failure`` is ``"error"``; or none did.
            ConfigurationError: a question without meaning.
        """
        wanted, asked = checked_k("k", self.k if k is None else k), {**self.search_kwargs, **options}
        vector = self._first()._vector(query)
        threads = ThreadPoolExecutor(len(self.shards), thread_name_prefix="langgraph-prefetch-shard")
        try:
            running = {
                name: threads.submit(contextvars.copy_context().run, partial(shard.nearest, vector, wanted, **asked))
                for name, shard in self.shards.items()
            }
            wait(running.values(), timeout=self.timeout_seconds)
            answers: dict[str, Nearest | BaseException] = {}
            for name, each in running.items():
                answers[name] = (each.exception() or each.result()) if each.done() else self._late()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
        return self._merged(answers, wanted)

    async def anearest(self, query: str | Vector, k: int | None = None, **options: Any) -> Nearest:
        """As :meth:`nearest`."""
        wanted, asked = checked_k("k", self.k if k is None else k), {**self.search_kwargs, **options}
        vector = await self._first()._avector(query)

        async def ask(shard: SearchableStore) -> Nearest | BaseException:
            try:
                return await asyncio.wait_for(shard.anearest(vector, wanted, **asked), self.timeout_seconds)
            except TimeoutError:
                return self._late()
            except Exception as error:  # noqa: BLE001 - it is told of with those of the others
                return error

        found = await asyncio.gather(*(ask(shard) for shard in self.shards.values()))
        return self._merged(dict(zip(self.shards, found, strict=True)), wanted)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return _marked(self.nearest(query, **kwargs))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return _marked(await self.anearest(query, **kwargs))

    def _first(self) -> SearchableStore:
        return next(iter(self.shards.values()))

    def _late(self) -> BaseException:
        return TimeoutError(f"no answer in {self.timeout_seconds:g} s")

    def _merged(self, answers: Mapping[str, Nearest | BaseException], k: int) -> Nearest:
        failed = {name: each for name, each in answers.items() if isinstance(each, BaseException)}
        for each in failed.values():
            if isinstance(each, ConfigurationError) or not isinstance(each, _NO_ANSWER):
                raise each  # a wrong question, not a dead shard
        if failed and (self.on_failure == "error" or len(failed) == len(answers)):
            raise ShardError(failed, len(answers)) from next(iter(failed.values()))
        return merge([each for each in answers.values() if isinstance(each, Nearest)], k, failed=tuple(failed))


def _marked(found: Nearest) -> list[Document]:
    documents = as_documents(found.hits)
    if found.failed:
        for each in documents:
            each.metadata["missing_shards"] = list(found.failed)
    return documents
