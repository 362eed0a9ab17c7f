"""What has been started: per scope and per process in a sliding minute, shared by every prefetcher of the process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable

from cachetools import TTLCache

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


class Ledger:
    """Sliding counts of started speculations. Safe for threads; the lock is held for a few steps of arithmetic."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._process = SlidingMinute()
        self._scopes: TTLCache[Hashable, SlidingMinute] = TTLCache(MAX_SCOPES, MINUTE, timer=clock)

    def counts(self, scope: Hashable) -> tuple[int, int]:
        """Started within the last minute: (in ``scope``, in the process)."""
        now = self._clock()
        with self._lock:
            of_scope = self._scopes.get(scope)
            return of_scope.count(now) if of_scope else 0, self._process.count(now)

    def add(self, scope: Hashable) -> None:
        """One more was started."""
        now = self._clock()
        with self._lock:
            of_scope = self._scopes.get(scope) or SlidingMinute()
            of_scope.add(now)
            self._scopes[scope] = of_scope  # set anew, so that a scope in use does not expire
            self._process.add(now)
