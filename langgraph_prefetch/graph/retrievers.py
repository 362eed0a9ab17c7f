"""A LangChain retriever as the machine sees it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.graph.caller import GraphCaller, speculative_context
from langgraph_prefetch.graph.said import Listening
from langgraph_prefetch.handing import has_own_async
from langgraph_prefetch.jobs import Form
from langgraph_prefetch.keys import Same
from langgraph_prefetch.ports import Caller, Work
from langgraph_prefetch.values import Output

QUERY = "query"


class RetrieverSearch:
    """A :class:`~langgraph_prefetch.ports.SearchTool` over a ``BaseRetriever``; its output's content is the documents.

    Args:
        retriever: what the code calls.
        policy: what may be done early with it.
        traced: leave LangSmith tracing on inside speculations.
    """

    def __init__(self, retriever: BaseRetriever, policy: ToolPolicy, *, traced: bool = False) -> None:
        self._retriever, self._policy, self._traced = retriever, policy, traced

    @property
    def policy(self) -> ToolPolicy:
        """What may be done early with it."""
        return self._policy

    @property
    def identity(self) -> Hashable:
        """The declared identity, else this very retriever."""
        declared = self._policy.identity
        return Same(self._retriever) if declared is None else (self._policy.name, declared)

    @property
    def form(self) -> Form:
        """Documents."""
        return Form.DOCUMENTS

    def reads_beyond(self, configurable: Collection[str]) -> str | None:
        """A retriever is given its query alone; what else one reads does not show."""
        return None

    def arguments_for(self, query: str) -> Mapping[str, Any]:
        """The query, with the policy's fixed arguments as keyword arguments of ``invoke``."""
        return {**self._policy.fixed_arguments, QUERY: query}

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """As they are: a retriever has no schema."""
        return arguments

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """A background run in a copy of the present context, with the user's configuration and none of the host's."""
        graph_caller = caller if isinstance(caller, GraphCaller) else GraphCaller.ambient()
        config = graph_caller.speculative_config(Listening())
        context = speculative_context(config)
        query = str(arguments[QUERY])
        rest = {name: value for name, value in arguments.items() if name != QUERY}
        if graph_caller.loop is None or not has_own_async(self._retriever):
            return Work(context=context, blocking=lambda: self._run(query, config, rest))
        return Work(context=context, coroutine=lambda: self._arun(query, config, rest), loop=graph_caller.loop)

    def _tracing(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._traced else tracing_context(enabled=False)

    def _run(self, query: str, config: RunnableConfig, rest: dict[str, Any]) -> Output:
        with self._tracing():
            return Output(self._retriever.invoke(query, config, **rest))

    async def _arun(self, query: str, config: RunnableConfig, rest: dict[str, Any]) -> Output:
        with self._tracing():
            return Output(await self._retriever.ainvoke(query, config, **rest))
