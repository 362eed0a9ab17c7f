"""Tools and retrievers that tell their epoch: what a speculation found says which one it was read in."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from langgraph_prefetch.graph.retrievers import RetrieverSearch
from langgraph_prefetch.graph.tools import LangChainTool
from langgraph_prefetch.ports import Caller, HasEpoch, SearchTool, Work
from langgraph_prefetch.values import Output


class DatedTool(LangChainTool):
    """A tool with the methods of :class:`~langgraph_prefetch.ports.HasEpoch`."""

    def epoch(self, caller: Caller) -> Hashable | None:
        """The tool's own."""
        told: Any = self.tool
        epoch: Hashable | None = told.epoch(caller)
        return epoch

    async def aepoch(self, caller: Caller) -> Hashable | None:
        """The tool's own."""
        told: Any = self.tool
        epoch: Hashable | None = await told.aepoch(caller)
        return epoch

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """As of any tool, with the epoch read before the search begins."""
        return dated(super().prepare(arguments, caller), self, caller)


class DatedRetriever(RetrieverSearch):
    """A retriever with the methods of :class:`~langgraph_prefetch.ports.HasEpoch`."""

    def epoch(self, caller: Caller) -> Hashable | None:
        """The retriever's own."""
        told: Any = self._retriever
        epoch: Hashable | None = told.epoch(caller)
        return epoch

    async def aepoch(self, caller: Caller) -> Hashable | None:
        """The retriever's own."""
        told: Any = self._retriever
        epoch: Hashable | None = await told.aepoch(caller)
        return epoch

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """As of any retriever, with the epoch read before the search begins."""
        return dated(super().prepare(arguments, caller), self, caller)


def dated(work: Work, teller: HasEpoch, caller: Caller) -> Work:
    """``work`` whose output carries the epoch that was in force before it began: a write meanwhile makes it stale."""
    if (blocking := work.blocking) is not None:

        def run() -> Output:
            epoch = teller.epoch(caller)
            return replace(blocking(), epoch=epoch)

        return replace(work, blocking=run)
    if (coroutine := work.coroutine) is not None:

        async def arun() -> Output:
            epoch = await teller.aepoch(caller)
            return replace(await coroutine(), epoch=epoch)

        return replace(work, coroutine=arun)
    return work


def tells_epoch(named: Any) -> bool:
    """Whether a tool or retriever has an epoch to tell."""
    return isinstance(named, HasEpoch) and not isinstance(named, SearchTool)
