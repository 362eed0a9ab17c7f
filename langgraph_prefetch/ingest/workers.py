"""Persistent threads for work that blocks, awaited from an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

CLOSE_SECONDS = 5.0
"""So long, at most, the end of a run waits for a call that can no longer be of use."""


class Workers:
    """Threads that take calls in order. They are daemons: an embedder that hangs does not keep the process alive.

    Args:
        count: most threads; each starts when it is first needed.
        name: theirs.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name = count, name
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._running: set[asyncio.Future[Any]] = set()

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Call ``work(*args)`` on a thread, in a copy of the caller's context.

        Cancelling the wait does not stop a call that has begun; ``close`` waits for it.
        """
        return await self.submit(work, *args)

    def submit(self, work: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """As ``run``, for whoever awaits the result later, or never."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        # The thread's answer is kept apart from the caller's wait: a call whose caller has gone is still running.
        ended: asyncio.Future[None] = loop.create_future()
        self._running.add(ended)
        ended.add_done_callback(self._running.discard)
        self._calls.put(_Call(loop, future, ended, copy_context(), lambda: work(*args)))
        if len(self._threads) < min(self._count, len(self._running)):
            thread = threading.Thread(target=_work, args=(self._calls,), name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    async def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Let the threads end after what they are doing now; False if one still was after ``seconds``."""
        for _ in self._threads:
            self._calls.put(None)
        if self._running:
            await asyncio.wait(set(self._running), timeout=seconds)
        if self._running:
            return False
        for thread in self._threads:
            thread.join()  # it has nothing left to do
        self._threads.clear()
        return True


class _Call:
    __slots__ = ("context", "ended", "future", "loop", "work")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        future: asyncio.Future[Any],
        ended: asyncio.Future[None],
        context: Context,
        work: Callable[[], Any],
    ) -> None:
        self.loop, self.future, self.ended, self.context, self.work = loop, future, ended, context, work

    def tell(self, result: Any, error: BaseException | None) -> None:
        """Pass on what came of it; on the loop's thread."""
        if not self.future.done():
            if error is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)
        self.ended.set_result(None)


def _work(calls: SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        result, error = None, None
        if not call.future.cancelled():
            try:
                result = call.context.run(call.work)
            except BaseException as raised:  # noqa: BLE001 - raised where the call was awaited
                error = raised
        if isinstance(error, StopIteration):  # which no future may hold
            error = RuntimeError("StopIteration")
        try:
            call.loop.call_soon_threadsafe(call.tell, result, error)
        except RuntimeError:  # the loop was closed: nobody waits any more
            return
        del call, result, error  # nothing is kept alive while the thread waits
