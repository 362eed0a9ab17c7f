"""What a timeline draws: one run's model calls, speculations and search calls, as frozen values.

Times are seconds of the prefetcher's clock, which counts from no particular moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Ending(StrEnum):
    """How a speculation ended, or that its end was not recorded; or that it is passages fetched for near misses."""

    SERVED = "served"
    WASTED = "wasted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNSETTLED = "unsettled"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMark:
    """A model call; what it streamed as in ``StepEnded``. ``end`` is None where none was recorded."""

    step: int
    start: float
    end: float | None = None
    pieces: int = 0
    slices: tuple[int, ...] = ()
    call_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationMark:
    """A speculation.

    Attributes:
        start: when it was handed to the executor.
        seconds: how long its retrieval ran, None if it never did or was still running.
        end: when its fate was settled, None if that was not recorded.
        joined: when further signals asked for the same.
        is_model_call: it is the next model call, started in private; ``source`` says on which guesses.
    """

    id: str
    step: int
    start: float
    tool: str
    source: str
    probability: float
    cue: str
    query: str | None = None
    seconds: float | None = None
    end: float | None = None
    fate: Ending = Ending.UNSETTLED
    reason: str = ""
    joined: tuple[float, ...] = ()
    is_model_call: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMark:
    """A real call of a named tool; the fields are those of ``SearchCallAnswered``."""

    step: int
    start: float
    end: float
    tool: str
    source: str | None
    speculation: str | None
    late: bool
    reason: str
    waited: float
    retrieval: float
    lead: float
    hideable: float
    hidden: float
    failed: bool
    query: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredMark:
    """A signal that started nothing, and why."""

    step: int
    at: float
    tool: str
    source: str
    reason: str
    query: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One agent run. ``all_steps`` is how many model calls it had, where not all are kept."""

    id: str
    start: float
    end: float
    steps: tuple[StepMark, ...] = ()
    speculations: tuple[SpeculationMark, ...] = ()
    calls: tuple[CallMark, ...] = ()
    ignored: tuple[IgnoredMark, ...] = ()
    all_steps: int = 0

    def first_steps(self, count: int) -> RunLine:
        """The run up to its ``count``-th model call."""
        kept = {each.step for each in self.steps[:count]} | {0}
        steps = tuple(each for each in self.steps if each.step in kept)
        speculations = tuple(each for each in self.speculations if each.step in kept)
        calls = tuple(each for each in self.calls if each.step in kept)
        return replace(
            self,
            steps=steps,
            speculations=speculations,
            calls=calls,
            ignored=tuple(each for each in self.ignored if each.step in kept),
            end=last_moment((*steps, *calls), self.start),
        )


def last_moment(marks: Iterable[StepMark | SpeculationMark | CallMark], otherwise: float) -> float:
    """The latest time that is drawn."""
    return max((each.start if each.end is None else each.end for each in marks), default=otherwise)
