"""Whether a caller's event loop is too busy to be given more: how long a callback waits there for its turn.

Nothing extra runs to find out. A coroutine has to be put onto its caller's loop anyway, and that hop is timed. A slow
one means that every run on that loop is held up, so for a moment no further speculation is added to it. Real calls are
never held back.
"""

from __future__ import annotations

import asyncio
import math
import threading
import weakref
from dataclasses import dataclass, replace

from langgraph_prefetch.ports import Clock

BUSY_SECONDS = 0.1
"""A loop on which a callback waits for so long is busy: far above what many runs that take turns need."""
SHED_SECONDS = 0.5
"""For so long after a slow hop nothing is added; the next speculation then is the next measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLoad:
    """What is known of one loop, in clock seconds.

    Attributes:
        under_way: when each hop was made that has not arrived.
        busy_until: until when it counts as busy because of one that arrived late.
    """

    under_way: tuple[float, ...] = ()
    busy_until: float = -math.inf


def hopped(load: LoopLoad, now: float) -> LoopLoad:
    """One more hop is under way."""
    return replace(load, under_way=(*load.under_way, now))


def withdrawn(load: LoopLoad, since: float) -> LoopLoad:
    """The hop made at ``since`` is no longer waited for, and tells nothing: its loop may have stopped."""
    place = load.under_way.index(since) if since in load.under_way else len(load.under_way)
    return replace(load, under_way=load.under_way[:place] + load.under_way[place + 1 :])


def arrived(load: LoopLoad, since: float, now: float) -> LoopLoad:
    """The hop made at ``since`` arrived."""
    load = withdrawn(load, since)
    return load if now - since < BUSY_SECONDS else replace(load, busy_until=now + SHED_SECONDS)


def is_busy(load: LoopLoad, now: float) -> bool:
    """True if a hop arrived late a moment ago, or is late already."""
    return now < load.busy_until or any(now - since >= BUSY_SECONDS for since in load.under_way)


class LoopLoads:
    """The load of every loop that was hopped onto. Safe for threads; holds no loop alive."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._loads: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopLoad] = weakref.WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._loads)

    def is_busy(self, loop: asyncio.AbstractEventLoop) -> bool:
        """True if nothing should be added to ``loop`` now."""
        with self._lock:
            load = self._loads.get(loop)
            return load is not None and is_busy(load, self._clock())

    def hop(self, loop: asyncio.AbstractEventLoop) -> float:
        """A hop begins; give what is returned to :meth:`arrived` or :meth:`withdrawn`."""
        now = self._clock()
        with self._lock:
            self._loads[loop] = hopped(self._loads.get(loop, LoopLoad()), now)
        return now

    def arrived(self, loop: asyncio.AbstractEventLoop, since: float) -> None:
        """The hop made at ``since`` arrived now."""
        with self._lock:
            self._loads[loop] = arrived(self._loads.get(loop, LoopLoad()), since, self._clock())

    def withdrawn(self, loop: asyncio.AbstractEventLoop, since: float) -> None:
        """Nobody waits for the hop made at ``since`` any more. Nothing if it arrived."""
        with self._lock:
            load = self._loads.get(loop)
            if load is not None:
                self._loads[loop] = withdrawn(load, since)
