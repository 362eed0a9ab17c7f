"""Where the executor's coroutines run: one daemon thread with an event loop, or a loop the caller drives."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Protocol


class LoopHost(Protocol):
    """Somewhere to run callbacks on an event loop, reachable from any thread."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        ...

    def call(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the loop soon. Never blocks."""
        ...

    def close(self) -> None:
        """Let go of the loop."""
        ...

    def after_fork(self) -> None:
        """In a forked child: the thread that ran the loop does not exist here."""
        ...


_kept_open: list[asyncio.AbstractEventLoop] = []
"""Loops that may not be closed; held, because collecting an open loop warns."""


class BackgroundLoop:
    """An event loop on a daemon thread of its own, started at first use.

    A second daemon thread hands callbacks over to it. Waking a loop is a system call, and a thread that makes one lets
    go of the interpreter: whoever speculates would stand still until the loop has done its part. Putting a callback
    into a queue costs it a microsecond instead.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, started if it was not."""
        return self._loop or self._start()

    def call(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the loop soon."""
        if self._loop is None:
            self._start()
        self._inbox.put(callback)

    def close(self) -> None:
        """Stop the loop and its threads; waits half a second at most."""
        with self._lock:
            loop, thread, inbox = self._loop, self._thread, self._inbox
            self._loop, self._thread, self._inbox = None, None, queue.SimpleQueue()
        if loop is None or thread is None:
            return
        inbox.put(lambda: _start_drain(loop))
        inbox.put(None)
        if thread is not threading.current_thread():
            thread.join(0.5)
        if thread.is_alive():
            _kept_open.append(loop)  # a coroutine holds it up; closing it under its thread would raise there
        else:
            loop.close()

    def after_fork(self) -> None:
        """Forget the loop; the next use starts another."""
        self._lock = threading.Lock()
        if self._loop is not None:
            _kept_open.append(self._loop)  # its selector is shared with the parent
        self._loop, self._thread, self._inbox = None, None, queue.SimpleQueue()

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                # In an empty context: a loop keeps the one it is made in, and with it whatever the first run held.
                loop = contextvars.Context().run(asyncio.new_event_loop)
                self._thread = threading.Thread(target=loop.run_forever, name="langgraph-prefetch-loop", daemon=True)
                self._thread.start()
                hand_over = (loop, self._inbox)
                threading.Thread(target=_hand_over, args=hand_over, name="langgraph-prefetch-post", daemon=True).start()
                self._loop = loop
            return self._loop


def _hand_over(loop: asyncio.AbstractEventLoop, inbox: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while _hand_over_one(loop, inbox):
        pass


def _hand_over_one(loop: asyncio.AbstractEventLoop, inbox: queue.SimpleQueue[Callable[[], None] | None]) -> bool:
    # A function of its own, so that no callback, and what it holds, is kept while the next is waited for.
    callback = inbox.get()
    if callback is None:
        return False
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:  # closed
        return False
    return True


_draining: set[asyncio.Task[None]] = set()


def _start_drain(loop: asyncio.AbstractEventLoop) -> None:
    _draining.add(loop.create_task(_drain(loop)))


async def _drain(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=0.4)
    _draining.clear()
    loop.stop()


class GivenLoop:
    """The caller's own loop: for a clock that is driven, as in replay."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The given loop."""
        return self._loop

    def call(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the loop soon."""
        self._loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        """Nothing: the loop is not ours."""

    def after_fork(self) -> None:
        """Nothing: the loop is not ours."""
