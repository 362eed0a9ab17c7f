"""A recorded run, whoever recorded it: what each model call streamed, which tools it called, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph_prefetch.evaluation.traces import MalformedLine
from langgraph_prefetch.events import Event
from langgraph_prefetch.values import Delta

Format = Literal["episodes", "events", "langsmith", "stream-events", "stream-chunks", "messages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCall:
    """One call of a tool.

    Attributes:
        name, arguments: as the model asked.
        call_id: the model's; None where there is none.
        seconds: how long the tool took; None if that was not recorded.
        result: what it returned, as the model read it; None likewise.
    """

    name: str
    arguments: Mapping[str, Any] = field(hash=False, repr=False)
    call_id: str | None = None
    seconds: float | None = None
    result: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedStep:
    """One message of the model, and the tools that it called side by side. Seconds count from the model call's start.

    Attributes:
        deltas: what was streamed, or what a whole message would have been streamed as.
        times: when each delta came; None if that was not recorded.
        first: when the first one came; None likewise.
        seconds: how long the model call took; None likewise.
        gap: from its end to the start of the first tool; None likewise.
        calls: of tools.
    """

    deltas: tuple[Delta, ...] = field(repr=False)
    calls: tuple[TracedCall, ...] = ()
    times: tuple[float, ...] | None = None
    first: float | None = None
    seconds: float | None = None
    gap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRun:
    """One invocation of an agent."""

    question: str = field(repr=False)
    steps: tuple[TracedStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A file.

    Attributes:
        file: as it was named.
        format: how it was read.
        runs: in order; those without a model message are left out.
        events: of our own event files: what prefetch did while it was on. Such files hold no text, and so no runs.
        skipped: the first records that could not be read, and why.
        skipped_count: how many there were.
    """

    file: str
    format: Format
    runs: tuple[TracedRun, ...] = ()
    events: tuple[Event, ...] = ()
    skipped: tuple[MalformedLine, ...] = ()
    skipped_count: int = 0
