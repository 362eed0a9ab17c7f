"""Quantiles of what was seen last. Bounded."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque


class Recent:
    """The last values, also in their order.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._last: deque[float] = deque()
        self._ordered: list[float] = []
        self._most = most

    def __len__(self) -> int:
        return len(self._last)

    def add(self, value: float) -> None:
        """One more; the oldest goes where there is no room. It must be a number."""
        if len(self._last) == self._most:
            del self._ordered[bisect_left(self._ordered, self._last.popleft())]
        self._last.append(value)
        insort(self._ordered, value)

    def quantile(self, share: float) -> float:
        """The least value that more than this share, in [0, 1), of them lie at or below. There must be one."""
        return self._ordered[int(share * len(self._ordered))]
