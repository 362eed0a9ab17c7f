"""An async iterable of documents, read by a thread that knows only plain iterators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterator
from typing import Any

_WAITING = 1_024
_END = object()


class Bridge:
    """Iterates on another thread over what an async iterable gives on the loop that it belongs to.

    Made on that loop. At most a thousand documents wait in between.
    """

    def __init__(self, given: AsyncIterable[Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Any] = asyncio.Queue(_WAITING)
        self._error: BaseException | None = None
        self._closed = False
        self._pump = self._loop.create_task(self._read(given))

    async def _read(self, given: AsyncIterable[Any]) -> None:
        try:
            async for item in given:
                await self._waiting.put(item)
        except Exception as error:  # noqa: BLE001 - raised where it is read
            self._error = error
        await self._waiting.put(_END)

    def __iter__(self) -> Iterator[Any]:
        """Items, in the order in which they come. Called on a thread of its own, once."""
        while True:
            for item in asyncio.run_coroutine_threadsafe(self._some(), self._loop).result():
                if item is _END:
                    if self._error is not None:
                        raise self._error
                    return
                yield item

    async def _some(self) -> list[Any]:
        """All that wait, at least one: one hop between threads for many."""
        some = [await self._waiting.get()]
        while not self._waiting.empty():
            some.append(self._waiting.get_nowait())
        return some

    async def close(self) -> None:
        """Stop reading; who still waits for an item gets the end."""
        self._pump.cancel()
        await asyncio.wait([self._pump])
        while self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(_END)
