"""What the stages of a run take of the one interpreter that runs them all."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


def clocked(work: Callable[..., T], *args: object) -> tuple[T, float]:
    """What a call gives, and the seconds that its thread computed for it."""
    began = time.thread_time()
    return work(*args), time.thread_time() - began


@dataclass(slots=True)
class _Tally:
    items: int = 0
    seconds: float = 0.0
    cold_items: int = 0
    cold_seconds: float = 0.0
    warm: set[Hashable] = field(default_factory=set)

    def add(self, items: int, seconds: float, worker: Hashable) -> None:
        self.items, self.seconds = self.items + items, self.seconds + seconds
        if worker not in self.warm:
            self.warm.add(worker)
            self.cold_items, self.cold_seconds = self.cold_items + items, self.cold_seconds + seconds

    @property
    def per_item(self) -> float:
        warm_items, warm_seconds = self.items - self.cold_items, self.seconds - self.cold_seconds
        # The lesser: a second call of a few items would say more of a call than of an item.
        each = [(self.seconds, self.items), (warm_seconds, warm_items)]
        return min((seconds / items for seconds, items in each if items), default=0.0)


class Interpreter:
    """Counts processor time by stage, and says what a passage costs once all stages are warm.

    The first call of a stage, or of each of its workers, also pays for what is loaded, allocated and connected when it
    is first needed. In a small run that is more than its passages cost, and no later passage costs it again: it is left
    out.

    Args:
        clock: processor seconds of the event loop's thread, which makes this object.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock, self._looked = clock, clock()
        self._stages: defaultdict[str, _Tally] = defaultdict(_Tally)

    def took(self, stage: str, passages: int, seconds: float, worker: Hashable = None) -> None:
        """A call of a stage has ended, which made or took so many passages and computed for so long.

        Args:
            stage: its name.
            passages: how many.
            seconds: of processor time.
            worker: whose call it was, where each has something of its own to warm up.
        """
        self._stages[stage].add(passages, seconds, worker)

    def wrote(self, passages: int) -> None:
        """A batch is in the store: what the event loop computed since the one before it was for these passages."""
        now = self._clock()
        self.took("loop", passages, now - self._looked)
        self._looked = now

    @property
    def per_passage(self) -> float:
        """Seconds, of all stages together."""
        return sum(tally.per_item for tally in self._stages.values())
