"""How many calls a component bears at once, learned from how long they take. No clock and no I/O: times are passed in.

The limit follows the gradient between the usual time of a call and the last one's, as in Netflix's concurrency-limits
(``gradient2``): while calls take about as long as usual it grows by the square root of itself, when they take longer
than ``tolerance`` times as long it shrinks in proportion. What the component refuses or breaks off shrinks it at once
(additive increase, multiplicative decrease: Chiu and Jain 1989). The limit moves once for as many calls as it lets
through: a stall that meets all that are under way is one stall. Unlike there, calls under load make the usual time
shorter but never longer, so that a lasting overload is not taken for usual: what is usual is seen when few of the
places are taken, and every 50 steps half of them are kept free for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, sqrt

from langgraph_prefetch.errors import ConfigurationError

_PROBE_STEPS = 50
"""Every so many steps one has half of the places, and shows how long calls take without a queue."""
_PROBE_PACE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRule:
    """Bounds and pace of the limit.

    Attributes:
        initial, least, most: calls at once; equal ones for a fixed limit.
        tolerance: a call may take so many times as long as usual before the limit shrinks.
        smoothing: share of each step that is taken; there is one step for as many calls as there are places.
        backoff: what the limit is multiplied by when calls fail, at most once a step.
        usual_calls: over how many calls the usual time is smoothed.
        speculative_share: of the limit, what calls that nobody asked for may take; they are never kept waiting.
        max_waiting: calls that may wait for a place; further ones are refused.
        wait_seconds: longest wait.
    """

    initial: int = 16
    least: int = 1
    most: int = 512
    tolerance: float = 1.5
    smoothing: float = 0.5
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


@dataclass(slots=True)
class _Step:
    left: int
    calls: int = 0
    seconds: float = 0.0
    most: int = 0
    failed: bool = False
    probe: bool = False


class AdaptiveLimit:
    """The state of one component's limit. Not safe for threads."""

    def __init__(self, rule: LimitRule) -> None:
        self.rule = rule
        self._limit = float(rule.initial)
        self._usual = 0.0
        self._counted = 0
        self._steps = 0
        self._step = _Step(rule.initial)
        self.in_flight = 0

    @property
    def limit(self) -> int:
        """Calls at once, as things stand."""
        return int(max(self.rule.least, self._limit / 2)) if self._step.probe else int(self._limit)

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
        step = self._step
        if failed:
            step.left -= 1
            if not step.failed:
                step.failed = True
                self._set(self._limit * self.rule.backoff)
        elif step.probe and before > self.limit:
            pass  # it began before the probe did
        elif seconds is not None and isfinite(seconds) and seconds > 0:  # 0 or less: the clock jumped
            step.left -= 1
            step.seconds += seconds
            step.calls += 1
            step.most = max(step.most, before)
        if step.left <= 0:
            if step.calls and not step.failed:
                self._move(step)
            self._steps += 1
            self._step = _Step(self.limit, probe=self._steps % _PROBE_STEPS == 0)
            self._step.left = self.limit

    def _move(self, step: _Step) -> None:
        seconds = step.seconds / step.calls
        quiet = step.most <= max(self.rule.least, self._limit / 2)
        if not self._counted or quiet or seconds < self._usual:
            self._counted += step.calls
            pace = step.calls / max(step.calls, min(self._counted, self.rule.usual_calls))
            self._usual += (seconds - self._usual) * (max(pace, _PROBE_PACE) if step.probe else pace)
        if step.probe:
            return
        if step.most < self._limit / 2:
            return  # a limit that nobody comes near says nothing
        gradient = max(0.1, min(1.0, self.rule.tolerance * self._usual / seconds))
        wanted = self._limit * gradient + sqrt(self._limit)
        self._set(self._limit + (wanted - self._limit) * self.rule.smoothing)

    def _set(self, limit: float) -> None:
        self._limit = min(float(self.rule.most), max(float(self.rule.least), limit))
