"""Agents that a service runs: it tells what they think and which calls it leaves to us; no model of ours is heard."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, patch_config
from langchain_core.tools import BaseTool

from langgraph_prefetch.errors import ConfigurationError, UnknownToolError
from langgraph_prefetch.graph.arrival import Arrival
from langgraph_prefetch.graph.by_hand import found_by, run_here
from langgraph_prefetch.graph.caller import GraphCaller, user_configurable
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.own_words import OwnWords
from langgraph_prefetch.graph.serve import stand_in
from langgraph_prefetch.graph.tools import output_of
from langgraph_prefetch.handing import degraded_by
from langgraph_prefetch.ports import AnsweredCall
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.values import Output, ReasoningDelta, ToolCallDelta

Held = BaseTool | BaseRetriever
QUERY = "query"


class HeldTools:
    """A :class:`~langgraph_prefetch.ports.ServiceAgent`: see ``Prefetcher.service_agent``.

    Args:
        engine: answers.
        tools: by the names by which the service calls them.
        names: of those that may run early, the prefetcher's own names.
    """

    def __init__(self, engine: PrefetchEngine, tools: Mapping[str, Held], names: Mapping[str, str]) -> None:
        self.engine, self._tools, self._names = engine, dict(tools), dict(names)

    @property
    def tools(self) -> Collection[str]:
        """The names by which the service calls them."""
        return self._tools.keys()

    def open(
        self,
        question: str,
        configurable: Mapping[str, Any],
        config: RunnableConfig | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> HeldTurn:
        """Begin a turn."""
        given = RunnableConfig(**(config or {}))
        given["configurable"] = {**(given.get("configurable") or {}), **configurable}
        run = run_here(self.engine, config)
        own = run is None
        if run is None:
            run = self.engine.open_run(user_configurable(given))
        caller = replace(GraphCaller.ambient(loop), config=given)
        return HeldTurn(self, run, caller, question, own=own)

    def say_once(self, key: str, message: str) -> None:
        """Log a line, the first time that ``key`` is given."""
        self.engine.warn_once(key, message)

    def named(self, tool: str) -> tuple[Held, str]:
        """The tool that the service calls so, and the name under which it may run early, if it may."""
        return self._tools[tool], self._names.get(tool, tool)

    def may_run_early(self, tool: str) -> bool:
        """Whether it only reads, by the user's word."""
        return tool in self._names and self.engine.named(self._names[tool]) is not None


class HeldTurn:
    """A :class:`~langgraph_prefetch.ports.ServiceTurn`.

    Args:
        agent: whose turn it is.
        run: told what is heard.
        caller: whose configuration the tools read.
        question: the user's words.
        own: close ``run`` with the turn.
    """

    def __init__(self, agent: HeldTools, run: Run, caller: GraphCaller, question: str, *, own: bool) -> None:
        self._agent, self._run, self._caller, self._own = agent, run, caller, own
        self._question = question
        self._own_words: OwnWords | None = None
        self._steps: dict[Hashable, uuid.UUID] = {}

    def think(self, step: Hashable, text: str) -> None:
        """In one step of its own the agent has thought this."""
        with self._guard("rationale"):
            if self._own_words is None:
                self._own_words = OwnWords(self._agent.engine.intent, self._question)
            self._run.hear(self._begun(step), (ReasoningDelta(f"{self._own_words.cut(text)}\n"),), self._asker)

    def will_call(self, step: Hashable, position: int, tool: str, arguments: Mapping[str, Any]) -> None:
        """The agent has decided on this call."""
        with self._guard("announced call"):
            if not self._agent.may_run_early(tool):
                return
            _, name = self._agent.named(tool)
            begun = self._begun(step)
            call_id = f"{begun.hex}-{position}"
            delta = ToolCallDelta(index=position, call_id=call_id, name=name, arguments=json.dumps(dict(arguments)))
            self._run.hear(begun, (delta,), self._asker)

    def end_step(self, step: Hashable) -> None:
        """The step is over."""
        begun = self._steps.pop(step, None)
        if begun is not None:
            with self._guard("step"):
                self._run.end_step(begun)

    def service_ran(self, tool: str) -> None:
        """The service itself ran something that may have changed what searches find."""
        if not self._agent.may_run_early(tool):
            with self._guard("other tool"):
                self._run.other_tool(tool)

    def call(self, tool: str, arguments: Mapping[str, Any], call_id: str, batch: Hashable) -> AnsweredCall:
        """Answer one call."""
        began = time.perf_counter()
        held, name = self._agent.named(tool)
        arrival = self._arrival(tool, name, arguments, call_id, batch)
        served = arrival.answer()
        looked = time.perf_counter() - began
        target, given = _target(held, served, arguments, call_id, arrival.marks)
        if served is not None:
            result = target(given, self._config)
        else:
            with arrival.running():
                result = target(given, self._config)
            arrival.ran(_output(held, call_id, result), failed=_failed(result))
        return _answered(result, arrival, looked, time.perf_counter() - began)

    async def acall(self, tool: str, arguments: Mapping[str, Any], call_id: str, batch: Hashable) -> AnsweredCall:
        """:meth:`call` on the event loop."""
        began = time.perf_counter()
        held, name = self._agent.named(tool)
        arrival = self._arrival(tool, name, arguments, call_id, batch)
        served = await arrival.aanswer()
        looked = time.perf_counter() - began
        target, given = _atarget(held, served, arguments, call_id, arrival.marks)
        if served is not None:
            result = await target(given, self._config)
        else:
            with arrival.running():
                result = await target(given, self._config)
            arrival.ran(_output(held, call_id, result), failed=_failed(result))
        return _answered(result, arrival, looked, time.perf_counter() - began)

    def close(self) -> None:
        """The turn is over."""
        for step in list(self._steps):
            self.end_step(step)
        if self._own:
            with self._guard("run end"):
                self._run.close()

    @property
    def _config(self) -> RunnableConfig:
        return patch_config(self._caller.config)

    def _begun(self, step: Hashable) -> uuid.UUID:
        if step not in self._steps:
            self._steps[step] = uuid.uuid4()
            self._run.begin_step(self._steps[step], self._question, caller=self._asker)
        return self._steps[step]

    def _asker(self) -> GraphCaller:
        return self._caller

    def _arrival(self, tool: str, name: str, arguments: Mapping[str, Any], call_id: str, batch: Hashable) -> Arrival:
        engine = self._agent.engine
        search = engine.named(name) if self._agent.may_run_early(tool) else None
        return Arrival(engine, self._run, name, search, arguments, call_id, self._caller, batch)

    def _guard(self, where: str) -> Guard:
        return Guard(self._agent.engine, where)


