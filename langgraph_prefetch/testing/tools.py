"""A search tool that remembers how it was called, and slowness for any tool."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_prefetch.testing.latency import Sampler, lognormal, with_latency

__all__ = ["CountingSearch", "Sampler", "SearchRecord", "Style", "lognormal", "with_latency"]

Style = Literal["sync", "async", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """One run of the tool, as it was when it began.

    Attributes:
        query, k: what was asked.
        config: the run's LangChain configuration.
        thread: name of the thread it ran on.
        loop: the event loop it ran on; None for the sync form.
        at: ``time.monotonic()`` seconds.
    """

    query: str
    k: int
    config: RunnableConfig = field(hash=False, repr=False)
    thread: str
    loop: asyncio.AbstractEventLoop | None = field(repr=False)
    at: float


def passages(query: str, k: int) -> str:
    """The answer of a :class:`CountingSearch` that was given none."""
    return f"{k} passages about {query}"


class CountingSearch:
    """A search tool for tests: ``search(query, k=5)``; hand :attr:`tool` to the agent.

    Args:
        style: which forms the tool has; ``"async"`` raises under ``invoke`` as such tools do.
        seconds: how long each search takes.
        answer: from query and k to the tool's result; may raise.
        name: the tool's name.

    Attributes:
        records: one per run, in the order they began.
        ended: how many runs came to their end (a cancelled one does not).
    """

    def __init__(
        self,
        *,
        style: Style = "both",
        seconds: float = 0.0,
        answer: Callable[[str, int], Any] = passages,
        name: str = "search",
    ) -> None:
        self.records: list[SearchRecord] = []
        self.ended = 0
        self._seconds, self._answer = seconds, answer
        self._lock = threading.Lock()
        self.tool: BaseTool = StructuredTool.from_function(
            func=self._search if style in ("sync", "both") else None,
            coroutine=self._asearch if style in ("async", "both") else None,
            name=name,
            description="Search for passages.",
        )

    def __len__(self) -> int:
        return len(self.records)

    @property
    def queries(self) -> list[str]:
        """What was searched for, in the order the runs began."""
        return [record.query for record in self.records]

    def _search(self, query: str, config: RunnableConfig, k: int = 5) -> Any:
        self._begin(query, k, config, None)
        time.sleep(self._seconds)
        return self._end(query, k)

    async def _asearch(self, query: str, config: RunnableConfig, k: int = 5) -> Any:
        self._begin(query, k, config, asyncio.get_running_loop())
        await asyncio.sleep(self._seconds)
        return self._end(query, k)

    def _begin(self, query: str, k: int, config: RunnableConfig, loop: asyncio.AbstractEventLoop | None) -> None:
        thread = threading.current_thread().name
        record = SearchRecord(query=query, k=k, config=config, thread=thread, loop=loop, at=time.monotonic())
        with self._lock:
            self.records.append(record)

    def _end(self, query: str, k: int) -> Any:
        answer = self._answer(query, k)
        with self._lock:
            self.ended += 1
        return answer
