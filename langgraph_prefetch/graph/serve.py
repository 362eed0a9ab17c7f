"""The seam where a tool node's calls are answered: innermost, under every wrapper of the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langgraph_prefetch.graph.callback import Guard, StreamListener
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.tools import output_of
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.values import Output

Result = ToolMessage | Command[Any]
Execute = Callable[[ToolCallRequest], Result]
AsyncExecute = Callable[[ToolCallRequest], Awaitable[Result]]


class AnswerSeam:
    """Answers the tool calls of one wrapped graph. :meth:`sync` and :meth:`awaited` are tool call wrappers."""

    def __init__(self, engine: PrefetchEngine) -> None:
        self.engine = engine

    def sync(self, request: ToolCallRequest, execute: Execute) -> Result:
        """A ``wrap_tool_call`` function."""
        arrival = self._arrive(request)
        if arrival.call is None:
            return arrival.around_other(lambda: execute(request))
        output: Output | None = None
        with self._guard("answer"):
            output = arrival.call.answer(may_wait=not _in_event_loop())
        if output is not None:
            arrival.remember(output)
            return execute(request.override(tool=stand_in(request.tool, output)))
        with arrival.running():
            result = execute(request)
        arrival.ran(request, result)
        return result

    async def awaited(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        """An ``awrap_tool_call`` function."""
        arrival = self._arrive(request)
        if arrival.call is None:
            return await arrival.around_other_async(lambda: execute(request))
        output: Output | None = None
        with self._guard("answer"):
            output = await arrival.call.aanswer()
        if output is not None:
            arrival.remember(output)
            return await execute(request.override(tool=stand_in(request.tool, output)))
        with arrival.running():
            result = await execute(request)
        arrival.ran(request, result)
        return result

    def _guard(self, where: str) -> Guard:
        return Guard(self.engine, where)

    def _arrive(self, request: ToolCallRequest) -> _Arrival:
        arrival = _Arrival(self.engine, None, None, request.tool_call["name"])
        with self._guard("arrival"):
            run = run_of(self.engine, request)
            arrival.run = run
            tool = self.engine.named(request.tool_call["name"])
            if run is not None and tool is not None and request.tool is not None:
                arrival.call = run.call(tool, request.tool_call["args"], request.tool_call["id"], _caller_of(request))
                arrival.is_search = True
        return arrival


class _Arrival:
    """One call at the seam. ``call`` is None for other tools, and for searches that cannot be keyed."""

    __slots__ = ("call", "engine", "is_search", "name", "run")

    def __init__(self, engine: PrefetchEngine, run: Run | None, call: SearchCall | None, name: str) -> None:
        self.engine, self.run, self.call, self.name, self.is_search = engine, run, call, name, False

    def _other_tool(self) -> None:
        if self.run is not None and not self.is_search:
            with Guard(self.engine, "other tool"):
                self.run.other_tool(self.name)

    def around_other(self, execute: Callable[[], Result]) -> Result:
        self._other_tool()
        try:
            return execute()
        finally:
            self._other_tool()

    async def around_other_async(self, execute: Callable[[], Awaitable[Result]]) -> Result:
        self._other_tool()
        try:
            return await execute()
        finally:
            self._other_tool()

    def running(self) -> _Running:
        return _Running(self)

    def ran(self, request: ToolCallRequest, result: Any) -> None:
        with Guard(self.engine, "ran"):
            if self.call is None:
                return
            output = output_of(self.name, request.tool_call["id"], result)
            if output is None and not isinstance(result, ToolMessage):
                self.engine.refuse(self.name, "it returned a Command, which may change the graph's state")
            self.call.ran(output)
            if output is not None:
                self.remember(output)

    def remember(self, output: Output) -> None:
        if self.run is not None and self.call is not None:
            with Guard(self.engine, "remember"):
                self.run.answered(self.call, output)


class _Running:
    """While the real tool runs: count it, and count its failure, whatever of ours fails meanwhile."""

    __slots__ = ("_arrival", "_stack")

    def __init__(self, arrival: _Arrival) -> None:
        self._arrival, self._stack = arrival, ExitStack()

    def __enter__(self) -> None:
        call = self._arrival.call
        with Guard(self._arrival.engine, "running"):
            if call is not None:
                self._stack.enter_context(call.running())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        with Guard(self._arrival.engine, "running"):
            self._stack.close()
        if error is not None and not isinstance(error, GraphBubbleUp) and self._arrival.call is not None:
            with Guard(self._arrival.engine, "ran"):
                self._arrival.call.ran(None)


class _StandIn(BaseTool):
    """Hands over a served output where the real tool would run, so that the host fires every event of a call."""

    served: Output
    response_format: Any = "content_and_artifact"

    def _run(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self.served.content, self.served.artifact

    async def _arun(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self.served.content, self.served.artifact


def stand_in(tool: BaseTool | None, output: Output) -> BaseTool:
    """A tool with the name, schema, callbacks and tags of ``tool`` that returns ``output``."""
    if tool is None:
        raise TypeError("a call of an unregistered tool is never served")
    return _StandIn(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        callbacks=tool.callbacks,
        tags=tool.tags,
        metadata=tool.metadata,
        verbose=tool.verbose,
        return_direct=tool.return_direct,
        served=output,
    )


def run_of(engine: PrefetchEngine, request: ToolCallRequest) -> Run | None:
    """The run of ``engine`` that a tool call belongs to, told from the listener among its callbacks."""
    runtime = request.runtime
    return run_in(engine, runtime.config.get("callbacks") if runtime is not None else None)


def run_in(engine: PrefetchEngine, callbacks: Any) -> Run | None:
    """The run of ``engine`` that ``callbacks`` (a list or a manager) belong to."""
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", ())
    for handler in handlers:
        if isinstance(handler, StreamListener) and handler.engine is engine:
            return handler.run_of(getattr(callbacks, "parent_run_id", None))
    return None


def _caller_of(request: ToolCallRequest) -> GraphCaller:
    return GraphCaller(request.runtime.config, own_context=request.runtime.context)


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
