"""Waiting for results: one thread looks for all that are waited for, a hundred at a time."""

from __future__ import annotations

import asyncio
import heapq
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from langgraph_prefetch.aws.items import Item, body_of
from langgraph_prefetch.aws.latency import Latency, pause_before_next_look
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.errors import BreakerOpenError, RemoteSearchError
from langgraph_prefetch.jobs import Held, HeldState, Job, Word

AT_ONCE = 100
"""A batch read takes so many."""
IDLE_SECONDS = 5.0
"""So long the thread stays with nothing to wait for."""

Look = Callable[[list[str]], dict[str, tuple[Held, Item | None]]]
WithOutput = Callable[[str, Held, Item], Held]

logger = logging.getLogger("langgraph_prefetch")


@dataclass(slots=True, eq=False)
class _Waiter:
    job: Job
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[Held]
    began: Callable[[float], None]
    word: Word
    since: float
    due: float
    heard_begin: bool = False
    called: bool = False


class Polling:
    """Looks for results until they are there.

    Args:
        look: at some jobs' items; blocks.
        with_output: reads a ready one's output; blocks.
        latency: of looks.
        now: epoch seconds of the table's clock.
        poll_seconds: the shortest pause between looks; None: what ``latency`` says.
        lookup_seconds: how long a look may take before calls wait no longer for what it was to tell.
        threads: where outputs are read that are not in their item.
    """

    def __init__(
        self,
        look: Look,
        with_output: WithOutput,
        latency: Latency,
        now: Callable[[], float],
        poll_seconds: float | None,
        lookup_seconds: Callable[[], float],
        threads: Threads,
    ) -> None:
        self._look, self._with_output, self._latency, self._now = look, with_output, latency, now
        self._poll_seconds, self._lookup_seconds, self._threads = poll_seconds, lookup_seconds, threads
        self._typical: dict[str, float] = {}
        self._changed = threading.Condition()
        self._waiters: list[_Waiter] = []
        self._thread: threading.Thread | None = None
        _all.add(self)

    async def wait(self, job: Job, began: Callable[[float], None], word: Word) -> Held:
        """The end of ``job``; ``began`` is called on the loop, once, and ``word`` kept up to date.

        Raises:
            RemoteSearchError: the table is known not to work, or the deadline passed.
        """
        loop = asyncio.get_running_loop()
        since = time.monotonic()
        waiter = _Waiter(job, loop, loop.create_future(), began, word, since, since)
        word.ask = partial(self._asked, waiter)
        with self._changed:
            self._waiters.append(waiter)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="langgraph-prefetch-results", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            return await waiter.ended
        finally:
            self._forget(waiter)

    def after_fork(self) -> None:
        """In a forked child: neither the thread nor those who waited exist here."""
        self._changed = threading.Condition()
        self._waiters, self._thread = [], None

    def _asked(self, waiter: _Waiter) -> None:
        """A call waits for it: look at once, and as often as one that is due at any moment."""
        with self._changed:
            waiter.called, waiter.due = True, 0.0
            self._changed.notify()

    def _forget(self, waiter: _Waiter) -> None:
        with self._changed:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _work(self) -> None:
        while True:
            due = self._next()
            if due is None:
                return
            self._round(due)

    def _next(self) -> list[_Waiter] | None:
        """Those that it is time to look for; None: there has been nothing to do for a while."""
        with self._changed:
            while True:
                if not self._waiters and not self._changed.wait(IDLE_SECONDS) and not self._waiters:
                    self._thread = None
                    return None
                if not self._waiters:
                    continue
                now = time.monotonic()
                due = [each for each in self._waiters if each.due <= now]
                if due:  # those first that have waited longest for a look, or later ones would never have one
                    return heapq.nsmallest(AT_ONCE, due, key=lambda each: each.due)
                self._changed.wait(max(0.0, min(each.due for each in self._waiters) - now))

    def _round(self, due: list[_Waiter]) -> None:
        answered = True
        try:
            found = self._look(list({each.job.id for each in due}))
        except BreakerOpenError:
            self._end_all(due, RemoteSearchError("the table does not work"))
            return
        except Exception as error:  # noqa: BLE001 - whatever the table does, those who wait are told in time
            logger.debug("a look for results failed: %s", type(error).__name__)
            found, answered = {}, False
        now, epoch = time.monotonic(), self._now()
        poll = self._latency.poll_seconds if self._poll_seconds is None else self._poll_seconds
        lookup = self._lookup_seconds()
        for waiter in due:
            held, item = found.get(waiter.job.id, (None, None))
            try:
                self._told(waiter, held, item)
            except Exception as error:  # noqa: BLE001 - an output that cannot be read is a miss
                self._end(waiter, RemoteSearchError(type(error).__name__))
            if epoch >= waiter.job.deadline:
                self._end(waiter, RemoteSearchError("it did not end in time"))
            typical = self._typical.get(waiter.job.tool)
            pause = poll if waiter.called else pause_before_next_look(now - waiter.since, typical, poll)
            waiter.due = now + pause
            if answered:
                waiter.word.pause_seconds, waiter.word.answer_seconds, waiter.word.heard_at = pause, lookup, now

    def _told(self, waiter: _Waiter, held: Held | None, item: Item | None) -> None:
        if held is None or held.state is HeldState.ABSENT or item is None:
            return
        if held.generation != waiter.job.generation:
            self._end(waiter, RemoteSearchError("another search took its place"))
        elif held.state is HeldState.READY:
            if held.took is not None:
                before = self._typical.get(waiter.job.tool, held.took)
                self._typical[waiter.job.tool] = before + (held.took - before) / 8
            self._read(waiter, held, item)
        elif held.state is not HeldState.PENDING:
            self._end(waiter, held)
        elif held.age is not None and not waiter.heard_begin:
            waiter.heard_begin = True
            _soon(waiter.loop, partial(waiter.began, held.age))

    def _read(self, waiter: _Waiter, held: Held, item: Item) -> None:
        """Its output, and with it the end; where it is elsewhere, not on this thread, which others wait for."""
        read = partial(self._with_output, waiter.job.id, held, item)
        if body_of(item) is not None:
            self._end(waiter, read())
            return
        self._forget(waiter)

        def ended(reading: Future[Held]) -> None:
            error = reading.exception()
            self._end(waiter, RemoteSearchError(type(error).__name__) if error else reading.result())

        self._threads.submit(read).add_done_callback(ended)

    def _end_all(self, waiters: list[_Waiter], error: Exception) -> None:
        for waiter in waiters:
            self._end(waiter, error)

    def _end(self, waiter: _Waiter, end: Held | Exception) -> None:
        self._forget(waiter)

        def settle() -> None:
            if waiter.ended.done():
                return
            if isinstance(end, Held):
                waiter.ended.set_result(end)
            else:
                waiter.ended.set_exception(end)

        _soon(waiter.loop, settle)


def _soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:  # that loop is closed, and nobody waits
        return


_all: weakref.WeakSet[Polling] = weakref.WeakSet()


def _after_fork() -> None:
    for polling in list(_all):
        polling.after_fork()


os.register_at_fork(after_in_child=_after_fork)
