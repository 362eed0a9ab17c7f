"""Single flight: at most one unclaimed retrieval per key, claimed by the call it was guessed for."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

from cachetools import TLRUCache

from langgraph_prefetch.errors import SpeculationDeclinedError
from langgraph_prefetch.events import Fate
from langgraph_prefetch.keys import Scope, SearchKey
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.speculation.experience import Decided
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.values import Output, Speculation

DECLINED = "declined by the tool"
"""Why a speculation was cancelled whose tool raised `SpeculationDeclinedError`."""

FAILED_SECONDS = 2.0
"""For so long after a failure no further speculation starts on the same key; real calls are not held back."""


class Entry:
    """One retrieval in the cache.

    Args:
        speculation: what started it; None where a real call did (kept only for reuse).
        flight: the handle on it.
        expires_at: when it is dropped, in clock seconds.
        on_fate: told once how the speculation ended.

    Attributes:
        runs: ids of the runs that asked for it; it is cancelled when none is left.
        decided: what the gate said of it, if there is one.
    """

    __slots__ = (
        *("_on_fate", "_parting", "_serves", "_unsettled"),
        *("decided", "expires_at", "flight", "key", "runs", "speculation"),
    )

    def __init__(
        self,
        key: SearchKey,
        speculation: Speculation | None,
        flight: Flight,
        expires_at: float,
        on_fate: Callable[[Entry, Fate, str], None] | None = None,
    ) -> None:
        self.key, self.speculation, self.flight, self.expires_at = key, speculation, flight, expires_at
        self.runs: set[str] = set()
        self.decided: Decided | None = None
        self._on_fate = on_fate
        self._parting = ""
        # Taking from an iterator or a list is one atomic step, so neither needs a lock.
        self._serves = itertools.count()
        self._unsettled = [True]

    @property
    def state(self) -> FlightState:
        """Where its retrieval stands."""
        return self.flight.state

    @property
    def as_of(self) -> float:
        """When the retrieval began to read; infinitely long ago if it never did."""
        return -math.inf if self.flight.started_at is None else self.flight.started_at

    def serve(self) -> int:
        """Count one more answer; returns how many there were before."""
        return next(self._serves)

    def settle(self, fate: Fate, reason: str) -> None:
        """Record how the speculation ended. Only the first time counts."""
        try:
            self._unsettled.pop()
        except IndexError:
            return
        if self._on_fate is not None:
            self._on_fate(self, fate, reason)

    def abandon(self, reason: str) -> None:
        """Give up an entry nobody will claim, and its retrieval with it if that is still under way."""
        self._parting = reason
        self.flight.cancel()
        self.settle_unserved(reason)

    def discard(self) -> None:
        """Take back an entry that was never started: it has no fate."""
        self._unsettled.clear()
        self.flight.cancel()

    def settle_unserved(self, reason: str) -> None:
        """Record the fate of an entry whose retrieval ended and did not answer a call."""
        match self.flight.state:
            case FlightState.FAILED if isinstance(self.flight.error, SpeculationDeclinedError):
                self.settle(Fate.CANCELLED, DECLINED)
            case FlightState.FAILED:
                self.settle(Fate.FAILED, type(self.flight.error).__name__)
            case FlightState.CANCELLED:
                self.settle(Fate.CANCELLED, self._parting or reason)
            case _:
                self.settle(Fate.WASTED, reason)


class SpeculationCache:
    """Pending, ready and failed retrievals by key, bounded in number and age.

    Safe for threads. Its lock is held for dictionary steps only, never while a retrieval, a copy or a callback runs.
    Within one step time stands still, or an entry could expire between being found and being taken out.

    Args:
        max_entries: beyond it the least recently used entry is dropped.
        clock: seconds.

    An entry that expires or is pushed out is abandoned (outside the lock).
    """

    def __init__(self, max_entries: int, clock: Clock) -> None:
        self._lock = ForkSafeLock()
        self._entries = _Entries(max_entries, clock)

    def __len__(self) -> int:
        with self._lock:
            held = len(self._entries)
            dropped = self._entries.take_dropped()
        _abandon(dropped)
        return held

    def peek(self, key: SearchKey) -> Entry | None:
        """The entry under ``key``, left where it is."""
        with self._lock:
            found = self._entries.get(key)
            dropped = self._entries.take_dropped()
        _abandon(dropped)
        return found

    def begin(self, key: SearchKey, run_id: str, make: Callable[[], Entry]) -> tuple[Entry, bool]:
        """The entry under ``key``, or a new one; True if it is new. It is from now on one that ``run_id`` asked for.

        ``make`` must be quick and start nothing: it runs under the lock, so that of many callers exactly one begins.
        """
        with self._lock:
            found = self._entries.get(key)
            new = found is None or found.state is FlightState.CANCELLED
            entry = make() if found is None or new else found
            entry.runs.add(run_id)
            if new:
                self._entries[key] = entry
            dropped = self._entries.take_dropped()
        _abandon(dropped)
        return entry, new

    def claim(self, key: SearchKey) -> Entry | None:
        """Take the entry under ``key`` out: a speculation answers one call."""
        with self._lock:
            found = self._entries.pop(key, None)
            dropped = self._entries.take_dropped()
        _abandon(dropped)
        return found

    def put(self, entry: Entry) -> None:
        """Put an entry (back) under its key, unless a newer one stands there."""
        with self._lock:
            if entry.key not in self._entries:
                self._entries[entry.key] = entry
            dropped = self._entries.take_dropped()
        _abandon(dropped)

    def remove(self, entry: Entry) -> bool:
        """Take out exactly this entry; False if it is not there (any more)."""
        with self._lock, self._entries.timer:
            if self._entries.get(entry.key) is not entry:
                return False
            del self._entries[entry.key]
            return True

    def take(self, wanted: Callable[[Entry], bool] = lambda _: True) -> tuple[Entry, ...]:
        """Take out every entry that ``wanted`` accepts; it must be quick: it is asked once of each, under the lock."""
        with self._lock, self._entries.timer:
            held = [self._entries.get(key) for key in list(self._entries)]
            found = tuple(entry for entry in held if entry is not None and wanted(entry))
            for entry in found:
                del self._entries[entry.key]
            dropped = self._entries.take_dropped()
        _abandon(dropped)
        return found

    def void(self, scope: Scope) -> tuple[Entry, ...]:
        """Take out every entry of a scope: something may have changed what its tools would return."""
        return self.take(lambda entry: entry.key.scope == scope)

    def entries(self) -> tuple[Entry, ...]:
        """Those held now."""
        with self._lock, self._entries.timer:
            held = [self._entries.get(key) for key in list(self._entries)]
        return tuple(entry for entry in held if entry is not None)


def _abandon(dropped: list[Entry]) -> None:
    for entry in dropped:
        entry.abandon("expired")


class _Entries(TLRUCache[SearchKey, Entry]):
    """cachetools' per-item-lifetime cache, remembering what it drops on its own."""

    def __init__(self, max_entries: int, clock: Clock) -> None:
        super().__init__(max_entries, ttu=lambda _key, entry, _now: entry.expires_at, timer=clock)
        self._gone: list[Entry] = []

    def expire(self, time: float | None = None) -> Any:
        expired = list(super().expire(time))
        self._gone.extend(entry for _, entry in expired)
        return expired

    def popitem(self) -> tuple[SearchKey, Entry]:
        key, entry = super().popitem()
        self._gone.append(entry)
        return key, entry

    def take_dropped(self) -> list[Entry]:
        self.expire()
        gone, self._gone = self._gone, []
        return gone


def snapshot(output: Output) -> Output | None:
    """A copy that later changes to the original cannot reach; None if it cannot be copied (and so not be kept)."""
    if isinstance(output.content, str) and output.artifact is None and not output.said:
        return output
    try:
        return copy.deepcopy(output)
    except Exception:  # noqa: BLE001 - any object may refuse to be copied, in any way
        return None


def is_empty(output: Output) -> bool:
    """True for an answer without passages: it may serve the call it was made for, but is not kept."""
    content = output.content.strip() if isinstance(output.content, str) else output.content
    return content in ("", "[]", "{}", "null", "None") or content is None or content == []


def why_not(entry: Entry) -> str:
    """Why a retrieval that a call waited for did not answer it."""
    match entry.state:
        case FlightState.FAILED if isinstance(entry.flight.error, SpeculationDeclinedError):
            return DECLINED
        case FlightState.FAILED:
            return "speculation failed"
        case FlightState.CANCELLED:
            return "speculation cancelled"
        case FlightState.READY:
            return "cannot be copied"
        case FlightState.QUEUED:
            return "still queued"
        case FlightState.RUNNING:
            return "no word of it" if entry.flight.silent else "waited too long"
