"""A blocking generator, read by an event loop: it runs on a thread of its own pool, never on the loop's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from langgraph_prefetch.aws.threads import Threads

T = TypeVar("T")
_END = object()


class Bridge:
    """What the thread may ask of the loop. Made on the loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        # What comes is bounded by the service: an answer has as many pieces as its model may write tokens.
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        self._left = threading.Event()
        self._asked: Future[Any] | None = None

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """On the thread: run ``work`` on the loop, and wait for it."""
        asked: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop)
        self._asked = asked
        if self._left.is_set():
            asked.cancel()
        return asked.result()

    async def over(self, threads: Threads, make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        """What ``make()`` yields on one of ``threads``, and what it raises. Left early, the thread stops soon."""
        context = copy_context()
        threads.submit(lambda: context.run(self._tell, make))
        try:
            while (each := await self._heard.get()) is not _END:
                if isinstance(each, _Raised):
                    raise each.error
                yield each
        finally:
            self._left.set()
            if self._asked is not None:
                self._asked.cancel()

    def _tell(self, make: Callable[[], Iterator[T]]) -> None:
        pieces = make()
        try:
            for each in pieces:
                if self._left.is_set():
                    break
                self._put(each)
        except BaseException as error:  # noqa: BLE001 - told to whoever reads
            self._put(_Raised(error))
        else:
            self._put(_END)
        finally:
            pieces.close()  # type: ignore[attr-defined]

    def _put(self, each: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody reads
            self.loop.call_soon_threadsafe(self._heard.put_nowait, each)


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error
