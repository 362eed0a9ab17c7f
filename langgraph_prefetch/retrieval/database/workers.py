"""Threads that run blocking work for event loops: a bounded number, of their own, gone with the interpreter."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

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
        self._lock = ForkSafeLock()
        self.make_anew()

    def make_anew(self) -> None:
        """In a forked child: the threads stayed in the parent."""
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads = self._free = 0

    def submit(self, task: Task) -> None:
        """Run a task as soon as a thread is free."""
        with self._lock:
            start = self._free == 0 and self._threads < self._most
            if start:
                self._threads += 1
            else:
                self._free -= 1  # promised to this task; below zero are tasks that wait
        if start:
            self._start(task)
        else:
            self._tasks.put(task)

    def close(self) -> None:
        """Let the threads end, each after its task."""
        with self._lock:
            ending, self._threads = self._threads, 0
        for _ in range(ending):
            self._tasks.put(None)

    def _start(self, task: Task) -> None:
        thread = threading.Thread(target=self._work, args=(task, self._tasks), name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
            raise

    def _work(self, first: Task, tasks: queue.SimpleQueue[Task | None]) -> None:
        task: Task | None = first
        del first
        while task is not None:
            task()
            task = None  # or the last task's result would live until the next one comes
            with self._lock:
                self._free += 1
            task = tasks.get()
