"""Streams in pieces, live: from one stage to the next, or beside what a user reads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from langgraph_prefetch.serving.granularity.controller import Chunker, Granularity

T = TypeVar("T")
Load = Callable[[], float]

MAX_HELD = 10_000
"""Tokens that wait for a slow reader; beyond it the stream is read no faster than it."""

logger = logging.getLogger("langgraph_prefetch")


async def chunks(
    stream: AsyncIterable[T],
    granularity: Granularity,
    *,
    load: Load | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[tuple[T, ...], None]:
    """The tokens of ``stream`` in pieces, as many in each as the load of their reader asks for.

    The stream is read ahead, so that tokens gather while the reader is busy. What the stream raises is raised after the
    tokens that came before it.

    Args:
        stream: tokens.
        granularity: of the stage that reads the pieces.
        load: of that stage, such as ``lambda: pool.load``; None measures how busy the reader of these pieces is.
        clock: seconds that never go back.
    """
    chunker: Chunker[T] = Chunker(granularity)
    came, room = asyncio.Event(), asyncio.Event()
    reading = asyncio.get_running_loop().create_task(_read(stream, chunker, came, room, clock))
    try:
        idle_since = clock()
        while not reading.done() or len(chunker):
            came.clear()
            piece = chunker.take(clock())
            if not piece:
                with suppress(TimeoutError):
                    await asyncio.wait_for(came.wait(), chunker.due_in(clock()))
                continue
            room.set()
            began = clock()
            yield piece
            ended = clock()
            granularity.see(load() if load is not None else _busy_share(idle_since, began, ended), ended)
            idle_since = ended
        reading.result()
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError, Exception):  # raised above, or nobody asks for it any more
            await reading


async def beside(
    stream: AsyncIterable[T],
    handle: Callable[[tuple[T, ...]], Awaitable[None]],
    granularity: Granularity,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[T, None]:
    """``stream`` token by token, as it comes, while ``handle`` is given the same tokens in pieces beside it.

    No token waits for ``handle``. Where that raises or falls further behind than is kept, it is given no more, which is
    logged; when the stream has ended, what is left is handed over before the generator ends.
    """
    queue: asyncio.Queue[T | None] = asyncio.Queue(MAX_HELD)

    async def tokens() -> AsyncGenerator[T, None]:
        while (token := await queue.get()) is not None:
            yield token

    async def hand_over() -> None:
        async for piece in chunks(tokens(), granularity, clock=clock):
            await handle(piece)

    task: asyncio.Task[None] | None = asyncio.get_running_loop().create_task(hand_over())
    try:
        async for token in stream:
            if task is not None and (task.done() or queue.full()):
                task.cancel()
                logger.warning(
                    "tokens are handed on no more: their reader %s", "failed" if task.done() else "is too slow"
                )
                task = None
            if task is not None:
                queue.put_nowait(token)
            yield token
        if task is not None:
            await queue.put(None)
            await asyncio.wait([task])
            if task.exception() is not None:
                logger.warning("tokens were not all handed on: %s", type(task.exception()).__name__)
    finally:
        if task is not None:
            task.cancel()


async def _read(
    stream: AsyncIterable[T],
    chunker: Chunker[T],
    came: asyncio.Event,
    room: asyncio.Event,
    clock: Callable[[], float],
) -> None:
    try:
        async for token in stream:
            while len(chunker) >= MAX_HELD:
                room.clear()
                await room.wait()
            chunker.add(token, clock())
            came.set()
    finally:
        chunker.end()
        came.set()


def _busy_share(idle_since: float, began: float, ended: float) -> float:
    """Of the time since the last piece, what the reader spent on this one."""
    passed = ended - idle_since
    return (ended - began) / passed if passed > 0 else 1.0
