"""Prefetch as a middleware of ``langchain.agents.create_agent``."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langgraph_prefetch.errors import MiddlewareOrderError, MissingExtraError, UnknownToolError
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.front import Named, Prefetcher
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.serve import AnswerSeam
from langgraph_prefetch.graph.survey import asked_by
from langgraph_prefetch.graph.wrap import with_listener
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.option_types import OptionTypes
from langgraph_prefetch.prefetcher import Run

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
except ImportError as error:
    raise MissingExtraError("langchain", "langchain") from error

MAX_OPEN_RUNS = 1_000


class PrefetchMiddleware(AgentMiddleware[Any, Any, Any]):
    """``create_agent(model, tools, middleware=[..., PrefetchMiddleware(["search"])])``: last, so innermost.

    One instance serves one agent; its ``prefetch`` reports, pauses and closes.

    Args:
        tools: see :func:`~langgraph_prefetch.graph.wrap.with_prefetch`.
        cues: the language of intent; the cues that come with the package if None.
        options: see :class:`~langgraph_prefetch.config.PrefetchOptions`.

    Raises:
        UnknownOptionError, ConfigurationError: at once.
        MiddlewareOrderError, UnknownToolError: when ``create_agent`` builds the agent.
    """

    def __init__(self, tools: Sequence[Named], *, cues: CueSet | None = None, **options: Unpack[OptionTypes]) -> None:
        super().__init__()
        self.prefetch = Prefetcher(tools, cues=cues, **options)
        self.prefetch.require_near()
        self._seam = AnswerSeam(self.prefetch, self._run_of_call, self.prefetch.next_calls)
        self._lock = threading.Lock()
        # A run has no name of its own that a middleware could see; its latest message has.
        self._runs: OrderedDict[str, Run] = OrderedDict()

    @property
    def tools(self) -> Sequence[BaseTool]:  # type: ignore[override]
        """None of its own. ``create_agent`` asks while it builds, which is the time to look at what it builds."""
        build = being_built(self)
        if build is not None:
            self.look_at(build)
        return ()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Listen to the model call."""
        with self._listening(request, None) as listened:
            listened.response = handler(self._owned(request))
        return listened.response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Listen to the model call."""
        with self._listening(request, asyncio.get_running_loop()) as listened:
            listened.response = await handler(self._owned(request))
        return listened.response

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Answer the tool call."""
        with self._ending_on_error(request):
            return self._seam.sync(request, _innermost(handler))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Answer the tool call."""
        with self._ending_on_error(request):
            return await self._seam.awaited(request, _innermost(handler))

    @contextmanager
    def _listening(self, request: ModelRequest[Any], loop: asyncio.AbstractEventLoop | None) -> Iterator[_Listened]:
        listened = _Listened()
        run: Run | None = None
        config = ambient_config() or RunnableConfig()
        with Guard(self.prefetch, "model call"):
            if self.prefetch.enabled:
                run = self._run_for(request, config)
                callbacks = with_listener(config.get("callbacks"), StreamListener(self.prefetch, run, loop))
                # Not model.with_config(callbacks=...): that replaces the run's handlers and silences the user's stream.
                config = {**config, "callbacks": callbacks}
        if run is None:
            yield listened
            return
        token = var_child_runnable_config.set(config)
        try:
            yield listened
        except BaseException:
            with Guard(self.prefetch, "run end"):
                run.close()
            raise
        finally:
            var_child_runnable_config.reset(token)
        with Guard(self.prefetch, "run end"):
            self._keep(run, listened.response)

    def _owned(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """The same request of a model whose next call may start in private."""
        if self.prefetch.next_calls is not None and isinstance(request.model, BaseChatModel):
            with Guard(self.prefetch, "next call"):
                return request.override(model=self.prefetch.model(request.model))
        return request

    def _run_for(self, request: ModelRequest[Any], config: RunnableConfig) -> Run:
        for tool in request.tools:
            if isinstance(tool, BaseTool):
                self.prefetch.admit(tool)
        return self._run_after(request.messages) or self.prefetch.open_run(user_configurable(config))

    @contextmanager
    def _ending_on_error(self, request: ToolCallRequest) -> Iterator[None]:
        """An error or a cancellation most likely ends the agent's run; an interrupt is a pause."""
        try:
            yield
        except GraphBubbleUp:
            raise
        except BaseException:
            with Guard(self.prefetch, "run end"):
                message = _message_of(request)
                run = self._run_after([message]) if message is not None else None
                if run is not None:
                    run.close()
            raise

    def _keep(self, run: Run, response: ModelResponse[Any]) -> None:
        """The run goes on under its latest message, or ends with a message that calls no tool."""
        message = _last_ai(response.result)
        if message is None or message.id is None or not message.tool_calls:
            run.close()
            return
        with self._lock:
            self._runs[message.id] = run
            dropped = [self._runs.popitem(last=False)[1] for _ in range(len(self._runs) - MAX_OPEN_RUNS)]
        for each in dropped:
            each.close()

    def _run_after(self, messages: Sequence[BaseMessage]) -> Run | None:
        message = _last_ai(messages)
        with self._lock:
            return self._runs.pop(message.id, None) if message is not None and message.id is not None else None

    def _run_of_call(self, request: ToolCallRequest) -> Run | None:
        message = _message_of(request)
        with self._lock:
            return self._runs.get(message.id) if message is not None and message.id is not None else None

    def look_at(self, build: Mapping[str, Any]) -> None:
        """Take in what ``create_agent`` builds, by its local names."""
        middleware: Sequence[AgentMiddleware[Any, Any, Any]] = build["middleware"]
        after = middleware[list(middleware).index(self) + 1 :]
        if after:
            raise MiddlewareOrderError(each.name for each in after)
        others = [tool for each in middleware if each is not self for tool in getattr(each, "tools", ())]
        names = {_name_of(tool) for tool in (*build["tools"], *others)}
        self.prefetch.agent_has(names)
        for tool in (*build["tools"], *others):
            if isinstance(tool, BaseTool):
                self.prefetch.check_near(tool)
        for wanted in self.prefetch.policies:
            if wanted not in names:
                raise UnknownToolError(wanted, names)
            for each in middleware:
                if wanted in asked_by(each):
                    self.prefetch.refuse(wanted, f"{each.name} asks for approval of {wanted!r}")
            if build.get("interrupt_before") or build.get("interrupt_after"):
                self.prefetch.refuse(wanted, "the agent is interrupted between its nodes, where a person may be asked")


class _Listened:
    """Where the model's response is put."""

    response: ModelResponse[Any]


def being_built(middleware: AgentMiddleware[Any, Any, Any]) -> Mapping[str, Any] | None:
    """The local names of the ``create_agent`` call that is at work with ``middleware``; None if none is.

    The host hands a middleware no list of the others, and an order that is wrong would let a later wrapper change a
    call that has been answered already. If this look fails, :func:`_innermost` still finds it at the first call.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "create_agent" and any(each is middleware for each in frame.f_locals["middleware"]):
            return frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _name_of(tool: Any) -> str:
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", ""))


def _innermost(handler: Any) -> Any:
    name = getattr(handler, "__qualname__", "")
    if ".compose_two." in name:
        raise MiddlewareOrderError(["another middleware that wraps tool calls"])
    return handler


def _message_of(request: ToolCallRequest) -> AIMessage | None:
    """The message that makes the call."""
    state = request.state
    return _last_ai(state.get("messages", ()) if isinstance(state, Mapping) else getattr(state, "messages", ()))


def _last_ai(messages: Sequence[BaseMessage]) -> AIMessage | None:
    return next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)
