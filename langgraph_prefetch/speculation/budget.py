"""What has been started: per scope and per process in a sliding minute, shared by every prefetcher of the process."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from cachetools import TTLCache

from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock

MINUTE = 60.0
MAX_SCOPES = 10_000


class SlidingMinute:
    """Counts what happened within the last 60 seconds. Bounded by the budget that stops what it counts."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def count(self, now: float) -> int:
        """How many within the minute that ends ``now``."""
        while self._times and self._times[0] <= now - MINUTE:
            self._times.popleft()
        return len(self._times)

    def add(self, now: float) -> None:
        """One more, at ``now``."""
        self._times.append(now)

    def take_back(self) -> None:
        """One of those added last did not happen."""
        if self._times:
            self._times.pop()


class Ledger:
    """Sliding counts of started speculations. Safe for threads; the lock is held for a few steps of arithmetic."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = ForkSafeLock()
        self._process = SlidingMinute()
        self._scopes: TTLCache[Hashable, SlidingMinute] = TTLCache(MAX_SCOPES, MINUTE, timer=clock)

    def counts(self, scope: Hashable | None) -> tuple[int, int]:
        """Started within the last minute: (in ``scope``, in the process). None is the scope of a run without one."""
        now = self._clock()
        with self._lock:
            return self._of(scope).count(now), self._process.count(now)

    def admit(self, scope: Hashable | None, per_scope: int, per_process: int) -> str | None:
        """Count one more, unless a budget is used up; then its name. One atomic step, so no budget is ever exceeded."""
        now = self._clock()
        with self._lock:
            of_scope = self._of(scope)
            if scope is not None and of_scope.count(now) >= per_scope:
                return "per_scope_per_minute"
            if self._process.count(now) >= per_process:
                return "per_process_per_minute"
            self._process.add(now)
            if scope is not None:
                of_scope.add(now)
                self._scopes[scope] = of_scope  # set anew, so that a scope in use does not expire
        return None

    def withdraw(self, scope: Hashable | None) -> None:
        """What was admitted last was not started after all."""
        with self._lock:
            self._process.take_back()
            self._of(scope).take_back()

    def _of(self, scope: Hashable | None) -> SlidingMinute:
        return (self._scopes.get(scope) if scope is not None else None) or SlidingMinute()
