"""Where streams are read: at once on the model's own thread, or on a thread beside it so that no token waits."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from langgraph_prefetch.locks import ForkSafeLock

GATHER_SECONDS = 0.001
"""How long the reading thread lets tokens gather before it reads them: a twentieth of the time between two of them."""


MAX_DUE = 32
"""So many streams at most wait to be read; beyond it each is read on its own model's thread."""


class Reading(Protocol):
    """Runs small pieces of work in order. Never raises, never blocks its caller."""

    def soon(self, read: Callable[[], None]) -> None:
        """Run ``read``, which must not raise."""
        ...


class Gathering(Protocol):
    """Says how long tokens gather before they are read. Called on the reading thread alone; must not raise."""

    def gather_seconds(self, read_seconds: float, gathered_seconds: float) -> float:
        """How long next, after a round that read for ``read_seconds`` what gathered for ``gathered_seconds``."""
        ...


class SameGathering:
    """Always as long."""

    def gather_seconds(self, read_seconds: float, gathered_seconds: float) -> float:
        """A millisecond."""
        return GATHER_SECONDS


class ReadingAtOnce:
    """On the calling thread: for a clock that is driven, where nothing may happen beside it."""

    def soon(self, read: Callable[[], None]) -> None:
        """Run ``read`` now."""
        read()


class ReadingThread:
    """On one daemon thread, started at first use and again in a forked child.

    Attributes:
        gathering: how long tokens gather; may be changed while it runs.
    """

    def __init__(self, gathering: Gathering | None = None) -> None:
        self.gathering: Gathering = gathering or SameGathering()
        self._lock = ForkSafeLock()
        self._work: SimpleQueue[Callable[[], None]] | None = None
        _threads.add(self)

    def soon(self, read: Callable[[], None]) -> None:
        """Run ``read`` soon; at once where the thread has fallen behind, so that what waits for it stays bounded."""
        work = self._work or self._started()
        if work.qsize() < MAX_DUE:
            work.put(read)
        else:
            read()

    def after_fork(self) -> None:
        """In a forked child the thread does not exist; what it had not read is the parent's."""
        self._work = None

    def _started(self) -> SimpleQueue[Callable[[], None]]:
        with self._lock:
            if self._work is None:
                self._work = SimpleQueue()
                threading.Thread(
                    target=self._read_all, args=(self._work,), name="langgraph-prefetch-reading", daemon=True
                ).start()
            return self._work

    def _read_all(self, work: SimpleQueue[Callable[[], None]]) -> None:
        read_seconds = gathered_seconds = 0.0
        while True:
            waited_from = time.monotonic()
            due = [work.get()]
            # Tokens that come in a burst are read together: for each alone, both threads would fight for the
            # interpreter.
            time.sleep(self.gathering.gather_seconds(read_seconds, gathered_seconds))
            began = time.monotonic()
            due.extend(work.get() for _ in range(work.qsize()))
            while due:  # held no longer than it takes, or the last one would be kept until the next token comes
                due.pop(0)()
            read_seconds, gathered_seconds = time.monotonic() - began, began - waited_from


_threads: weakref.WeakSet[ReadingThread] = weakref.WeakSet()


def _after_fork() -> None:
    for thread in list(_threads):
        thread.after_fork()


os.register_at_fork(after_in_child=_after_fork)
