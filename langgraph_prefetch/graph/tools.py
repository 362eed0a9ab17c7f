"""A LangChain tool as the machine sees it."""

from __future__ import annotations

import inspect
import typing
import uuid
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.types import Command
from langsmith import tracing_context
from pydantic import BaseModel

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.errors import NotServableError
from langgraph_prefetch.graph.caller import GraphCaller, speculative_context
from langgraph_prefetch.graph.said import Listening
from langgraph_prefetch.handing import behind, degraded_by, has_own_async
from langgraph_prefetch.jobs import Form
from langgraph_prefetch.keys import Same
from langgraph_prefetch.ports import Caller, Work
from langgraph_prefetch.values import Output

QUERY_NAMES = ("query", "q", "search_query", "question", "input", "text", "keywords", "search", "entity", "title")

_INJECTED = (InjectedState, InjectedStore, InjectedToolCallId, InjectedToolArg)


class LangChainTool:
    """A :class:`~langgraph_prefetch.ports.SearchTool` over a ``BaseTool``.

    Args:
        tool: the tool the graph runs.
        policy: what may be done early with it.
        traced: leave LangSmith tracing on inside speculations.
        raw: keep what a call with plain arguments gives, not the content of a ``ToolMessage`` made from it.
        refuse: told why the tool turned out not to be servable.
    """

    def __init__(
        self,
        tool: BaseTool,
        policy: ToolPolicy,
        *,
        refuse: Callable[[str, str], None],
        traced: bool = False,
        raw: bool = False,
    ) -> None:
        self.tool, self._policy, self._refuse, self._traced, self._raw = tool, policy, refuse, traced, raw
        # Handlers that sit on the tool itself are for the agent's own calls.
        self._unheard = tool.model_copy(update={"callbacks": None}) if tool.callbacks else tool
        self._injected = injected_arguments(tool)
        self._query_argument = policy.query_argument or query_argument(tool, policy.fixed_arguments)
        self._defaults = schema_defaults(tool)

    @property
    def policy(self) -> ToolPolicy:
        """What may be done early with it."""
        return self._policy

    @property
    def identity(self) -> Hashable:
        """The declared identity, else this very tool object."""
        tool = Same(self.tool) if self._policy.identity is None else (self._policy.name, self._policy.identity)
        return (tool, self._raw)

    @property
    def form(self) -> Form:
        """What of a call a worker would have to give."""
        return Form.RESULT if self._raw else Form.MESSAGE

    def reads_beyond(self, configurable: Collection[str]) -> str | None:
        """Whether it is given the run's runtime, or a configuration of which nothing is told."""
        if "runtime" in self._injected.values():
            return "it is given a ToolRuntime, which stays in the agent's process"
        if not configurable and (name := config_argument(self.tool)) is not None:
            return (
                f"its argument {name!r} is the run's configuration; say which values under 'configurable' are all it "
                "reads: SQSExecutor(…, configurable=(…))"
            )
        return None

    def stands_for(self, called: BaseTool | None) -> bool:
        """Whether ``called`` gives what this tool gives: it is the same object, or the user declared them equal."""
        return called is self.tool or self._policy.identity is not None

    def arguments_for(self, query: str) -> Mapping[str, Any] | None:
        """``query`` under the query argument, with the policy's fixed arguments."""
        if self._query_argument is None:
            return None
        return {**self._policy.fixed_arguments, self._query_argument: query}

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's arguments with schema defaults, without injected ones (a model cannot supply those)."""
        return {
            **self._defaults,
            **{name: value for name, value in arguments.items() if name not in self._injected},
        }

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """A background run in a copy of the present context, with the user's configuration and none of the host's."""
        graph_caller = caller if isinstance(caller, GraphCaller) else GraphCaller.ambient()
        listening = Listening()
        config = graph_caller.speculative_config(listening)
        context = speculative_context(config)
        given = {name: value for name, value in arguments.items() if name not in self._injected}
        call = {
            "type": "tool_call",
            "name": self.tool.name,
            "id": f"speculation-{uuid.uuid4().hex}",
            "args": {**given, **self._runtime_for(graph_caller, config, listening)},
        }
        loop = graph_caller.loop
        if loop is None or not has_own_async(self.tool):
            return Work(context=context, blocking=lambda: self._run(call, config, listening))
        return Work(context=context, coroutine=lambda: self._arun(call, config, listening), loop=loop)

    def _runtime_for(self, caller: GraphCaller, config: RunnableConfig, listening: Listening) -> dict[str, Any]:
        # Reached only with the user's word (ToolPolicy.reads_runtime) that context and config are all that is read.
        runtime: ToolRuntime[Any, Any] = ToolRuntime(
            state={},
            context=caller.context,
            config=config,
            stream_writer=listening.write,
            tool_call_id=None,
            store=caller.runtime.store if caller.runtime is not None else None,
        )
        return dict.fromkeys(self._injected, runtime)

    def _tracing(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._traced else tracing_context(enabled=False)

    def _run(self, call: dict[str, Any], config: RunnableConfig, listening: Listening) -> Output:
        with self._tracing():
            result = self._unheard.invoke(call["args"] if self._raw else call, config)
        return self._output(call, result, tuple(listening.said))

    async def _arun(self, call: dict[str, Any], config: RunnableConfig, listening: Listening) -> Output:
        with self._tracing():
            result = await self._unheard.ainvoke(call["args"] if self._raw else call, config)
        return self._output(call, result, tuple(listening.said))

    def _output(self, call: dict[str, Any], result: Any, said: tuple[Any, ...]) -> Output:
        if self._raw and not isinstance(result, Command):
            return Output(result, said=said)
        if not isinstance(result, ToolMessage) or result.tool_call_id != call["id"]:
            reason = f"it returned a {type(result).__name__} of its own making, which may change the graph's state"
            self._refuse(self.tool.name, reason)
            raise NotServableError(reason)
        if result.status == "error":
            raise NotServableError("the tool reported an error")
        return Output(result.content, result.artifact, said)


def output_of(tool_name: str, call_id: str | None, message: Any) -> Output | None:
    """What a real call gave, where another call could be answered with it; None for errors, commands and stand-ins."""
    if not isinstance(message, ToolMessage) or message.status == "error" or degraded_by(message) is not None:
        return None
    if message.tool_call_id != call_id or message.name != tool_name:
        return None
    return Output(message.content, message.artifact)


def injected_arguments(tool: BaseTool) -> dict[str, str]:
    """Arguments the model does not supply, by name, with what is injected (``state``, ``store``, ``runtime`` …)."""
    found: dict[str, str] = {}
    annotations = [pair for each in behind(tool) if isinstance(each, BaseTool) for pair in _annotations(each).items()]
    for name, annotation in annotations:
        kind = _injection(annotation)
        if kind is None and name == "runtime":
            kind = "runtime"
        if kind is not None:
            found[name] = kind
    return found


def config_argument(tool: BaseTool) -> str | None:
    """The name under which the tool, or one to which it hands its calls on, is given the run's configuration."""
    return next((name for each in behind(tool) if isinstance(each, BaseTool) and (name := _config_of(each))), None)


def _config_of(tool: BaseTool) -> str | None:
    own = (getattr(tool, "func", None), getattr(tool, "coroutine", None))
    functions = [each for each in own if each is not None] or [tool._run, tool._arun]
    for function in functions:
        for name, annotation in _hints(function).items():
            if name != "return" and RunnableConfig in (annotation, *typing.get_args(annotation)):
                return name
    return None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # names that only exist for type checkers
        return inspect.get_annotations(function)


def _annotations(tool: BaseTool) -> dict[str, Any]:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool._run
    annotations = dict(_hints(function))
    for name in ("return", "config", "run_manager", "callbacks"):
        annotations.pop(name, None)
    schema = tool.args_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        for name, field in schema.model_fields.items():
            annotations[name] = field.annotation
            if field.metadata:
                annotations[name] = typing.Annotated[field.annotation, *field.metadata]
    return annotations


def _injection(annotation: Any) -> str | None:
    for part in (annotation, *typing.get_args(annotation)):
        origin = typing.get_origin(part) or part
        kind = origin if isinstance(origin, type) else type(origin)
        if issubclass(kind, ToolRuntime):
            return "runtime"
        if issubclass(kind, _INJECTED):
            return {InjectedState: "state", InjectedStore: "store"}.get(kind, "injected argument")
        if part is not annotation and (nested := _injection(part)) is not None:
            return nested
    return None


def query_argument(tool: BaseTool, fixed: Mapping[str, Any]) -> str | None:
    """The argument a guessed query fills; None where the schema asks for more than a guess can know."""
    properties, required = _schema(tool)
    open_arguments = [name for name in required if name not in fixed]
    texts = [name for name, kind in properties.items() if kind in ("string", None) and name not in fixed]
    if len(open_arguments) == 1:
        return open_arguments[0] if open_arguments[0] in texts else None
    if open_arguments:
        return None
    return next((name for name in QUERY_NAMES if name in texts), texts[0] if len(texts) == 1 else None)


def _schema(tool: BaseTool) -> tuple[dict[str, str | None], list[str]]:
    schema: Any = tool.tool_call_schema
    body = schema if isinstance(schema, dict) else schema.model_json_schema()
    properties = {name: part.get("type") for name, part in body.get("properties", {}).items()}
    return properties, list(body.get("required", []))


def schema_defaults(tool: BaseTool) -> dict[str, Any]:
    """Defaults the tool's schema fills in, JSON values only; nothing where the schema is no pydantic model."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return {}
    injected = injected_arguments(tool)
    return {
        name: field.default
        for name, field in schema.model_fields.items()
        if not field.is_required()
        and field.default_factory is None
        and name not in injected
        and field.alias is None
        and (field.default is None or type(field.default) in (bool, int, float, str))
    }
