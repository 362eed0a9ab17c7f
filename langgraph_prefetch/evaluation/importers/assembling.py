"""From model calls and tool runs, each recorded by itself, to a run: which message called which tool."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.importers.messages import WireMessage, last_question
from langgraph_prefetch.evaluation.importers.times import between
from langgraph_prefetch.evaluation.importers.values import TracedCall, TracedRun, TracedStep
from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import Delta, ToolCallDelta


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """One call of the model while it is read. Moments are seconds of the recorder's clock.

    Attributes:
        order: of its start among all that was recorded of the run.
        deltas, moments: what was streamed, and when each piece came where that is known.
        message: the whole message; None if only pieces were recorded.
        first: when the first token came.
    """

    order: int
    question: str = ""
    deltas: list[Delta] = field(default_factory=list)
    moments: list[float | None] = field(default_factory=list)
    message: WireMessage | None = None
    began: float | None = None
    first: float | None = None
    ended: float | None = None

    @property
    def streamed(self) -> tuple[Delta, ...]:
        """The pieces, or those of the whole message."""
        return tuple(self.deltas) if self.deltas or self.message is None else self.message.deltas

    def calls(self) -> list[TracedCall]:
        """The tools it called, in order."""
        if self.message is not None and self.message.tool_calls:
            made = self.message.tool_calls
            return [TracedCall(name=each["name"], arguments=each["args"], call_id=each["id"]) for each in made]
        reader = ToolArgsReader()
        sealed = (reader.feed(each) for each in self.deltas if isinstance(each, ToolCallDelta))
        return [
            TracedCall(name=each.tool, arguments=each.arguments, call_id=each.call_id)
            for each in sealed
            if each is not None
        ]


@dataclass(slots=True, kw_only=True)
class ToolRun:
    """One run of a tool while it is read; ``order`` is that of its start."""

    order: int
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str | None = None
    began: float | None = None
    ended: float | None = None
    result: str | None = None


def assembled(models: Sequence[ModelCall], tools: Sequence[ToolRun]) -> TracedRun | None:
    """The run; None where no model said anything.

    A tool run belongs to the call with its id, else to the latest call before it of the same name and arguments that
    has none yet. Where no message asked for it (an agent that writes its actions as text), it belongs to the latest
    message before it.
    """
    spoken = sorted((each for each in models if each.streamed or each.calls()), key=lambda each: each.order)
    if not spoken:
        return None
    calls = [each.calls() for each in spoken]
    taken: list[dict[int, ToolRun]] = [{} for _ in spoken]
    extra: list[list[ToolRun]] = [[] for _ in spoken]
    for tool in sorted(tools, key=lambda each: each.order):
        place = _place(tool, spoken, calls, taken)
        if place is not None:
            taken[place[0]][place[1]] = tool
        elif tool.name and (before := [at for at, each in enumerate(spoken) if each.order < tool.order]):
            extra[before[-1]].append(tool)
    steps = tuple(_step(model, calls[at], extra[at], taken[at]) for at, model in enumerate(spoken))
    return TracedRun(question=next((each.question for each in spoken if each.question), ""), steps=steps)


def runs_of_messages(messages: Iterable[WireMessage]) -> list[TracedRun]:
    """A conversation as runs: each begins where the user speaks after the agent has."""
    runs: list[TracedRun] = []
    asked: list[WireMessage] = []
    models: list[ModelCall] = []
    tools: list[ToolRun] = []

    def close() -> None:
        if (run := assembled(models, tools)) is not None:
            runs.append(run)
        models.clear()
        tools.clear()

    for order, message in enumerate(messages):
        if message.role == "human":
            if models:
                close()
                asked.clear()
            asked.append(message)
        elif message.role == "ai":
            models.append(ModelCall(order=order, question=last_question(asked), message=message))
        elif message.role == "tool":
            tools.append(
                ToolRun(order=order, name=message.name or "", call_id=message.tool_call_id, result=message.text)
            )
    close()
    return runs


def _place(
    tool: ToolRun,
    models: Sequence[ModelCall],
    calls: Sequence[Sequence[TracedCall]],
    taken: Sequence[Mapping[int, Any]],
) -> tuple[int, int] | None:
    free = [
        (at, number, call)
        for at, made in enumerate(calls)
        for number, call in enumerate(made)
        if number not in taken[at] and models[at].order < tool.order
    ]
    if tool.call_id is not None:
        return next(((at, number) for at, number, call in free if call.call_id == tool.call_id), None)
    same = [(at, n) for at, n, call in free if call.name == tool.name and dict(call.arguments) == dict(tool.arguments)]
    if not same:
        return None
    latest = same[-1][0]
    return next(each for each in same if each[0] == latest)


def _with(call: TracedCall, tool: ToolRun | None) -> TracedCall:
    if tool is None:
        return call
    return dataclasses.replace(call, seconds=between(tool.began, tool.ended), result=tool.result)


def _step(
    model: ModelCall, calls: Sequence[TracedCall], extra: Sequence[ToolRun], taken: Mapping[int, ToolRun]
) -> TracedStep:
    asked = [_with(call, taken.get(number)) for number, call in enumerate(calls)]
    written = [_with(TracedCall(name=each.name, arguments=each.arguments), each) for each in extra]
    starts = [each.began for each in (*taken.values(), *extra) if each.began is not None]
    times = [between(model.began, moment) for moment in model.moments]
    known = [each for each in times if each is not None]
    return TracedStep(
        deltas=model.streamed,
        calls=(*asked, *written),
        times=tuple(known) if known and len(known) == len(model.deltas) else None,
        first=between(model.began, model.first),
        seconds=between(model.began, model.ended),
        gap=between(model.ended, min(starts)) if starts else None,
    )
