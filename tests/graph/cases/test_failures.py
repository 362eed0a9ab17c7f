"""Case 16: whatever part of ours fails, the agent's run ends as it would have; it is counted, and said once."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_prefetch import Budgets, PrefetchMiddleware, prefetcher_of, with_prefetch
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.intent.reader import IntentReader
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.report import Report
from langgraph_prefetch.speculation.cache import SpeculationCache
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, model, plain, thinks, tool_texts, watch

TURNS = (thinks("alpha"), thinks("beta", "gamma"), DONE)


ONE_GUESS = Budgets(guesses_per_step=1, sealed_per_step=0)  # so that one of the three calls is real


def agent(search: CountingSearch, **options: Any) -> Any:
    return created(model(*TURNS, seconds_per_token=0), [search.tool], **options)


class Broken(Exception):
    """What a part of ours raises."""


def broken(*_: Any, **__: Any) -> Any:
    raise Broken


def by_wrapping(search: CountingSearch) -> tuple[Any, Callable[[], Report]]:
    wrapped = with_prefetch(agent(search), ["search"], budgets=ONE_GUESS)
    return wrapped, prefetcher_of(wrapped).report


def by_middleware(search: CountingSearch) -> tuple[Any, Callable[[], Report]]:
    middleware = PrefetchMiddleware(["search"], budgets=ONE_GUESS)
    return agent(search, middleware=[middleware]), middleware.prefetch.report


PARTS = {
    "detector": (IntentReader, "feed"),
    "end of a message": (IntentReader, "finish"),
    "executor": (Executor, "submit"),
    "executor's room for real calls": (Executor, "real_call"),
    "cache, looked up": (SpeculationCache, "claim"),
    "cache, written": (SpeculationCache, "begin"),
    "cache, read": (SpeculationCache, "peek"),
    "run, opened": (PrefetchEngine, "open_run"),
    "run, closed": (Run, "close"),
    "step, begun": (Run, "begin_step"),
    "call, taken": (Run, "call"),
}


@pytest.mark.parametrize("raise_error", [False, True], ids=["", "raise_error"])
@pytest.mark.parametrize("way", [by_wrapping, by_middleware])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_raises(
    part: str, way: Any, raise_error: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The run's messages are the bare ones; the failures are counted, and there is one warning of each kind."""
    search = CountingSearch()
    expected = plain(agent(search).invoke(GO)["messages"])
    graph, report = way(search)
    owner, name = PARTS[part]
    monkeypatch.setattr(owner, name, broken)
    monkeypatch.setattr(StreamListener, "raise_error", raise_error)
    for result in (graph.invoke(GO), asyncio.run(graph.ainvoke(GO))):
        assert plain(result["messages"]) == expected
    monkeypatch.undo()
    assert report().troubles > 0
    warnings = [record.getMessage() for record in caplog.records if "Broken" in record.getMessage()]
    assert warnings
    assert len(warnings) == len(set(warnings)) <= 3
    assert all(record.levelno <= logging.WARNING for record in caplog.records)


def test_a_sink_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """A sink that fails is taken out, said once and counted; the other sinks and the run go on."""
    search = CountingSearch()
    wrapped = with_prefetch(created(model(*TURNS), [search.tool]), ["search"])
    prefetcher_of(wrapped).subscribe(broken)
    seen = watch(wrapped)
    assert len(tool_texts(wrapped.invoke(GO))) == 3
    assert prefetcher_of(wrapped).report().served == 3
    assert prefetcher_of(wrapped).report().troubles == 1
    assert len(seen) > 10
    assert len([record for record in caplog.records if "Broken" in record.getMessage()]) == 1


def test_a_speculation_that_raises_is_a_miss() -> None:
    """A search that fails early is never shown to the agent as its own failure: the real call is made."""
    times = iter(range(10))

    def answer(query: str, k: int) -> str:
        if next(times) == 0:
            raise ConnectionError("503")
        return "found"

    search = CountingSearch(answer=answer)
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [search.tool]), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["found"]
    report = prefetcher_of(wrapped).report()
    assert (report.failed, report.served, len(search), report.troubles) == (1, 0, 2, 0)
