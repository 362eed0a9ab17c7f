"""Tools and retrievers answered early outside a tool node: called by a node function, or without any graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import Command
from pydantic import SkipValidation

from langgraph_prefetch.graph.arrival import Arrival, run_in
from langgraph_prefetch.graph.caller import GraphCaller, ambient_config
from langgraph_prefetch.graph.current import current_run
from langgraph_prefetch.graph.serve import stand_in
from langgraph_prefetch.graph.tools import output_of, query_argument
from langgraph_prefetch.handing import degraded_by, seen_as
from langgraph_prefetch.ports import SearchTool
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.values import Output

Result = TypeVar("Result")
Marks = Mapping[str, Any]


def run_here(engine: PrefetchEngine, config: RunnableConfig | None = None) -> Run | None:
    """The run of the present context: told by the callbacks in force, else by ``with prefetcher.run():``."""
    for each in (config, ambient_config()):
        if each and (run := run_in(engine, each.get("callbacks"))) is not None:
            return run
    return current_run(engine)


class EarlyCalls:
    """Answers calls of one tool or retriever.

    Args:
        engine: answers.
        search: the tool or retriever as it was named.
    """

    def __init__(self, engine: PrefetchEngine, search: SearchTool) -> None:
        self._engine, self._search = engine, search

    def _arrival(self, arguments: Mapping[str, Any], call_id: str | None, config: RunnableConfig | None) -> Arrival:
        ambient = GraphCaller.ambient()
        caller = replace(ambient, config=config) if config and "configurable" in config else ambient
        name = self._search.policy.name
        named = self._engine.named(name)
        # Another one may have been named so since, or this one refused.
        tool = named if named is not None and named.identity == self._search.identity else None
        return Arrival(self._engine, run_here(self._engine, config), name, tool, arguments, call_id, caller)

    def call(
        self,
        arguments: Mapping[str, Any],
        call_id: str | None,
        config: RunnableConfig | None,
        serve: Callable[[Output, Marks], Result],
        run: Callable[[], Result],
        output: Callable[[Result], Output | None],
    ) -> Result:
        """One call: ``serve`` what was prefetched, or ``run`` and note its ``output``."""
        arrival = self._arrival(arguments, call_id, config)
        served = arrival.answer()
        if served is not None:
            return serve(served, arrival.marks)
        with arrival.running():
            result = run()
        arrival.ran(output(result))
        return result

    async def acall(
        self,
        arguments: Mapping[str, Any],
        call_id: str | None,
        config: RunnableConfig | None,
        serve: Callable[[Output, Marks], Awaitable[Result]],
        run: Callable[[], Awaitable[Result]],
        output: Callable[[Result], Output | None],
    ) -> Result:
        """:meth:`call` for coroutines."""
        arrival = self._arrival(arguments, call_id, config)
        served = await arrival.aanswer()
        if served is not None:
            return await serve(served, arrival.marks)
        with arrival.running():
            result = await run()
        arrival.ran(output(result))
        return result


class PrefetchedTool(BaseTool):
    """A tool of the same name and schema that answers from speculations where it can.

    A call with plain arguments and a call in ``ToolCall`` form are both answered. A tool whose response format is
    ``content_and_artifact`` is answered in ``ToolCall`` form alone: a plain call of it drops what a speculation keeps.
    """

    inner: SkipValidation[BaseTool]
    early: SkipValidation[EarlyCalls]

    @classmethod
    def over(cls, tool: BaseTool, engine: PrefetchEngine, search: SearchTool) -> PrefetchedTool:
        """``tool``, answered by ``engine``."""
        return cls(inner=tool, early=EarlyCalls(engine, search), **seen_as(tool))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Answer one call."""
        arguments, call_id = _arguments(self.inner, input)
        if arguments is None:
            return self.inner.invoke(input, config, **kwargs)
        return self.early.call(
            arguments,
            call_id,
            config,
            lambda output, marks: stand_in(self.inner, output, marks).invoke(input, config, **kwargs),
            lambda: self.inner.invoke(input, config, **kwargs),
            lambda result: _output(self.inner, result),
        )

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Answer one call."""
        arguments, call_id = _arguments(self.inner, input)
        if arguments is None:
            return await self.inner.ainvoke(input, config, **kwargs)
        return await self.early.acall(
            arguments,
            call_id,
            config,
            lambda output, marks: stand_in(self.inner, output, marks).ainvoke(input, config, **kwargs),
            lambda: self.inner.ainvoke(input, config, **kwargs),
            lambda result: _output(self.inner, result),
        )

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """The tool itself, unanswered."""
        return self.inner.run(*args, **kwargs)

    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        """The tool itself, unanswered."""
        return await self.inner.arun(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("run() and invoke() go to the inner tool")


class PrefetchedRetriever(BaseRetriever):
    """A retriever that answers from speculations where it can, with the events of the one it stands for."""

    inner: SkipValidation[BaseRetriever]
    early: SkipValidation[EarlyCalls]

    @classmethod
    def over(cls, retriever: BaseRetriever, engine: PrefetchEngine, search: SearchTool) -> PrefetchedRetriever:
        """``retriever``, answered by ``engine`` where ``search`` stands for it."""
        return cls(
            name=retriever.get_name(),
            tags=retriever.tags,
            metadata=retriever.metadata,
            inner=retriever,
            early=EarlyCalls(engine, search),
        )

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        """Answer one query."""
        return self.early.call(
            {"query": input, **kwargs},
            None,
            config,
            lambda output, marks: self._found(output, marks).invoke(input, config, **kwargs),
            lambda: self.inner.invoke(input, config, **kwargs),
            _unless_degraded,
        )

    async def ainvoke(
        self,
        input: str,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Answer one query."""
        return await self.early.acall(
            {"query": input, **kwargs},
            None,
            config,
            lambda output, marks: self._found(output, marks).ainvoke(input, config, **kwargs),
            lambda: self.inner.ainvoke(input, config, **kwargs),
            _unless_degraded,
        )

    def _found(self, output: Output, marks: Marks) -> BaseRetriever:
        return found_by(self.inner, output, marks)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError("invoke() goes to the inner retriever")


