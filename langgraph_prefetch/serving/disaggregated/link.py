"""A storage link of limited speed that demand passes before speculation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import isfinite

from langgraph_prefetch.errors import ConfigurationError

SLICE_BYTES = 16_384
"""What passes in one piece: so much does demand wait, at most, for speculation that is on its way."""


@dataclass(slots=True, kw_only=True)
class TokenBucket:
    """When the next bytes may pass. Times are those of the clock that is passed in.

    Attributes:
        rate: bytes a second.
        burst_seconds: how much of an idle time is made up for afterwards.
        free_at: when all bytes that were taken have passed.
    """

    rate: float
    burst_seconds: float = 0.01
    free_at: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.rate) and self.rate > 0 and self.burst_seconds >= 0):
            raise ConfigurationError(f"a link needs a finite rate above 0, not {self.rate!r}, and a burst of 0 or more")

    def wait(self, now: float) -> float:
        """Seconds until something may pass."""
        return max(0.0, self.free_at - now)

    def take(self, size: int, now: float) -> None:
        """So many bytes pass. A clock that jumped back costs no more than what was taken already."""
        self.free_at = max(self.free_at, now - self.burst_seconds) + size / self.rate


class Link:
    """What a worker draws from storage, bounded.

    Args:
        bytes_per_second: at most.
        clock: seconds, monotonic.
        sleep: waits so many seconds.

    Raises:
        ConfigurationError: a rate that is no finite number above 0.
    """

    def __init__(
        self,
        bytes_per_second: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bucket = TokenBucket(rate=bytes_per_second, free_at=clock())
        self._clock, self._sleep = clock, sleep
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._busy = False

    async def pass_through(self, size: int, *, speculative: bool = False) -> None:
        """Wait until ``size`` bytes have the link; demand before speculation, slice by slice."""
        while size > 0:
            slice_bytes = min(size, SLICE_BYTES)
            await self._turn(speculative)
            try:
                while (seconds := self._bucket.wait(self._clock())) > 0:
                    await self._sleep(seconds)
                self._bucket.take(slice_bytes, self._clock())
            finally:
                self._next()
            size -= slice_bytes

    async def _turn(self, speculative: bool) -> None:
        if not self._busy:
            self._busy = True
            return
        mine = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (speculative, next(self._numbers), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._next()  # it had its turn, and does not take it
            raise

    def _next(self) -> None:
        while self._waiting:
            _, _, waiter = heappop(self._waiting)
            if not waiter.done():
                waiter.set_result(None)
                return
        self._busy = False
