"""The runs an engine listens to: bounded in number, and ended also where nobody says that they are over."""

from __future__ import annotations

import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from langgraph_prefetch.locks import ForkSafeLock

if TYPE_CHECKING:
    from langgraph_prefetch.prefetcher.run import Run

MAX_OPEN_RUNS = 2_000
"""Beyond it the run that was opened first is ended: it loses its prefetches, its agent goes on."""


class OpenRuns:
    """Safe for threads. Holds no run alive: one that its listener dropped without an end is ended at the next look."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._open: OrderedDict[str, tuple[weakref.ref[Run], Callable[[], None]]] = OrderedDict()
        self._lost: deque[str] = deque()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, run: Run, end: Callable[[], None]) -> None:
        """One more run; ``end`` ends what is left of it once it is gone, and must not hold it."""
        run_id, lost = run.id, self._lost
        # Collection may come at any moment, even under a lock of ours, so it does no more than this.
        held = weakref.ref(run, lambda _: lost.append(run_id))
        with self._lock:
            self._open[run_id] = (held, end)
            oldest = self._open.popitem(last=False)[1] if len(self._open) > MAX_OPEN_RUNS else None
        if oldest is not None:
            _end(*oldest)
        self.end_lost()

    def remove(self, run_id: str) -> None:
        """The run ended as it should."""
        with self._lock:
            self._open.pop(run_id, None)

    def all(self) -> tuple[Run, ...]:
        """Those that are open now."""
        self.end_lost()
        with self._lock:
            runs = [held() for held, _ in self._open.values()]
        return tuple(run for run in runs if run is not None)

    def end_lost(self) -> None:
        """End the runs that were dropped without an end."""
        while self._lost:
            with self._lock:
                found = self._open.pop(self._lost.popleft(), None) if self._lost else None
            if found is not None:
                _end(*found)


def _end(held: weakref.ref[Run], end: Callable[[], None]) -> None:
    run = held()
    if run is not None:
        run.close()
    else:
        end()
