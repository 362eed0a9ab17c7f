"""The interceptor: hears an agent's event stream while it passes by, and answers what is left to the caller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from langgraph_prefetch.aws.bedrock_agents.invocations import result, tool_of
from langgraph_prefetch.aws.bedrock_agents.reading import (
    Announced,
    Control,
    Said,
    ServiceRuns,
    StepEnds,
    Thought,
    read,
)
from langgraph_prefetch.aws.bedrock_agents.values import AgentCall, AgentQuestion, Invocation, ReturnedControl
from langgraph_prefetch.aws.bedrock_pools import pool
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ports import AnsweredCall, ServiceAgent, ServiceTurn

Event = Mapping[str, Any]

MAX_ACTIONS = 16
NO_TRACES = (
    "a Bedrock agent's stream held no orchestration trace with a rationale, so nothing could be prefetched from it: "
    "set enableTrace, and leave the rationale in the agent's prompt"
)

_actions = pool("bedrock-actions", MAX_ACTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResults:
    """The actions of one returned control, answered.

    Attributes:
        session_state: for the next request: ``invocationId`` and ``returnControlInvocationResults``.
        calls: how each was answered.
        seconds: how long all of them took, side by side.
    """

    session_state: dict[str, Any] = field(hash=False, repr=False)
    calls: tuple[AgentCall, ...]
    seconds: float


class BedrockAgentListener:
    """Hears one turn of a Bedrock agent.

    Use it as a context manager, around all requests of the turn::

        with BedrockAgentListener(prefetch.service_agent(tools), question) as listener:
            response = client.invoke_agent(..., enableTrace=True)
            for event in listener.over(response["completion"]):
                ...                                        # every event, unchanged and in order
            if listener.control is not None and listener.can_answer:
                state = listener.answer().session_state    # for the next invoke_agent

    Args:
        agent: ``prefetcher.service_agent(tools)``.
        question: whose words are not taken for the agent's thoughts, and whose session is the scope.
        config: of the caller; its callbacks hear the tools.
        loop: where async tools run, if the caller has an event loop.

    Raises:
        ConfigurationError: ``agent`` is none.
    """

    def __init__(
        self,
        agent: ServiceAgent,
        question: AgentQuestion,
        config: RunnableConfig | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._agent = checked(agent)
        self._turn: ServiceTurn = agent.open(question.text, question.configurable, config, loop)
        self._heard = self._thought = False
        self._announced = 0
        self.control: ReturnedControl | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """The turn is over; what was started and not used is given up. Idempotent."""
        if self._heard and not self._thought:
            self._agent.say_once("no rationale", NO_TRACES)
        self._turn.close()

    def over(self, completion: Iterable[Event]) -> Iterator[Event]:
        """Every event of ``completion``, as it comes; what it makes likely has been started when it is passed on.

        What the stream raises is raised.
        """
        self.control = None
        for event in completion:
            self.hear(event)
            yield event

    def hear(self, event: Event) -> list[Said]:
        """Take in one event, and say what it says. Never raises; an event that makes no sense says nothing."""
        self._heard = True
        try:
            said = list(read(event))
        except Exception:  # noqa: BLE001 - an event of a form that nobody knows is a miss
            self._agent.say_once("event", "an event of a Bedrock agent was not understood; it is passed on")
            said = _unread(event)
        for each in said:
            self._take(each)
        return said

    def _take(self, said: Said) -> None:
        match said:
            case Thought(step, text):
                self._thought = True
                self._turn.think(step, text)
            case Announced(step, invocation):
                tool = tool_of(invocation, self._agent.tools)
                if tool is not None:
                    self._announced += 1
                    self._turn.will_call(step, self._announced, tool, invocation.arguments)
            case ServiceRuns(names):
                tool = next((name for name in names if name in self._agent.tools), names[-1])
                self._turn.service_ran(tool)
            case StepEnds(step):
                self._turn.end_step(step)
            case Control(control):
                self.control = control

    @property
    def can_answer(self) -> bool:
        """Whether every action of the returned control has a tool here, and none needs a person to agree first."""
        actions = self.control.invocations if self.control is not None else ()
        return bool(actions) and all(
            not each.needs_confirmation and tool_of(each, self._agent.tools) is not None for each in actions
        )

    def answer(self) -> ActionResults:
        """Run the actions of the returned control, or answer them from what was prefetched. Raises what a tool raises.

        Raises:
            ConfigurationError: one of them has no tool here, or needs a person to agree.
        """
        return self._answered(self._side_by_side)

    async def aanswer(self) -> ActionResults:
        """:meth:`answer` on the event loop."""
        control, began = self._to_answer(), time.perf_counter()
        asked = [self._turn.acall(*each) for each in self._calls(control)]
        return _results(control, self._names(control), await asyncio.gather(*asked), began)

    def _answered(self, run: Callable[[ReturnedControl], list[AnsweredCall]]) -> ActionResults:
        control, began = self._to_answer(), time.perf_counter()
        return _results(control, self._names(control), run(control), began)

    def _side_by_side(self, control: ReturnedControl) -> list[AnsweredCall]:
        first, *others = self._calls(control)
        under_way = [_actions.submit(partial(copy_context().run, self._turn.call, *each)) for each in others]
        try:
            return [self._turn.call(*first), *(each.result() for each in under_way)]
        finally:
            for each in under_way:
                each.cancel()

    def _to_answer(self) -> ReturnedControl:
        if self.control is None or not self.can_answer:
            raise ConfigurationError("there is nothing here that can be answered: look at `control` and `can_answer`")
        return self.control

    def _names(self, control: ReturnedControl) -> list[str]:
        return [tool_of(each, self._agent.tools) or "" for each in control.invocations]

    def _calls(self, control: ReturnedControl) -> list[tuple[str, Mapping[str, Any], str, str]]:
        pairs = zip(self._names(control), control.invocations, strict=True)
        return [
            (tool, each.arguments, f"{control.invocation_id}-{position}", control.invocation_id)
            for position, (tool, each) in enumerate(pairs)
        ]


def checked(agent: ServiceAgent) -> ServiceAgent:
    """``agent``, if it is one; raises ``ConfigurationError``."""
    if not isinstance(agent, ServiceAgent):
        raise ConfigurationError(
            f"a Bedrock agent is heard through prefetcher.service_agent(tools), not {type(agent).__name__}"
        )
    return agent


def _results(
    control: ReturnedControl, names: Collection[str], answered: Iterable[AnsweredCall], began: float
) -> ActionResults:
    answers = list(answered)
    told: list[dict[str, Any]] = [
        result(invocation, each.content) for invocation, each in zip(control.invocations, answers, strict=True)
    ]
    return ActionResults(
        session_state={"invocationId": control.invocation_id, "returnControlInvocationResults": told},
        calls=tuple(AgentCall.of(name, each) for name, each in zip(names, answers, strict=True)),
        seconds=time.perf_counter() - began,
    )


def _unread(event: Event) -> list[Said]:
    """A control that nobody understood is still the caller's."""
    if "returnControl" not in event:
        return []
    nothing: tuple[Invocation, ...] = ()
    return [Control(ReturnedControl(invocation_id="", invocations=nothing, event=event["returnControl"] or {}))]
