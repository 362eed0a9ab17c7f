"""Agents with verified serving, and what the tests of hard cases wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage

from langgraph_prefetch import (
    Prefetcher,
    PrefetchMiddleware,
    Report,
)
from langgraph_prefetch.testing.models import ScriptedChatModel
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, until
from tests.graph.next_call.rigs import options_for, slow

TWICE = (calls("x"), calls("x"), DONE)


def settled(prefetch: Prefetcher) -> Report:
    """The report once every private call has stopped."""
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert report.troubles == 0
    return report


async def auntil(holds: Callable[[], Any]) -> None:
    """Wait until ``holds()`` without blocking the loop."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - what it waits for happens on other threads
            await asyncio.sleep(0.002)


def agent(llm: Any, search: Any, *middleware: Any, options: Any = None, **compiled: Any) -> tuple[Any, Prefetcher]:
    """An agent with verified serving, innermost."""
    ours = PrefetchMiddleware(["search"], **options_for(force_streaming=True, **(options or {})))
    found = search.tool if isinstance(search, CountingSearch) else search
    graph = create_agent(llm, [found], middleware=[*middleware, ours], **compiled)
    return graph, slow(ours.prefetch)


def invoked(graph: Any, is_async: bool, given: Any = GO, config: Any = None) -> Any:
    return asyncio.run(graph.ainvoke(given, config)) if is_async else graph.invoke(given, config)


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Watched(ScriptedChatModel):
    """Tells a function of each call's beginning, which may raise."""

    begins: Callable[[list[BaseMessage]], None]

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        self.begins(messages)
        yield from super()._stream(messages, *args, **kwargs)

    async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.begins(messages)
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk
