"""Guesses that were not started and are scored all the same: did the call they foretold come?"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from langgraph_prefetch.events import DRY_RUN
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.speculation.experience import Decided, Experience

MAX_WATCHED = 256
PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Watched:
    """One speculation that was not started, and ``reason``, why not. ``decided`` is None for a closed call.

    A closed call of the same key is another one: it comes later, and proves by coming that the guess was right.
    """

    reason: str
    at: float
    expires_at: float
    decided: Decided | None = None


class Watch:
    """What one run might have started. It holds keys and numbers, and ends as a speculation of that run would.

    Safe for threads. Of a guess that no call asked for until the run ended, another tool ran or it grew too old, the
    gate learns that it was wrong.
    """

    def __init__(self, experience: Experience) -> None:
        self._experience = experience
        self._lock = ForkSafeLock()
        self._held: OrderedDict[tuple[SearchKey, bool], Watched] = OrderedDict()

    def would_be_under_way(self, key: SearchKey) -> bool:
        """Whether only a dry run kept the retrieval of ``key`` from being started."""
        with self._lock:
            both = self._held.get((key, True)), self._held.get((key, False))
        return any(held is not None and held.reason == DRY_RUN for held in both)

    def put(self, key: SearchKey, watched: Watched) -> None:
        """Watch ``key``. The earlier of two sights of it counts, unless only the later one would have started it."""
        place = key, watched.decided is None
        with self._lock:
            held = self._held.get(place)
            spare = watched if held is not None and held.reason == watched.reason else held
            if spare is not watched:
                self._held[place] = watched
            oldest = self._held.popitem(last=False)[1] if len(self._held) > MAX_WATCHED else None
        self._drop(spare)
        self._wrong(oldest)

    def forget(self, key: SearchKey) -> None:
        """A guess of ``key`` is started after all."""
        with self._lock:
            held = self._held.pop((key, False), None)
        self._drop(held)

    def claim(self, key: SearchKey, now: float) -> tuple[Watched, ...]:
        """A call of ``key`` came at ``now``: what would have answered it, what a dry run kept back first."""
        with self._lock:
            both = self._held.pop((key, False), None), self._held.pop((key, True), None)
        held = [each for each in both if each is not None]
        for each in held:
            if each.expires_at <= now:
                self._wrong(each)
        return tuple(sorted((each for each in held if each.expires_at > now), key=lambda each: each.reason != DRY_RUN))

    def void(self, reason: str) -> None:
        """No call will be answered by what is watched now."""
        with self._lock:
            gone, self._held = self._held, OrderedDict()
        for held in gone.values():
            if reason == PAUSED:
                self._drop(held)
            else:
                self._wrong(held)

    def _drop(self, held: Watched | None) -> None:
        if held is not None and held.decided is not None:
            self._experience.drop(held.decided)

    def _wrong(self, held: Watched | None) -> None:
        if held is not None and held.decided is not None:
            self._experience.learn(held.decided, right=False)
