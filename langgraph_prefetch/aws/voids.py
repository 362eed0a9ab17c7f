"""Marks of scopes that are being renewed: until one is, nothing of its scope is looked for."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Future

from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.locks import ForkSafeLock

MOST_SCOPES = 1_024


class Voids:
    """Renews marks in the background, and tells who looks whether that is done. Safe for threads.

    What this process wrote must not be overtaken by its own looks. Where a mark could not be renewed the scope is
    looked for by nobody here until it could.

    Args:
        renew: gives a scope a new mark; blocks.
        threads: where it runs.
        doubt_seconds: so long no scope at all is looked for if the marks of too many could not be renewed.
        clock: seconds.
    """

    def __init__(
        self,
        renew: Callable[[str], None],
        threads: Threads,
        doubt_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._renew, self._threads, self._doubt_seconds, self._clock = renew, threads, doubt_seconds, clock
        self._lock = ForkSafeLock()
        self._open: dict[str, Future[None] | None] = {}
        self._all_in_doubt_until = -math.inf

    def void(self, scope_id: str) -> None:
        """Renew the mark of a scope, soon. Never raises."""
        with self._lock:
            before = self._open.get(scope_id)
            if before is not None and not before.running() and not before.done():
                return  # it has not been sent yet, so it is as good as a new one
            if scope_id not in self._open and len(self._open) >= MOST_SCOPES:
                self._all_in_doubt_until = self._clock() + self._doubt_seconds
                return
            renewed = self._open[scope_id] = self._submitted(scope_id)
        if renewed is not None:
            renewed.add_done_callback(lambda done: self._settle(scope_id, done))

    async def settled(self, scope_id: str) -> bool:
        """Wait for the mark under way; False if the scope's is in doubt, and then renewing it is tried again."""
        with self._lock:
            if self._clock() < self._all_in_doubt_until:
                return False
            if scope_id not in self._open:
                return True
            under_way = self._open[scope_id]
        if under_way is not None:
            await asyncio.wait([asyncio.wrap_future(under_way)])
            if not under_way.cancelled() and under_way.exception() is None:
                return True
        self.void(scope_id)
        return False

    def _settle(self, scope_id: str, done: Future[None]) -> None:
        if done.cancelled() or done.exception() is not None:
            return
        with self._lock:
            if self._open.get(scope_id) is done:
                del self._open[scope_id]

    def _submitted(self, scope_id: str) -> Future[None] | None:
        try:
            return self._threads.submit(lambda: self._renew(scope_id))
        except RuntimeError:
            return None
