"""A limit on how often one kind of thing is said."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from langgraph_prefetch.locks import ForkSafeLock

MAX_KINDS = 100
"""Of so many kinds the counts are remembered; those not asked for longest are forgotten."""


class PerMinute:
    """At most ``most`` of each kind in a minute. Safe for threads.

    Args:
        most: at least 1.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = ForkSafeLock()
        self._kinds: OrderedDict[Hashable, _Minute] = OrderedDict()

    def ask(self, kind: Hashable, now: float) -> int | None:
        """May one more be said at ``now`` (seconds)?

        Returns:
            None for no; else how many were refused since the last one that was allowed.
        """
        with self._lock:
            minute = self._kinds.setdefault(kind, _Minute(now))
            self._kinds.move_to_end(kind)
            if len(self._kinds) > MAX_KINDS:
                self._kinds.popitem(last=False)
            return minute.ask(now, self._most)


class _Minute:
    __slots__ = ("allowed", "began_at", "refused")

    def __init__(self, now: float) -> None:
        self.began_at, self.allowed, self.refused = now, 0, 0

    def ask(self, now: float, most: int) -> int | None:
        if now - self.began_at >= 60:
            self.began_at, self.allowed = now, 0
        if self.allowed >= most:
            self.refused += 1
            return None
        self.allowed += 1
        before, self.refused = self.refused, 0
        return before
