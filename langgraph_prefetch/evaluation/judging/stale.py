"""Connections that a client pooled on another event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")
MOST_STALE = 64
"""Each attempt takes one such connection out of the client's pool, which holds no more than were in use at a time."""
_SIGNS = ("Event loop is closed", "bound to a different event loop", "attached to a different loop")


async def past_stale_connections(call: Callable[[], Awaitable[Result]], may_repeat: Callable[[], bool]) -> Result:
    """The result of ``call``, made again while it fails on a connection of another loop.

    The second ``asyncio.run`` of a process meets these: LangChain keeps one HTTP client for all models of a provider,
    whatever loop they run on, and it keeps connections for some seconds. The request may have gone out before the
    failure, and is then paid for: ``may_repeat`` is asked each time, and should count it.
    """
    for _ in range(MOST_STALE):
        try:
            return await call()
        except Exception as error:
            if not _of_another_loop(error) or not may_repeat():
                raise
    return await call()


def _of_another_loop(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