class _Found(BaseRetriever):
    """Hands over found documents where the real retriever would run, so that the host fires its events."""

    found: SkipValidation[list[Document]]
    inner: SkipValidation[BaseRetriever]

    def _get_ls_params(self, **kwargs: Any) -> Any:
        return self.inner._get_ls_params(**kwargs)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.found

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        # The default one would wait for one of the loop's threads, to do nothing there.
        return self.found


def found_by(retriever: BaseRetriever, output: Output, marks: Marks) -> BaseRetriever:
    """A retriever with the name, tags, metadata (and ``marks``) of ``retriever`` that gives ``output``."""
    metadata = {**(retriever.metadata or {}), **marks} if marks else retriever.metadata
    return _Found(
        name=retriever.get_name(), tags=retriever.tags, metadata=metadata, found=output.content, inner=retriever
    )


def _arguments(tool: BaseTool, given: Any) -> tuple[dict[str, Any] | None, str | None]:
    """The arguments and call id of what was passed to ``invoke``; None where they cannot be named."""
    if isinstance(given, dict) and given.get("type") == "tool_call":
        return dict(given["args"]), given.get("id")
    if tool.response_format != "content":
        return None, None
    if isinstance(given, str):
        name = query_argument(tool, {})
        return ({name: given} if name is not None else None), None
    return (dict(given) if isinstance(given, dict) else None), None


def _output(tool: BaseTool, result: Any) -> Output | None:
    if isinstance(result, ToolMessage):
        # Of a tool that is kept raw the message is something made from what it gave.
        return None if tool.response_format == "content" else output_of(tool.name, result.tool_call_id, result)
    return None if isinstance(result, Command) else _unless_degraded(result)


def _unless_degraded(result: Any) -> Output | None:
    return None if degraded_by(result) is not None else Output(result)
