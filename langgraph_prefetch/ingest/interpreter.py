"""What the stages of a run take of the one interpreter that runs them all."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


def clocked(work: Callable[..., T], *args: object) -> tuple[T, float]:
    """What a call gives, and the seconds that its thread computed for it."""
    began = time.thread_time()
    return work(*args), time.thread_time() - began


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    items: int = 0
    seconds: float = 0.0
    first_items: int = 0
    first_seconds: float = 0.0

    def add(self, items: int, seconds: float) -> None:
        if not self.calls:
            self.first_items, self.first_seconds = items, seconds
        self.calls, self.items, self.seconds = self.calls + 1, self.items + items, self.seconds + seconds

    @property
    def per_item(self) -> float:
        warm_items, warm_seconds = self.items - self.first_items, self.seconds - self.first_seconds
        # The lesser: a second call of a few items would say more of a call than of an item.
        each = [(self.seconds, self.items), (warm_seconds, warm_items)]
        return min((seconds / items for seconds, items in each if items), default=0.0)


class Interpreter:
    """Counts processor time by stage, and says what a passage costs once all stages are warm.

    The first call of a stage also pays for what is loaded, allocated and connected when it is first needed. In a small
    run that is more than its passages cost, and no later passage costs it again: it is left out.

    Args:
        clock: processor seconds of the event loop's thread, which makes this object.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock, self._looked = clock, clock()
        self._stages: defaultdict[str, _Tally] = defaultdict(_Tally)

    def took(self, stage: str, passages: int, seconds: float) -> None:
        """A call of a stage has ended, which made or took so many passages and computed for so long."""
        self._stages[stage].add(passages, seconds)

    def wrote(self, passages: int) -> None:
        """A batch is in the store: what the event loop computed since the one before it was for these passages."""
        now = self._clock()
        self.took("loop", passages, now - self._looked)
        self._looked = now

    @property
    def per_passage(self) -> float:
        """Seconds, of all stages together."""
        return sum(tally.per_item for tally in self._stages.values())
