"""Many runs through one wrapped graph at once: each has its own answers, and none leaves anything behind."""

from __future__ import annotations

import asyncio
import gc
import itertools
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch import Report
from langgraph_prefetch.speculation.shared import process_wide
from langgraph_prefetch.testing.models import ScriptedChatModel
from langgraph_prefetch.testing.script import Turn, turn_of
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.matrix.compare import patient, prefetch_of, prefetched, question
from tests.graph.matrix.kinds import KINDS, Graph, World, search_for
from tests.graph.matrix.test_nesting import as_node, in_function

KINDS_OF_CROWDS = ("agent", "react_v2", "drawn")
ASYNC_RUNS, THREADS = 50, 16


def _topic(number: int) -> str:
    # Each is asked for by two users, who must not be given each other's answer.
    return f"Chapter {number // 2}"


def _asks(messages: Sequence[BaseMessage]) -> Turn:
    topic = str(messages[0].text)
    return turn_of((search_for(topic), Turn(text=f"That was {topic}.")), messages)


class Library(World):
    """A search whose answer depends on who asks."""

    def __init__(self) -> None:
        super().__init__(_asks)
        self.asked: list[tuple[str, str]] = []

        @tool
        def search(query: str, config: RunnableConfig) -> str:
            """Search for passages."""
            user = config["configurable"]["user"]
            self.asked.append((query, user))
            return f"{query} as {user} may read it"

        self._search = search

    @property
    def tools(self) -> list[BaseTool]:
        return [self._search]

    def model(self) -> ScriptedChatModel:
        return ScriptedChatModel(script=self.turns, seconds_per_token=0.001)  # lets others go on after each token


def _input(number: int) -> tuple[dict[str, Any], RunnableConfig]:
    return {"messages": [HumanMessage(_topic(number))]}, {"configurable": {"user": f"user {number}"}}


def _check(results: Sequence[dict[str, Any]], library: Library, report: Report) -> None:
    """Each has its own answer, each was searched once, and the numbers add up."""
    for number, result in enumerate(results):
        _, _, searched, last = result["messages"]
        assert searched.content == f"{_topic(number)} as user {number} may read it"
        assert last.content == f"That was {_topic(number)}."
    wanted = sorted((_topic(number), f"user {number}") for number in range(len(results)))
    assert sorted(library.asked) == wanted
    assert report.runs == report.search_calls == len(results)
    assert report.served + report.misses == report.search_calls
    ended = report.served_speculations + report.wasted + report.failed + report.cancelled
    assert (report.speculations, report.unsettled, report.troubles) == (ended, 0, 0)
    assert report.served >= 1  # how many depends on how crowded the executor is


SCOPES: dict[str, Any] = {"each for itself": None, "one for all": lambda configurable: "everyone"}


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("kind", KINDS_OF_CROWDS)
async def test_fifty_runs_in_one_loop(kind: str, scope: Any) -> None:
    """Fifty interleaved runs of one wrapped graph, each with a query and a user of its own, sharing or not."""
    library = Library()
    graph = patient(prefetched(KINDS[kind](library), scope=scope))

    results = await asyncio.gather(*(graph.ainvoke(*_input(number)) for number in range(ASYNC_RUNS)))

    _check(results, library, prefetch_of(graph).report())


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("kind", KINDS_OF_CROWDS)
def test_sixteen_threads(kind: str, scope: Any) -> None:
    """The same from threads."""
    library = Library()
    graph = patient(prefetched(KINDS[kind](library), scope=scope))

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(lambda number: graph.invoke(*_input(number)), range(THREADS)))

    _check(results, library, prefetch_of(graph).report())


# --- those who leave early


async def _cancelled(graph: Graph) -> None:
    task = asyncio.create_task(graph.ainvoke(question()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _timed_out(graph: Graph) -> None:
    async def read() -> None:
        async for _ in graph.astream(question(), stream_mode="messages", subgraphs=True):
            pass

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read(), 0.05)


async def _gone_from_events(graph: Graph) -> None:
    events = graph.astream_events(question(), version="v2")
    async for event in events:
        if event["event"] == "on_tool_start" or event.get("metadata", {}).get("langgraph_step", 0) > 1:
            break
        await asyncio.sleep(0)
    await events.aclose()  # type: ignore[attr-defined]


async def _gone_from_stream(graph: Graph) -> None:
    stream = graph.astream(question(), stream_mode=["messages", "updates"], subgraphs=True)
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]


async def _gone_without_a_word(graph: Graph) -> None:
    async for _ in graph.astream(question(), stream_mode="messages", subgraphs=True):
        break  # the stream is not closed: asyncio's own hook does that when it is collected


LEAVING: tuple[Callable[[Graph], Coroutine[Any, Any, None]], ...] = (
    _cancelled,
    _timed_out,
    _gone_from_events,
    _gone_from_stream,
    _gone_without_a_word,
)
PLACES: dict[str, Callable[[World], tuple[Graph, Graph]]] = {
    "agent": lambda world: (wrapped := prefetched(KINDS["agent"](world)), wrapped),
    "drawn": lambda world: (wrapped := prefetched(KINDS["drawn"](world)), wrapped),
    "subgraph": lambda world: (wrapped := prefetched(as_node(KINDS["agent"](world))), wrapped),
    "inside a function": lambda world: (in_function(inner := prefetched(KINDS["agent"](world))), inner),
}
"""By name: the graph that is called, and the one that is wrapped."""


@pytest.fixture
def said_by_asyncio(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What asyncio complains about while the test runs: tasks destroyed, exceptions never retrieved."""
    said: list[str] = []
    yield said
    gc.collect()
    said.extend(record.getMessage() for record in caplog.records if record.name == "asyncio")
    assert said == []


@pytest.mark.parametrize(("where", "leave"), [*itertools.product(PLACES, LEAVING)])
def test_whoever_leaves_takes_the_speculations_along(
    where: str, leave: Callable[[Graph], Coroutine[Any, Any, None]], said_by_asyncio: list[str]
) -> None:
    """Cancelled, timed out or gone in mid-stream: within a bound nothing of the run is under way any more."""
    executor = process_wide().executor
    world = World(search=CountingSearch(style="async", seconds=5), turns=(search_for("Eiffel Tower"),))
    called, wrapped = PLACES[where](world)

    prefetch = prefetch_of(wrapped)

    async def run() -> None:
        await leave(called)
        # In the very loop of the run: its end would end whatever is under way in it.
        for _ in range(1_000):
            if prefetch.report().unsettled == executor.running == 0:
                return
            await asyncio.sleep(0.002)
        pytest.fail("something is still under way")

    asyncio.run(run())

    report = prefetch.report()
    assert (report.served, report.troubles) == (0, 0)
    assert report.cancelled + report.wasted == report.speculations
    assert world.search.ended == 0
