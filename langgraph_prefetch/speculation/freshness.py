"""Whether what was read earlier still stands when the call comes, for tools that can tell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from contextvars import copy_context
from dataclasses import replace

from langgraph_prefetch.ports import Caller, HasEpoch, SearchTool
from langgraph_prefetch.values import Output

LOOKUP_SECONDS = 1.0
"""A call waits at most so long to learn the epoch of what it would read; then it runs."""

OUTDATED = "what it read has changed since"

Trouble = Callable[[str, BaseException], None]


class Freshness:
    """The epoch of what one call would read, looked up at most once, after the call came.

    A result of an equal epoch is what the call's own search would have found at that moment. One whose epoch is not
    known, or a lookup that fails or takes too long, answers nothing: the tool runs.

    Args:
        tool: tells the epoch.
        caller: whose contents they are.
        trouble: told of a lookup that failed.
    """

    __slots__ = ("_caller", "_epoch", "_tool", "_trouble")

    def __init__(self, tool: HasEpoch, caller: Caller, trouble: Trouble) -> None:
        self._tool, self._caller, self._trouble = tool, caller, trouble
        self._epoch: Hashable | None = None

    def look(self) -> None:
        """Look the epoch up, in a thread of its own: a store that hangs must not hold the call."""
        found: list[Hashable] = []
        context = copy_context()

        def ask() -> None:
            try:
                found.append(context.run(self._tool.epoch, self._caller))
            except Exception as error:  # noqa: BLE001 - a failure of a backend is a miss
                self._trouble("epoch", error)

        thread = threading.Thread(target=ask, name="langgraph_prefetch-epoch", daemon=True)
        thread.start()
        thread.join(LOOKUP_SECONDS)
        self._epoch = found[0] if found else None

    async def alook(self) -> None:
        """:meth:`look` without blocking the loop."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                self._epoch = await self._tool.aepoch(self._caller)
        except Exception as error:  # noqa: BLE001 - a failure of a backend is a miss
            self._trouble("epoch", error)

    def holds_for(self, output: Output) -> bool:
        """Whether ``output`` is what the call would have read when it came."""
        return self._epoch is not None and output.epoch == self._epoch

    def dated(self, output: Output) -> Output:
        """``output`` of the call's own search, which began after the epoch was looked up."""
        return replace(output, epoch=self._epoch)


def freshness_of(tool: SearchTool, caller: Caller, trouble: Trouble) -> Freshness | None:
    """For one call of ``tool``; None if the tool cannot tell, and only age and other tools' runs make results void."""
    return Freshness(tool, caller, trouble) if isinstance(tool, HasEpoch) else None
