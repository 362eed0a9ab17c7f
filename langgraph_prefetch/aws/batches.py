"""Single things, sent ten at a time."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.locks import ForkSafeLock

MOST_ENTRIES = 10
"""SQS takes so many at once."""
MOST_BYTES = 256 * 1024
"""All together; the older of the limits that services and emulators have."""


@dataclass(slots=True)
class Entry:
    """One thing on its way: its name, which no other has, and ``sent``, which has its end."""

    body: str
    name: str
    sent: Future[None] = field(default_factory=Future)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.body.encode())


class Batches:
    """Collects what comes within a moment and hands it to ``send``, on ``threads``.

    Args:
        send: takes some entries and settles each one's ``sent``.
        threads: where it runs.
        seconds: how long the first of a batch waits for others.
    """

    def __init__(self, send: Callable[[Sequence[Entry]], None], threads: Threads, seconds: float) -> None:
        self._send, self._threads, self._seconds = send, threads, seconds
        self._lock = ForkSafeLock()
        self._waiting: list[Entry] = []
        _all.add(self)

    async def put(self, entry: Entry) -> None:
        """Send one; returns when it is sent, raises what sending it raised."""
        with self._lock:
            self._waiting.append(entry)
            full = len(self._waiting) >= MOST_ENTRIES
        if full:
            self._flush()
        else:  # not only for the first: its loop may end before its time has come
            asyncio.get_running_loop().call_later(self._seconds, self._flush)
        await asyncio.wrap_future(entry.sent)

    def after_fork(self) -> None:
        """In a forked child: what waits is the parent's."""
        self._waiting = []

    def _flush(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for batch in packed(waiting):
            try:
                self._threads.submit(partial(self._send, batch))
            except RuntimeError as error:
                for entry in batch:
                    settle(entry, error)


def packed(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries in order, in batches that a service takes. Pure."""
    batches: list[list[Entry]] = []
    size = 0
    for entry in entries:
        if not batches or len(batches[-1]) == MOST_ENTRIES or size + entry.size > MOST_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(entry)
        size += entry.size
    return batches


def settle(entry: Entry, error: BaseException | None) -> None:
    """Tell an entry's end, unless nobody waits for it any more."""
    if not entry.sent.set_running_or_notify_cancel():
        return
    if error is None:
        entry.sent.set_result(None)
    else:
        entry.sent.set_exception(error)


_all: weakref.WeakSet[Batches] = weakref.WeakSet()


def _after_fork() -> None:
    for batches in list(_all):
        batches.after_fork()


os.register_at_fork(after_in_child=_after_fork)
