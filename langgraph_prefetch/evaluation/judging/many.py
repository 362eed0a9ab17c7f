"""Many coroutines, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def each(items: Sequence[Item], do: Callable[[Item], Awaitable[Result]], at_a_time: int) -> list[Result]:
    """``do`` of every item, in the items' order. The first exception cancels the others and is raised."""
    results: dict[int, Result] = {}
    waiting = iter(enumerate(items))

    async def work() -> None:
        for place, item in waiting:
            results[place] = await do(item)

    workers = [asyncio.create_task(work()) for _ in range(min(at_a_time, len(items)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [results[place] for place in range(len(items))]
