"""Processor time and memory of the processes behind pools, through psutil."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.events import StagePressure

try:
    import psutil
except ImportError as error:
    raise MissingExtraError(error.name or "psutil", "serving") from error


class Processes:
    """What processes used since they were last asked about. Reads the system's tables: not on an event loop.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._before: dict[int, tuple[float, float]] = {}

    def used(self, pids: Mapping[str, Sequence[int]]) -> dict[str, Callable[[StagePressure], StagePressure]]:
        """Pool -> what adds to its pressure the cores and bytes of its processes.

        Pools on the event loop or on threads are all told the figures of this process.
        """
        now = self._clock()
        each = {pid: self._of(pid, now) for pid in {pid for members in pids.values() for pid in members}}
        self._before = {pid: seen for pid, seen in self._before.items() if pid in each}
        found: dict[str, Callable[[StagePressure], StagePressure]] = {}
        for pool, members in pids.items():
            known = [used for pid in members if (used := each[pid]) is not None]
            shares = [share for share, _ in known if share is not None]
            share = sum(shares) if shares else None
            memory = sum(size for _, size in known) if known else None
            found[pool] = partial(replace, cpu_share=share, memory_bytes=memory)
        return found

    def _of(self, pid: int, now: float) -> tuple[float | None, int] | None:
        try:
            process = psutil.Process(pid)
            times, memory = process.cpu_times(), process.memory_info().rss
        except (psutil.Error, ProcessLookupError):  # it has ended
            return None
        total = times.user + times.system
        before = self._before.get(pid)
        self._before[pid] = (now, total)
        if before is None or now <= before[0]:
            return None, memory
        return max(0.0, total - before[1]) / (now - before[0]), memory
