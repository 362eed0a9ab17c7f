"""Model calls that started a guess and then did not search, counted when their run ends."""

from __future__ import annotations

from collections import OrderedDict

from langgraph_prefetch.events import Event, RunEnded, SearchCallAnswered, SpeculationStarted
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.values import Source

MAX_OPEN_RUNS = 4_096
"""Of so many runs without an end the steps are remembered; the oldest are forgotten."""


class FalseStarts:
    """Remembers, for each open run, which steps started guesses and which searched. Safe for threads."""

    def __init__(self, max_open_runs: int = MAX_OPEN_RUNS) -> None:
        self._max = max_open_runs
        self._lock = ForkSafeLock()
        self._runs: OrderedDict[str, tuple[set[int], set[int]]] = OrderedDict()

    def see(self, event: Event) -> int:
        """How many false starts ``event`` settles: more than none only at the end of a run."""
        match event:
            case SpeculationStarted(source=Source.REASONING):
                self._note(event.run_id, event.step, 0)
            case SearchCallAnswered():
                self._note(event.run_id, event.step, 1)
            case RunEnded():
                with self._lock:
                    started, searched = self._runs.pop(event.run_id, (set(), set()))
                return len(started - searched)
            case _:
                pass
        return 0

    def _note(self, run_id: str, step: int, kind: int) -> None:
        with self._lock:
            self._runs.setdefault(run_id, (set(), set()))[kind].add(step)
            if len(self._runs) > self._max:
                self._runs.popitem(last=False)
