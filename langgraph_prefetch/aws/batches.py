"""Single things, sent together."""

from __future__ import annotations

import asyncio
import os
import sys
import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.locks import ForkSafeLock

MOST_ENTRIES = 10
"""SQS takes so many at once."""
MOST_BYTES = 256 * 1024
"""All together; the older of the limits that services and emulators have."""

Thing = TypeVar("Thing")
Result = TypeVar("Result")

Send = Callable[[Sequence[Thing]], Sequence[Result | Exception]]
"""Sends some things, and tells for each of them, in their order, what came of it. Blocks."""


@dataclass(slots=True, eq=False)
class Entry(Generic[Thing, Result]):
    """One thing on its way, and where its end is told. ``size``: bytes that count for the batch."""

    thing: Thing
    size: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    ended: asyncio.Future[Result] = field(init=False)

    def __post_init__(self) -> None:
        self.ended = self.loop.create_future()


class Batches(Generic[Thing, Result]):
    """Collects what comes within a moment and hands it to ``send``, on ``threads``.

    While ``at_once`` batches are on their way the next one grows: a service that is quick gets small batches at once,
    and one that is not gets few large ones.

    Args:
        send: see :data:`Send`. Where it raises, that is the end of all that it was given.
        threads: where it runs.
        seconds: how long the first of a batch waits for others; 0: until the loop has done what it is at.
        most: things in a batch.
        most_bytes: all together.
        at_once: batches under way.
    """

    def __init__(
        self,
        send: Send[Thing, Result],
        threads: Threads,
        seconds: float = 0.0,
        *,
        most: int = MOST_ENTRIES,
        most_bytes: int = MOST_BYTES,
        at_once: int = sys.maxsize,
    ) -> None:
        self._send, self._threads, self._seconds = send, threads, seconds
        self._most, self._most_bytes, self._at_once = most, most_bytes, at_once
        self._lock = ForkSafeLock()
        self._waiting: list[Entry[Thing, Result]] = []
        self._under_way = 0
        _all.add(self)

    async def put(self, thing: Thing, size: int = 0) -> Result:
        """Send one; returns what came of it, or raises that. One whose waiter gives up before its turn is not sent."""
        entry: Entry[Thing, Result] = Entry(thing, size)
        with self._lock:
            self._waiting.append(entry)
            full = len(self._waiting) >= self._most
        if full:
            self._flush()
        else:  # not only for the first: its loop may end before its time has come
            entry.loop.call_later(self._seconds, self._flush)
        return await entry.ended

    def after_fork(self) -> None:
        """In a forked child: what waits or is under way is the parent's."""
        self._waiting, self._under_way = [], 0

    def _flush(self) -> None:
        while batch := self._next():
            try:
                self._threads.submit(partial(self._work, batch))
            except RuntimeError as error:
                self._end(batch, [error] * len(batch))

    def _next(self) -> Sequence[Entry[Thing, Result]]:
        with self._lock:
            if self._under_way >= self._at_once:
                return ()
            wanted = [entry for entry in self._waiting if not entry.ended.cancelled()]
            batch = wanted[: fitting([entry.size for entry in wanted], self._most, self._most_bytes)]
            self._waiting = wanted[len(batch) :]
            self._under_way += bool(batch)
            return batch

    def _work(self, batch: Sequence[Entry[Thing, Result]]) -> None:
        try:
            results = self._send([entry.thing for entry in batch])
        except Exception as error:  # noqa: BLE001 - told to all who wait for it
            results = [error] * len(batch)
        self._end(batch, results)
        self._flush()

    def _end(self, batch: Sequence[Entry[Thing, Result]], results: Sequence[Result | Exception]) -> None:
        with self._lock:
            self._under_way = max(0, self._under_way - 1)
        by_loop = defaultdict(list)
        for entry, result in zip(batch, results, strict=True):
            by_loop[entry.loop].append((entry.ended, result))
        for loop, ends in by_loop.items():
            try:
                loop.call_soon_threadsafe(_settle, ends)
            except RuntimeError:  # that loop is closed, and nobody waits
                continue


def fitting(sizes: Sequence[int], most: int, most_bytes: int) -> int:
    """How many of these, from the first, go together: one at least, if there is one. Pure."""
    total = 0
    for number, size in enumerate(sizes[:most]):
        total += size
        if number and total > most_bytes:
            return number
    return min(len(sizes), most)


def _settle(ends: Sequence[tuple[asyncio.Future[Result], Result | Exception]]) -> None:
    for ended, result in ends:
        if ended.done():
            continue
        if isinstance(result, Exception):
            ended.set_exception(result)
        else:
            ended.set_result(result)


_all: weakref.WeakSet[Batches] = weakref.WeakSet()  # type: ignore[type-arg]


def _after_fork() -> None:
    for batches in list(_all):
        batches.after_fork()


os.register_at_fork(after_in_child=_after_fork)
