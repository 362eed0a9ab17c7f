"""Connections that a client pooled on an event loop which is gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")
MOST_STALE = 64
"""Each attempt takes one dead connection out of the client's pool; pools hold no more of them than calls at a time."""


async def past_stale_connections(call: Callable[[], Awaitable[Result]]) -> Result:
    """The result of ``call``, made again while it fails on a connection of a closed loop.

    The second ``asyncio.run`` of a process meets these: LangChain keeps one HTTP client for all models of a provider,
    whatever loop they run on. Nothing was sent on such a connection, and so nothing is paid twice.
    """
    for _ in range(MOST_STALE):
        try:
            return await call()
        except Exception as error:
            if not _of_a_closed_loop(error):
                raise
    return await call()


def _of_a_closed_loop(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, RuntimeError) and "Event loop is closed" in str(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
