"""Who reads a stream: every token as it comes, or all that has come whenever somebody looks."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from langgraph_prefetch.values import Delta

_SLACK = 1e-9


class Looking:
    """Hands on what a model writes, at each look.

    Looks come at the multiples of ``every_seconds`` on the loop's clock, whatever the model does, as those of a poller
    would. With 0 every delta is a look of its own.
    """

    def __init__(self, hear: Callable[[tuple[Delta, ...]], None], every_seconds: float = 0.0) -> None:
        self._hear = hear
        self._every = every_seconds
        self._unread: list[Delta] = []

    def written(self, delta: Delta) -> None:
        """The model has written ``delta``."""
        self._unread.append(delta)
        if not self._every:
            self.look()

    def look(self) -> None:
        """Read what has been written."""
        if self._unread:
            unread, self._unread = tuple(self._unread), []
            self._hear(unread)

    async def wait(self, seconds: float, passed: float = 0.0) -> float:
        """Wait for ``seconds``, of which some have ``passed`` already, and look in between; how many are left of these.

        The time of a look counts from its beginning: what it starts, it starts then.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + max(0.0, seconds - passed)
        while self._unread and (at := self._next(loop.time())) <= until + _SLACK:
            await asyncio.sleep(max(0.0, at - loop.time()))
            self.look()
        await asyncio.sleep(max(0.0, until - loop.time()) if self._every else max(0.0, seconds - passed))
        return max(0.0, passed - seconds)

    def _next(self, now: float) -> float:
        return (math.floor(now / self._every + _SLACK) + 1) * self._every
