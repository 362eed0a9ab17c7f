"""A few daemon threads for calls that block. No loop's default pool is used: the host's own calls share that one."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from langgraph_prefetch.locks import ForkSafeLock

Result = TypeVar("Result")


class Threads:
    """At most ``size`` daemon threads, started as they are needed. The end of the process waits for none of them.

    Args:
        name: of the threads.
        size: how many.
        most_waiting: calls that may wait for a thread; one more is refused.
    """

    def __init__(self, name: str, size: int, most_waiting: int = 10_000) -> None:
        self._name, self._size, self._most_waiting = name, size, most_waiting
        self._lock = ForkSafeLock()
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._started = self._idle = self._unfinished = 0

    @property
    def unfinished(self) -> int:
        """Calls that wait or run."""
        return self._unfinished

    def submit(self, call: Callable[[], Result]) -> Future[Result]:
        """Run ``call`` on one of the threads; never blocks.

        Raises:
            RuntimeError: too many calls wait already.
        """
        future: Future[Result] = Future()
        with self._lock:
            if self._calls.qsize() >= self._most_waiting:
                raise RuntimeError("too many calls wait for a thread")
            self._calls.put((future, call))
            self._unfinished += 1
            start = self._idle < self._calls.qsize() and self._started < self._size
            self._started += start
            number = self._started
        if start:
            threading.Thread(target=self._work, args=(self._calls,), name=f"{self._name}-{number}", daemon=True).start()
        return future

    async def run(self, call: Callable[[], Result]) -> Result:
        """Run ``call`` on one of the threads and await its end. Cancelled, it does not begin if it has not."""
        return await asyncio.wrap_future(self.submit(call))

    def close(self) -> None:
        """Let the threads end after what waits. Idempotent; more calls start new ones."""
        with self._lock:
            calls, started = self._calls, self._started
            self._calls, self._started, self._idle = queue.SimpleQueue(), 0, 0
        for _ in range(started):
            calls.put(None)

    def after_fork(self) -> None:
        """In a forked child: no thread of these exists here, and what waited is the parent's."""
        self._calls, self._started, self._idle, self._unfinished = queue.SimpleQueue(), 0, 0, 0

    def _work(self, calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
        while True:
            with self._lock:
                self._idle += 1
            taken = calls.get()
            with self._lock:
                self._idle -= 1
            if taken is None:
                return
            future, call = taken
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # noqa: BLE001 - told to whoever asked
                    future.set_exception(error)
            del taken, future, call
            with self._lock:
                self._unfinished -= 1
