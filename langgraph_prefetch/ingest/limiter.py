"""How many may be under way at once, where that number can change."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Limiter:
    """``async with`` it: whoever comes while there are as many as ``limit()`` says waits, first come first served."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.under_way = 0

    async def __aenter__(self) -> None:
        while self.under_way >= self._limit():
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            finally:
                if turn in self._waiting:
                    self._waiting.remove(turn)
        self.under_way += 1

    async def __aexit__(self, *_: object) -> None:
        self.under_way -= 1
        for turn in self._waiting:  # all of them look again: the limit may have risen, or one may have given up
            if not turn.done():
                turn.set_result(None)
