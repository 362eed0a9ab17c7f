"""Threads that run blocking work for event loops: a bounded number, of their own, gone with the interpreter."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial

from langgraph_prefetch.locks import ForkSafeLock

Task = Callable[[], None]
"""Must not raise."""


class Workers:
    """At most ``most`` threads, started when they are needed.

    They are daemons, which a ``ThreadPoolExecutor``'s are not: a query that hangs must not keep the interpreter from
    ending.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._closed = False
        self._lock = ForkSafeLock()
        self.make_anew()

    def make_anew(self) -> None:
        """In a forked child: the threads stayed in the parent."""
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads = self._free = 0

    def submit(self, task: Task) -> None:
        """Run a task as soon as a thread is free; once closed, at once, on a thread of its own."""
        with self._lock:
            first = self._closed or (self._free == 0 and self._threads < self._most)
            if first:
                self._threads += 1
            else:
                self._free -= 1  # promised to this task; below zero are tasks that wait
                self._tasks.put(task)  # not after the lock: `close` may come between, and nobody would take it
        if first:
            self._start(task)

    def close(self) -> None:
        """Let the threads end, after all tasks that were submitted."""
        with self._lock:
            self._closed = True
            for _ in range(self._threads):
                self._tasks.put(None)

    def _start(self, task: Task) -> None:
        work = task if self._closed else partial(self._work, [task], self._tasks)
        try:
            threading.Thread(target=work, name=self._name, daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
            raise

    def _work(self, first: list[Task], tasks: queue.SimpleQueue[Task | None]) -> None:
        task: Task | None = first.pop()  # out of a list: a thread keeps its arguments, and so the first task's result
        while task is not None:
            task()
            task = None  # or the last task's result would live until the next one comes
            with self._lock:
                self._free += 1
            task = tasks.get()
