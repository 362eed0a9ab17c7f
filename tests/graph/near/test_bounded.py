"""Bounded serving end to end: what is served is what the tool's own search returns."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langgraph_prefetch import PrefetchMiddleware, prefetcher_of, with_prefetch
from langgraph_prefetch.events import NearAnswered, NearChecked, NearFetched, NearTierChanged
from langgraph_prefetch.graph.near.trust import NEEDED
from langgraph_prefetch.near.control import WARM_UP
from langgraph_prefetch.testing.models import Call, Turn
from tests.graph.cases.rigs import of_kind, plain, tool_texts, until, watch
from tests.graph.near.rigs import (
    NOTHING_EARLY,
    WARM,
    AsyncWords,
    Searching,
    Switching,
    memory,
    model_of,
    near,
    question,
    served,
    settled,
    thinking,
    told,
    warmed,
)

QUERIES = ("market of Gorsley", "which bridge is in Fernwick", "schools around Elmbury")


def invoked(graph: Any, is_async: bool, given: Any, config: Any = None) -> Any:
    return asyncio.run(graph.ainvoke(given, config)) if is_async else graph.invoke(given, config)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_near_miss_is_the_tools_own_answer(is_async: bool) -> None:
    """Messages equal those of the bare agent, and no search ran for them."""
    searching = Searching(memory())
    graph, prefetch, events = warmed(searching, near(searching.source), *QUERIES)
    result = invoked(graph, is_async, question())
    assert searching.queries == []
    assert served(events) == [True] * len(QUERIES)
    bare = create_agent(thinking(*QUERIES), [searching.tool]).invoke(question())
    assert plain(result["messages"]) == plain(bare["messages"])
    assert {each.tier for each in of_kind(events, NearAnswered)} == {"proved"}
    report = prefetch.report()
    assert (report.served_near, report.near_proved, report.misses, report.troubles) == (3, 3, len(WARM), 0)
    assert report.coverage == 0.5
    assert "near 3" in str(report)


def test_nothing_is_served_before_the_tool_has_shown_what_it_is() -> None:
    """However surely a ranking is proved: the tool may be another search than its user says."""
    searching = Searching(memory())
    queries = [*WARM, *QUERIES][: NEEDED - 1]
    graph: Any = with_prefetch(
        create_agent(thinking(*queries), [searching.tool]),
        tools=["search"],
        serve="bounded",
        near={"search": near(searching.source)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    graph.invoke(question())
    settled(prefetcher_of(graph), events, calls=len(queries))
    assert searching.queries == queries
    assert [each.reason for each in of_kind(events, NearAnswered)] == ["not yet trusted"] * len(queries)
    assert of_kind(events, NearTierChanged) == []


def test_a_cold_start_serves_proved_answers_only() -> None:
    """From a source that says nothing of what it may have missed, nothing is served until enough is known."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(Inexact(searching.source)), *QUERIES)
    graph.invoke(question())
    assert searching.queries == list(QUERIES)
    told(events, NearAnswered, 3)
    assert [each.reason for each in of_kind(events, NearAnswered)] == ["unsure"] * 3


