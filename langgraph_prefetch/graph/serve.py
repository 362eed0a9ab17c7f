"""The seam where a tool node's calls are answered: innermost, under every wrapper of the user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langgraph_prefetch.graph.arrival import Arrival, run_in
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.next_call.calls import NextModelCalls
from langgraph_prefetch.graph.said import asay_again, say_again
from langgraph_prefetch.graph.tools import LangChainTool, output_of
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.values import Output

Result = ToolMessage | Command[Any]
Execute = Callable[[ToolCallRequest], Result]
AsyncExecute = Callable[[ToolCallRequest], Awaitable[Result]]


class AnswerSeam:
    """Answers the tool calls of one graph. :meth:`sync` and :meth:`awaited` are tool call wrappers.

    Args:
        engine: answers.
        run_of_call: which run a call belongs to; told from the call's callbacks if None.
        next_calls: may start the next model call meanwhile; None under ``serve="exact"``.
    """

    def __init__(
        self,
        engine: PrefetchEngine,
        run_of_call: Callable[[ToolCallRequest], Run | None] | None = None,
        next_calls: NextModelCalls | None = None,
    ) -> None:
        self.engine = engine
        self._next_calls = next_calls
        self._run_of_call = run_of_call or self._run_by_callbacks

    def sync(self, request: ToolCallRequest, execute: Execute) -> Result:
        """A ``wrap_tool_call`` function."""
        arrival = self._arrival(request)
        if self._next_calls is None:
            return self._answered(arrival, request, execute)
        with self._next_calls.during(arrival.run, request, arrival.call) as ahead:
            return ahead.came(self._answered(arrival, request, execute))

    def _answered(self, arrival: Arrival, request: ToolCallRequest, execute: Execute) -> Result:
        served = arrival.answer()
        if served is not None and request.tool is not None:
            return execute(request.override(tool=stand_in(request.tool, served, arrival.marks)))
        with arrival.running():
            result = execute(request)
        _ran(arrival, request, result)
        return result

    async def awaited(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        """An ``awrap_tool_call`` function."""
        arrival = self._arrival(request)
        if self._next_calls is None:
            return await self._aanswered(arrival, request, execute)
        with self._next_calls.during(arrival.run, request, arrival.call) as ahead:
            return ahead.came(await self._aanswered(arrival, request, execute))

    async def _aanswered(self, arrival: Arrival, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        served = await arrival.aanswer()
        if served is not None and request.tool is not None:
            return await execute(request.override(tool=stand_in(request.tool, served, arrival.marks)))
        with arrival.running():
            result = await execute(request)
        _ran(arrival, request, result)
        return result

    def _arrival(self, request: ToolCallRequest) -> Arrival:
        call, runtime = request.tool_call, request.runtime
        tool = self.engine.named(call["name"])
        # A wrapper of the user's may have put another tool of the same name into the request.
        if isinstance(tool, LangChainTool) and not tool.stands_for(request.tool):
            tool = None
        caller = GraphCaller(runtime.config, own_context=runtime.context) if runtime is not None else GraphCaller({})
        run, batch = self._run_of_call(request), _batch(caller.config)
        return Arrival(self.engine, run, call["name"], tool, call["args"], call["id"], caller, batch)

    def _run_by_callbacks(self, request: ToolCallRequest) -> Run | None:
        return run_in(self.engine, request.runtime.config.get("callbacks")) if request.runtime is not None else None


def _batch(config: RunnableConfig) -> Hashable | None:
    """Names the step of the graph in which a tool runs: the calls of one step run side by side, unless one by one."""
    metadata = config.get("metadata") or {}
    step = metadata.get("langgraph_step")
    if step is None or config.get("max_concurrency") == 1:
        return None
    return (str(metadata.get("langgraph_checkpoint_ns", "")).rpartition("|")[0], step)


def _ran(arrival: Arrival, request: ToolCallRequest, result: Any) -> None:
    output = output_of(request.tool_call["name"], request.tool_call["id"], result)
    if output is None and not isinstance(result, ToolMessage):
        arrival.refuse("it returned a Command, which may change the graph's state")
    arrival.ran(output, failed=isinstance(result, ToolMessage) and result.status == "error")


class _StandIn(BaseTool):
    """Hands over a served output where the real tool would run, so that the host fires every event of a call."""

    served: Output
    response_format: Any = "content_and_artifact"

    def _run(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        say_again(self.served.said)
        return self.served.content, self.served.artifact

    async def _arun(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        await asay_again(self.served.said)
        return self.served.content, self.served.artifact


def stand_in(tool: BaseTool, output: Output, marks: Mapping[str, Any]) -> BaseTool:
    """A tool with the name, schema, callbacks, tags, metadata (and ``marks``) of ``tool`` that gives ``output``."""
    return _StandIn(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        callbacks=tool.callbacks,
        tags=tool.tags,
        metadata={**(tool.metadata or {}), **marks} if marks else tool.metadata,
        verbose=tool.verbose,
        return_direct=tool.return_direct,
        served=output,
    )