def held_tools(tools: Sequence[Held] | Mapping[str, Held]) -> dict[str, Held]:
    """By name, and checked.

    Raises:
        ConfigurationError: something that is no LangChain tool or retriever, or two of one name.
    """
    pairs = list(tools.items()) if isinstance(tools, Mapping) else [(_name(each), each) for each in tools]
    for name, each in pairs:
        if not isinstance(each, BaseTool | BaseRetriever):
            raise ConfigurationError(
                f"service_agent() takes LangChain tools and retrievers, not {type(each).__name__} ({name!r})"
            )
    if len(dict(pairs)) < len(pairs):
        raise ConfigurationError("service_agent() was given two tools of one name: pass a mapping from names to tools")
    return dict(pairs)


def own_names(tools: Mapping[str, Held], policies: Collection[str]) -> dict[str, str]:
    """Of the tools that a prefetcher names, by the service's names, the prefetcher's.

    Raises:
        UnknownToolError: a policy that none of them has.
    """
    names = {name: name if isinstance(each, BaseRetriever) else each.name for name, each in tools.items()}
    named = {name: own for name, own in names.items() if own in policies}
    for policy in policies:
        if policy not in named.values():
            raise UnknownToolError(policy, tuple(tools), "among those of the service's agent. Its tools")
    return named


def _name(each: Any) -> str:
    return each.get_name() if isinstance(each, BaseRetriever) else str(getattr(each, "name", each))


def _given(held: Held, arguments: Mapping[str, Any], call_id: str) -> Any:
    if isinstance(held, BaseRetriever):
        return str(arguments.get(QUERY, ""))
    return {"type": "tool_call", "name": held.name, "id": call_id, "args": dict(arguments)}


def _with(held: Held, served: Output | None, marks: Mapping[str, Any]) -> Held:
    if served is None:
        return held
    return found_by(held, served, marks) if isinstance(held, BaseRetriever) else stand_in(held, served, marks)


def _target(
    held: Held, served: Output | None, arguments: Mapping[str, Any], call_id: str, marks: Mapping[str, Any]
) -> tuple[Callable[[Any, RunnableConfig], Any], Any]:
    return _with(held, served, marks).invoke, _given(held, arguments, call_id)


def _atarget(
    held: Held, served: Output | None, arguments: Mapping[str, Any], call_id: str, marks: Mapping[str, Any]
) -> tuple[Callable[[Any, RunnableConfig], Awaitable[Any]], Any]:
    return _with(held, served, marks).ainvoke, _given(held, arguments, call_id)


def _output(held: Held, call_id: str, result: Any) -> Output | None:
    if isinstance(held, BaseRetriever):
        return None if degraded_by(result) is not None else Output(result)
    return output_of(held.name, call_id, result)


def _failed(result: Any) -> bool:
    return isinstance(result, ToolMessage) and result.status == "error"


def _answered(result: Any, arrival: Arrival, looked: float, seconds: float) -> AnsweredCall:
    answered = arrival.call.answered if arrival.call is not None else None
    message = isinstance(result, ToolMessage)
    return AnsweredCall(
        content=result.content if message else result,
        artifact=result.artifact if message else None,
        answered=answered,
        lookup_seconds=looked,
        seconds=seconds,
    )
