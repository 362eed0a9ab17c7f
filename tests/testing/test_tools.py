"""Slow and counting tools: only slower, only counted."""

import asyncio
import random
import statistics
import time
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch.testing.tools import CountingSearch, lognormal, with_latency

CONFIG: RunnableConfig = {"configurable": {"user": "u1"}}


class Plain(BaseTool):
    """A tool that is a class, with a sync form alone."""

    name: str = "plain"
    description: str = "Says it back."

    def _run(self, query: str) -> str:
        return query


class Asynchronous(Plain):
    """A tool that is a class, with both forms."""

    async def _arun(self, query: str) -> str:
        return f"async {query}"


@tool
def decorated(query: str, k: int = 5) -> str:
    """Search."""
    return f"{query} {k}"


@pytest.mark.parametrize("quick", [Plain(), Asynchronous(), decorated])
async def test_a_slow_tool_differs_in_time_alone(quick: BaseTool) -> None:
    """Schema and answers stay; each form takes the stated time once; the tool itself stays quick."""
    drawn: list[float] = []

    def sampler(_: random.Random) -> float:
        drawn.append(0.05)
        return 0.05

    slow = with_latency(quick, sampler)
    assert (slow.name, slow.description) == (quick.name, quick.description)
    assert slow.tool_call_schema.model_json_schema() == quick.tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    began = time.monotonic()
    assert slow.invoke({"query": "a"}) == quick.invoke({"query": "a"})
    assert await slow.ainvoke({"query": "a"}) == await quick.ainvoke({"query": "a"})
    assert time.monotonic() - began >= 0.1
    assert len(drawn) == 2
    assert isinstance(slow, type(quick))
    assert slow is not quick


async def test_an_async_wait_lets_the_loop_go_on() -> None:
    """Ten slow searches at once wait side by side: all have begun to wait before the first has its answer."""
    waiting = 0
    begun_at_ends: list[int] = []

    def sampler(_: random.Random) -> float:
        nonlocal waiting
        waiting += 1
        return 0.3

    slow = with_latency(CountingSearch(style="async").tool, sampler)

    async def search(query: str) -> None:
        await slow.ainvoke({"query": query})
        begun_at_ends.append(waiting)

    await asyncio.gather(*(search(str(number)) for number in range(10)))
    assert begun_at_ends == [10] * 10


def test_the_same_seed_gives_the_same_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow run can be run again."""

    def slept(seed: int) -> list[float]:
        seconds: list[float] = []
        monkeypatch.setattr(time, "sleep", seconds.append)
        slow = with_latency(Plain(), lognormal(median=0.5, p90=0.9), seed=seed)
        for _ in range(20):
            slow.invoke({"query": "q"})
        return seconds

    assert slept(1) == slept(1) != slept(2)


def test_lognormal_has_the_stated_quantiles() -> None:
    """A sampler is described by numbers a person can measure."""
    sampler, generator = lognormal(median=0.5, p90=0.91), random.Random(7)
    drawn = sorted(sampler(generator) for _ in range(20_000))
    assert statistics.median(drawn) == pytest.approx(0.5, rel=0.05)
    assert drawn[18_000] == pytest.approx(0.91, rel=0.05)


@pytest.mark.parametrize("wrong", [lambda: lognormal(median=0, p90=1), lambda: lognormal(median=2, p90=1)])
def test_impossible_quantiles_are_refused(wrong: Any) -> None:
    """A sampler that cannot be is refused where it is made."""
    with pytest.raises(ValueError, match="median"):
        wrong()


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_impossible_durations_are_refused(seconds: float) -> None:
    """So is a duration that cannot be."""
    with pytest.raises(ValueError, match="negative"):
        with_latency(Plain(), seconds)


async def test_searches_are_counted() -> None:
    """A record tells what was asked, with which configuration, on which thread and loop."""
    search = CountingSearch()
    assert search.tool.invoke({"query": "a"}, CONFIG) == "5 passages about a"
    assert await search.tool.ainvoke({"query": "b", "k": 2}, CONFIG) == "2 passages about b"
    first, second = search.records
    assert (first.k, first.loop, first.thread, first.config["configurable"]) == (5, None, "MainThread", {"user": "u1"})
    assert second.loop is asyncio.get_running_loop()
    assert (len(search), search.ended, search.queries) == (2, 2, ["a", "b"])
    assert list(search.tool.args) == ["query", "k"]


async def test_tools_of_one_form() -> None:
    """A sync tool runs on a pool thread under ainvoke; an async one refuses invoke, as LangChain's do."""
    only_sync, only_async = CountingSearch(style="sync"), CountingSearch(style="async")
    await only_sync.tool.ainvoke({"query": "a"})
    assert only_sync.records[0].thread != "MainThread"
    with pytest.raises(NotImplementedError):
        only_async.tool.invoke({"query": "a"})


async def test_a_search_that_does_not_end_is_not_counted_as_ended() -> None:
    """Begun and ended are told apart, so that a test sees whether cancellation reached the work."""

    def broken(query: str, k: int) -> str:
        raise TimeoutError("503")

    search = CountingSearch(answer=broken)
    with pytest.raises(TimeoutError):
        search.tool.invoke({"query": "a"})
    slow = CountingSearch(style="async", seconds=30)
    task = asyncio.create_task(slow.tool.ainvoke({"query": "b"}))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert [(len(each), each.ended) for each in (search, slow)] == [(1, 0), (1, 0)]
