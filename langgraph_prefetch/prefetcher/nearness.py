"""Near misses as a run sees them: told what is said, asked when a call comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from langgraph_prefetch.ports import Caller, SearchTool
from langgraph_prefetch.prefetcher.step import Told
from langgraph_prefetch.speculation.nearby import Nearby
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.values import Delta, Signal


class NearStep(Protocol):
    """One model call. Called by one thread at a time; nothing raises."""

    def begin(self) -> None:
        """Before its first word."""
        ...

    def hear(self, delta: Delta) -> None:
        """A piece of its stream."""
        ...

    def take(self, signals: Iterable[Signal]) -> None:
        """What its text makes likely."""
        ...

    def finish(self) -> None:
        """It is over."""
        ...


class NearRun(Protocol):
    """One agent run."""

    def begin_step(self, number: int, told: Told, caller: Caller) -> NearStep | None:
        """A model call begins, in whose context this is called; None where nothing is to be fetched."""
        ...

    def nearby(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller, step: int) -> Nearby | None:
        """What is near a real call; None where the tool has no near misses, or the call is another search."""
        ...

    def void(self) -> None:
        """Another tool ran: what was fetched from a source that cannot tell whether it has changed is forgotten."""
        ...

    def end(self) -> None:
        """The run is over, or was paused: give up what is under way."""
        ...


class Nearness(Protocol):
    """The near misses of all runs of one engine."""

    def begin(self, session: Session) -> NearRun | None:
        """A run begins; None where no tool's near misses are answered."""
        ...
