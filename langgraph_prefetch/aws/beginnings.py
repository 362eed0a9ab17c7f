"""Beginnings that are being written: what calls one off waits for it, or it would find nothing to call off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future

from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.jobs import Held, HeldState


class Beginnings:
    """Writes beginnings on threads. One whose caller is gone is written all the same if its thread is at it.

    Args:
        threads: where.
    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._under_way: dict[str, Future[Held]] = {}

    async def run(self, generation: str, begin: Callable[[], Held]) -> Held:
        """Run ``begin`` on a thread and await what it says. Cancelled, it does not begin if it has not."""
        beginning = self._under_way[generation] = self._threads.submit(begin)
        beginning.add_done_callback(lambda _: self._under_way.pop(generation, None))
        return await asyncio.wrap_future(beginning)

    def after(self, generation: str, call: Callable[[], None]) -> None:
        """Call it when ``generation`` is no longer being written; not at all if that wrote nothing of its own."""
        beginning = self._under_way.get(generation)
        if beginning is None:
            call()
        else:
            beginning.add_done_callback(lambda done: call() if _may_have_begun(done) else None)


def _may_have_begun(done: Future[Held]) -> bool:
    """Where it failed nobody knows what was written."""
    return not done.cancelled() and (done.exception() is not None or done.result().state is HeldState.ABSENT)
