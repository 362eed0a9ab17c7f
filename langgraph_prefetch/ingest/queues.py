"""A queue that is full by items or by bytes, and remembers how full it has been."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """How full a queue is, was at most, and may be.

    Attributes:
        items: waiting now.
        peak_items: most that waited.
        max_items: most that may.
        bytes: waiting now.
        peak_bytes: most that waited.
        max_bytes: most that may, unless one item alone has more.
    """

    items: int
    peak_items: int
    max_items: int
    bytes: int
    peak_bytes: int
    max_bytes: int


class BoundedQueue(Generic[T]):
    """First in, first out, within one event loop. ``put`` waits while it is full: that is the back-pressure."""

    def __init__(self, *, max_items: int, max_bytes: int) -> None:
        self._max_items, self._max_bytes = max_items, max_bytes
        self._waiting: deque[tuple[T, int]] = deque()
        self._bytes = self._peak_bytes = self._peak_items = 0
        self._changed = asyncio.Condition()
        self._closed = False

    def _has_room(self, size: int) -> bool:
        if not self._waiting:
            return True
        return len(self._waiting) < self._max_items and self._bytes + size <= self._max_bytes

    async def put(self, item: T, size: int = 0) -> None:
        """Add one item of ``size`` bytes as soon as there is room."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_room(size))
            self._waiting.append((item, size))
            self._bytes += size
            self._peak_items = max(self._peak_items, len(self._waiting))
            self._peak_bytes = max(self._peak_bytes, self._bytes)
            self._changed.notify_all()

    async def close(self) -> None:
        """Nothing more will come: who asks gets what waits, and then None."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def get(self) -> T | None:
        """The next item; None when the queue is closed and empty."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            item, size = self._waiting.popleft()
            self._bytes -= size
            self._changed.notify_all()
            return item

    def drain(self) -> list[T]:
        """Take out everything that waits, whoever else is waiting for it."""
        items = [item for item, _ in self._waiting]
        self._waiting.clear()
        self._bytes = 0
        return items

    @property
    def depth(self) -> QueueDepth:
        """How full it is, and has been."""
        return QueueDepth(
            items=len(self._waiting),
            peak_items=self._peak_items,
            max_items=self._max_items,
            bytes=self._bytes,
            peak_bytes=self._peak_bytes,
            max_bytes=self._max_bytes,
        )
