"""When starts that compute begin, where there are more of them than processors.

Starts that wait overlap at no cost. Starts that compute share the processors: begun at once, each has less than one of
its own, and the longest, which the first request waits for, ends later by what the others took of it. Three of
a >= b >= c seconds on two processors end after a + c/2; begun longest first, one a processor, after max(a, b + c)
(Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17, 1969). That is less by a fifth at most
there, and a third more where the three are equal: so it depends on the seconds which of the two is done.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Mapping


def begin_after(seconds: Mapping[str, float], processors: int) -> dict[str, float]:
    """Name -> seconds after the first that it begins: 0 for all, or longest first, whichever is all done sooner.

    Args:
        seconds: of processor time that each start takes.
        processors: that they share.
    """
    free = [0.0] * processors
    begins, ends = {}, 0.0
    for name in sorted(seconds, key=lambda each: seconds[each], reverse=True):
        begins[name] = heapq.heappop(free)
        ends = max(ends, begins[name] + seconds[name])
        heapq.heappush(free, begins[name] + seconds[name])
    return begins if ends < shared_seconds(seconds, processors) else dict.fromkeys(seconds, 0.0)


def shared_seconds(seconds: Mapping[str, float], processors: int) -> float:
    """Until all are done that begin at once, when each has the same part of the processors, and one at most."""
    now = done = 0.0
    for place, each in enumerate(sorted(seconds.values())):
        now += (each - done) * max(1.0, (len(seconds) - place) / processors)
        done = each
    return now


class Turns:
    """The turns of starts that were asked for together. One begins when its time has come, or one before it has ended.

    So a start that hangs, or takes longer than was said, keeps no other from beginning for longer than was said.
    """

    def __init__(self, seconds: Mapping[str, float], processors: int) -> None:
        self._after = begin_after(seconds, processors)
        self._ended = threading.Semaphore(0)

    def wait(self, name: str) -> None:
        """Return when it is to begin: one that is not of these, at once."""
        after = self._after.get(name, 0.0)
        if after > 0:
            self._ended.acquire(timeout=after)

    def ended(self, name: str) -> None:
        """It is warm, or did not start."""
        if name in self._after:
            self._ended.release()
