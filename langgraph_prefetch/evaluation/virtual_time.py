"""An event loop on virtual time: it sleeps for no time at all, so thousands of agent steps pass in seconds."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

STUCK_SECONDS = 10.0
"""So many real seconds a loop with nothing scheduled waits for another thread before it says that it is stuck."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and jumps to the next timer whenever nothing is ready.

    The same callbacks in the same order give the same times. Work on other threads takes no virtual time unless the
    loop has nothing else to do, so what must be timed has to run on the loop.

    Raises:
        RuntimeError: from the running loop, if nothing is scheduled and no other thread wakes it for 10 real seconds.
    """

    def __init__(self) -> None:
        self._seconds = 0.0
        super().__init__(_Jumping(self._jump))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._seconds

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As usual; from the loop's own thread without the system call that wakes it."""
        if _running() is self:
            return self.call_soon(callback, *args, context=context)
        return super().call_soon_threadsafe(callback, *args, context=context)

    def _jump(self, seconds: float) -> None:
        self._seconds += seconds


def run_virtually(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run ``main()`` to its end on a :class:`VirtualTimeLoop` of its own."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main())


def run_really(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run ``main()`` to its end on an ordinary event loop of its own: what sleeps takes its time."""
    with asyncio.Runner() as runner:
        return runner.run(main())


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class _Jumping(selectors.BaseSelector):
    """The system's selector, except that waiting for a time jumps there."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        self._jump = jump
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            ready = self._real.select(STUCK_SECONDS)
            if not ready:
                raise RuntimeError("virtual time stands still: nothing is scheduled, and no thread woke the loop")
            return ready
        if timeout > 0:
            self._jump(timeout)
        return self._real.select(0)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()
