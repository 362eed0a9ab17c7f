"""How many calls a component bears at once, learned from how long they take. No clock and no I/O: times are passed in.

The limit follows the gradient between the usual time of a call and the last one's, as in Netflix's concurrency-limits
(``gradient2``): while calls take about as long as usual it grows by the square root of itself, when they take longer
than ``tolerance`` times as long it shrinks in proportion. What the component refuses or breaks off shrinks it at once
(additive increase, multiplicative decrease: Chiu and Jain 1989). Unlike there, calls under load make the usual time
shorter but never longer, so that a lasting overload is not taken for usual; a component that has become slower shrinks
the limit until its calls count as quiet, and is measured anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, sqrt

from langgraph_prefetch.errors import ConfigurationError

_WARM_UP = 10
"""So many calls make the first usual time, as their plain mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRule:
    """Bounds and pace of the limit.

    Attributes:
        initial, least, most: calls at once; equal ones for a fixed limit.
        tolerance: a call may take so many times as long as usual before the limit shrinks.
        smoothing: share of each step that is taken.
        backoff: what the limit is multiplied by when a call fails.
        usual_calls: over how many calls the usual time is smoothed.
        speculative_share: of the limit, what calls that nobody asked for may take; they are never kept waiting.
        max_waiting: calls that may wait for a place; further ones are refused.
        wait_seconds: longest wait.
    """

    initial: int = 16
    least: int = 1
    most: int = 512
    tolerance: float = 1.5
    smoothing: float = 0.2
    backoff: float = 0.9
    usual_calls: int = 300
    speculative_share: float = 0.5
    max_waiting: int = 1_024
    wait_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.initial <= self.most:
            raise ConfigurationError("a limit needs 1 <= least <= initial <= most calls")
        if not (self.tolerance >= 1 and 0 < self.smoothing <= 1 and 0 < self.backoff <= 1 and self.usual_calls >= 1):
            raise ConfigurationError(
                "a limit needs a tolerance from 1 on, smoothing and backoff in (0, 1], and usual_calls from 1 on"
            )
        if not (0 <= self.speculative_share <= 1 and self.max_waiting >= 0 and self.wait_seconds >= 0):
            raise ConfigurationError("speculative_share lies in [0, 1]; max_waiting and wait_seconds start at 0")

    @classmethod
    def fixed(cls, calls: int) -> LimitRule:
        """Always so many calls at once."""
        return cls(initial=calls, least=calls, most=calls)


class Verdict(StrEnum):
    """What becomes of a call that asks for a place."""

    GO = "go"
    WAIT = "wait"
    REFUSE = "refuse"


class AdaptiveLimit:
    """The state of one component's limit. Not safe for threads."""

    def __init__(self, rule: LimitRule) -> None:
        self.rule = rule
        self._limit = float(rule.initial)
        self._usual = 0.0
        self._counted = 0
        self.in_flight = 0

    @property
    def limit(self) -> int:
        """Calls at once, as things stand."""
        return int(self._limit)

    @property
    def usual_seconds(self) -> float | None:
        """How long a call usually takes; None before the first one ended."""
        return self._usual if self._counted else None

    def ask(self, *, waiting: int, speculative: bool = False) -> Verdict:
        """May one more call begin, while so many wait?"""
        if speculative:
            free = not waiting and self.in_flight < self._limit * self.rule.speculative_share
            return Verdict.GO if free else Verdict.REFUSE
        if self.in_flight < self.limit and not waiting:
            return Verdict.GO
        return Verdict.WAIT if waiting < self.rule.max_waiting else Verdict.REFUSE

    def began(self) -> None:
        """A call takes a place."""
        self.in_flight += 1

    def room(self) -> bool:
        """Whether one that waits may have a place."""
        return self.in_flight < self.limit

    def ended(self, seconds: float | None, *, failed: bool = False) -> None:
        """A call gives its place back.

        Args:
            seconds: it took, waiting left out; of a stream, to its first part. None: nothing is to be learned.
            failed: the component refused it or broke off.
        """
        before, self.in_flight = self.in_flight, self.in_flight - 1
        if failed:
            self._set(self._limit * self.rule.backoff)
        elif seconds is not None and isfinite(seconds) and seconds > 0:  # 0 or less: the clock jumped
            self._learn(seconds, before)

    def _learn(self, seconds: float, in_flight: int) -> None:
        quiet = in_flight <= max(self.rule.least, self._limit / 2)
        if self._counted < _WARM_UP or quiet or seconds < self._usual:
            self._counted += 1
            self._usual += (seconds - self._usual) / min(self._counted, self.rule.usual_calls)
            if self._usual > 2 * seconds:  # it was measured under a load that is over
                self._usual *= 0.95
        if in_flight < self._limit / 2:
            return  # a limit that nobody comes near says nothing
        gradient = max(0.5, min(1.0, self.rule.tolerance * self._usual / seconds))
        wanted = self._limit * gradient + sqrt(self._limit)
        self._set(self._limit + (wanted - self._limit) * self.rule.smoothing)

    def _set(self, limit: float) -> None:
        self._limit = min(float(self.rule.most), max(float(self.rule.least), limit))