class Inexact:
    """A source whose index may have missed some: nothing is proved from it."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.metric, self.dimensions = inner, inner.metric, inner.dimensions
        self.epoch = inner.epoch

    def neighbourhood(self, anchor: Any, n: int) -> Any:
        from dataclasses import replace

        return replace(self.inner.neighbourhood(anchor, n), exact=False, whole=False)

    async def aneighbourhood(self, anchor: Any, n: int) -> Any:
        return self.neighbourhood(anchor, n)


def test_the_likely_tier_opens_once_enough_is_known_and_is_audited() -> None:
    """Real searches teach it at no cost; then it serves, a share of what it serves is searched again."""
    searching = Searching(memory())
    said = near(Inexact(searching.source), confidence=0.5, audit_share=1.0, n=36)
    model = Switching(script=[], seconds_per_token=0.0)
    graph: Any = with_prefetch(
        create_agent(model, [searching.tool]),
        tools=["search"],
        serve="bounded",
        epsilon=0.4,
        near={"search": said},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    number = 0
    while not any(each.tier == "likely" and each.open for each in of_kind(events, NearTierChanged)) and number < 30:
        model.script = thinking(*(f"the {number} and {at} river of Elmbury" for at in range(5))).script
        graph.invoke(question())
        number += 1
        told(events, NearChecked, 5 * number)
    before = len(served(events))
    early = sum(served(events))  # the tier may open in the middle of a run
    assert not any(served(events)[:WARM_UP])
    model.script = thinking(*QUERIES).script
    searching.queries.clear()
    result = graph.invoke(question())
    assert served(events)[before:] == [True] * 3
    assert tool_texts(result) == [searching.answer(each) for each in QUERIES]
    until(lambda: prefetcher_of(graph).report().near_audited == early + 3)
    assert sorted(searching.queries) == sorted(QUERIES)  # searched again, in the background
    report = prefetcher_of(graph).report()
    assert (report.near_audited_wrong, report.near_wrong_low) == (0, 0.0)
    assert report.near_wrong_high == pytest.approx(1 - 0.025 ** (1 / (early + 3)), rel=1e-3)


def test_a_graph_drawn_by_hand() -> None:
    """Any graph that runs a tool node."""
    searching = Searching(memory())
    model = Switching(script=thinking(*WARM).script)
    bound = model.bind_tools([searching.tool])
    drawn = StateGraph(MessagesState)
    drawn.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    drawn.add_node("tools", ToolNode([searching.tool]))
    drawn.add_edge(START, "model")
    drawn.add_conditional_edges("model", tools_condition)
    drawn.add_edge("tools", "model")
    graph: Any = with_prefetch(
        drawn.compile(),
        tools=["search"],
        serve="bounded",
        near={"search": near(searching.source)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    graph.invoke(question())
    settled(prefetcher_of(graph), events, calls=len(WARM))
    # The bound model holds a copy of the script, so the same questions come again.
    result = graph.invoke(question())
    assert served(events) == [False] * 3 + [True] * 3
    assert tool_texts(result) == [searching.answer(each) for each in WARM]


async def test_middleware_and_an_embedder_that_is_async_only() -> None:
    """Its coroutines run on the agent's loop, to which its client belongs, and nowhere else."""
    searching, words = Searching(memory()), AsyncWords()
    model = Switching(script=thinking(*WARM).script)
    early = PrefetchMiddleware(
        ["search"],
        serve="bounded",
        near={"search": near(searching.source, words)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    agent = create_agent(model, [searching.tool], middleware=[early])
    events = watch(early.prefetch)
    await agent.ainvoke(question())
    async with asyncio.timeout(60):
        while len(of_kind(events, NearChecked)) < len(WARM):  # noqa: ASYNC110 - what it waits for is on other threads
            await asyncio.sleep(0.002)
    model.script = thinking(*QUERIES).script
    result = await agent.ainvoke(question())
    assert served(events) == [False] * 3 + [True] * 3
    assert tool_texts(result) == [searching.answer(each) for each in QUERIES]
    assert words.loops == {asyncio.get_running_loop()}
    assert early.prefetch.report().troubles == 0


def test_parallel_calls_are_answered_each_by_its_own_ranking() -> None:
    """One message, several calls."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source))
    calls = [Call("search", {"query": query}) for query in QUERIES]
    model_of(graph).script = [Turn(text="I think about three things at once.", calls=calls), Turn(text="Done.")]
    result = graph.invoke(question())
    assert served(events) == [True] * 3
    assert tool_texts(result) == [searching.answer(each) for each in QUERIES]


def test_events_add_up() -> None:
    """Fetches are told with what they moved, and stay within what a step may fetch."""
    searching = Searching(memory())
    graph, prefetch, events = warmed(searching, near(searching.source, anchors=2), *QUERIES)
    graph.invoke(question())
    fetched = of_kind(events, NearFetched)
    assert fetched
    assert all(each.passages == 36 and each.bytes == 36 * 256 * 4 and each.exact for each in fetched)
    for step in {each.step for each in fetched}:
        assert sum(each.step == step for each in fetched) <= 2
    assert prefetch.report().near_fetches >= len(fetched)


def test_a_served_message_is_a_tool_message_like_any_other() -> None:
    """Its tool's start and end events fire, and its artifact and status are the tool's."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source), QUERIES[0])
    seen = [each["event"] for each in _events(graph) if each["name"] == "search"]
    assert seen == ["on_tool_start", "on_tool_end"]
    assert served(events) == [True]


def _events(graph: Any) -> list[Any]:
    async def collect() -> list[Any]:
        return [each async for each in graph.astream_events(question(), version="v2")]

    return asyncio.run(collect())


def test_switched_off_it_does_nothing() -> None:
    """The kill switch stops near misses too."""
    searching = Searching(memory())
    graph, prefetch, events = warmed(searching, near(searching.source), *QUERIES)
    prefetch.pause()
    result = graph.invoke(question())
    assert searching.queries == list(QUERIES)
    assert of_kind(events, NearFetched) == []
    assert [type(each) for each in result["messages"]].count(ToolMessage) == 3
