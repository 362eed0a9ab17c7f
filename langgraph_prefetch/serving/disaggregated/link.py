"""A storage link of limited speed that demand passes before speculation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import isfinite

from langgraph_prefetch.errors import ConfigurationError

SLICE_BYTES = 16_384
"""What demand passes in one piece."""
SPECULATIVE_SECONDS = 0.002
"""What speculation passes in one piece takes so long, within a kilobyte and `SLICE_BYTES`: demand waits for no more."""


@dataclass(slots=True, kw_only=True)
class TokenBucket:
    """When the next bytes may pass. Times are those of the clock that is passed in.

    Attributes:
        rate: bytes a second.
        late_seconds: how far behind a busy link may be and make up for it; an event loop wakes up late.
        free_at: when all bytes that were taken have passed.
        last_seconds: what was taken last takes so long.
    """

    rate: float
    late_seconds: float = 0.25
    free_at: float = 0.0
    last_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.rate) and self.rate > 0 and self.late_seconds >= 0):
            raise ConfigurationError(f"a link needs a finite rate above 0, not {self.rate!r}, and late_seconds from 0")

    def wait(self, now: float) -> float:
        """Seconds until something may pass. A clock that jumped back costs no more than what was taken last."""
        self.free_at = min(self.free_at, now + self.last_seconds)
        return max(0.0, self.free_at - now)

    def take(self, size: int, now: float) -> None:
        """So many bytes pass, now that nothing has to be waited for."""
        self.last_seconds = size / self.rate
        self.free_at = max(self.free_at, now - self.late_seconds) + self.last_seconds

    def resume(self, now: float) -> None:
        """The link was idle: there is nothing to make up for."""
        self.free_at = max(self.free_at, now)


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
        self.speculative_slice = max(1024, min(SLICE_BYTES, int(bytes_per_second * SPECULATIVE_SECONDS)))
        self._clock, self._sleep = clock, sleep
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._transfers = 0
        self._busy = False

    @contextmanager
    def transfer(self, *, speculative: bool = False) -> Iterator[Transfer]:
        """Something that is read over the link; in order of their beginning, demand before speculation."""
        if not self._transfers:
            self._bucket.resume(self._clock())
        self._transfers += 1
        try:
            yield Transfer(self, speculative, next(self._numbers))
        finally:
            self._transfers -= 1

    async def _pass(self, size: int, speculative: bool, number: int) -> None:
        while size > 0:
            await self._turn(speculative, number)
            try:
                size -= await self._while_first(size, speculative, number)
            finally:
                self._next()

    async def _while_first(self, size: int, speculative: bool, number: int) -> int:
        """Bytes that passed until all had, or until somebody waited who goes first: asked whenever the link is free."""
        largest, passed = self.speculative_slice if speculative else SLICE_BYTES, 0
        while passed < size and not self._somebody_before(speculative, number):
            if (seconds := self._bucket.wait(self._clock())) > 0:
                await self._sleep(seconds)
                continue
            piece = min(size - passed, largest)
            self._bucket.take(piece, self._clock())
            passed += piece
        return passed

    def _somebody_before(self, speculative: bool, number: int) -> bool:
        while self._waiting and self._waiting[0][2].done():
            heappop(self._waiting)
        return bool(self._waiting) and self._waiting[0][:2] < (speculative, number)

    async def _turn(self, speculative: bool, number: int) -> None:
        if not self._busy:
            self._busy = True
            return
        mine = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (speculative, number, mine))
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


class Transfer:
    """One reading over a link."""

    def __init__(self, link: Link, speculative: bool, number: int) -> None:
        self._link, self._speculative, self._number = link, speculative, number

    async def pass_through(self, size: int) -> None:
        """Wait until ``size`` bytes have passed, slice by slice."""
        await self._link._pass(size, self._speculative, self._number)
