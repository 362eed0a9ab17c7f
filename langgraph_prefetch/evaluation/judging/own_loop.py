"""For callers without `await`, or with a loop that is busy running them: one event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from langgraph_prefetch.errors import ConfigurationError

Result = TypeVar("Result")


class _OwnLoop:
    """Started at first use and kept: clients pool their connections, and a pool does not outlive its loop.

    A new loop for each call, as `asyncio.run` makes one, would fail the second call of a process with "Event loop is
    closed".
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                # Not the policy's: where uvloop is installed as the policy, this thread still has a plain loop.
                self._loop, self._pid = asyncio.SelectorEventLoop(), os.getpid()
                name = "langgraph-prefetch-judging"
                threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()
            return self._loop


_own = _OwnLoop()


def in_own_loop(make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine on that loop, and wait. An interrupt cancels it.

    Raises:
        ConfigurationError: called on that loop itself, which could only wait for itself.
        Exception: what the coroutine raises.
    """
    loop = _own.get()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        raise ConfigurationError("a judge may not judge by waiting for judges: use the method that is awaited")
    future = asyncio.run_coroutine_threadsafe(make(), loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
