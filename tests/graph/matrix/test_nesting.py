"""An agent inside another graph: wrapped outside, inside, or both, nothing changes and nothing is counted twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_prefetch import Report
from tests.graph.matrix.compare import assert_same, prefetch_of, prefetched
from tests.graph.matrix.kinds import KINDS, SEARCHES, Graph, World
from tests.graph.matrix.styles import STYLES

NESTED = ("agent", "react_v2", "drawn")
CALLED = ("invoke", "stream-everything", "stream_events-v3", "ainvoke", "astream_events-v2")

Within = Callable[[Graph], Graph]


def as_node(inner: Graph) -> Graph:
    """The agent is a node of its own."""
    graph = StateGraph(MessagesState)
    graph.add_node("brief", lambda state: {"messages": []})
    graph.add_node("agent", inner)
    graph.add_edge(START, "brief")
    graph.add_edge("brief", "agent")
    return graph.compile()


def in_function(inner: Graph) -> Graph:
    """A node function calls the agent, and hands it no configuration: that flows by the context."""

    def call(state: MessagesState) -> dict[str, Any]:
        return {"messages": inner.invoke({"messages": state["messages"]})["messages"][1:]}

    async def acall(state: MessagesState) -> dict[str, Any]:
        return {"messages": (await inner.ainvoke({"messages": state["messages"]}))["messages"][1:]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", RunnableLambda(call, acall, name="ask"))
    graph.add_edge(START, "ask")
    return graph.compile()


def bare(kind: str, within: Within, world: World) -> Graph:
    """Nothing wrapped."""
    return within(KINDS[kind](world))


def outside(kind: str, within: Within, world: World) -> Graph:
    """The parent wrapped."""
    return prefetched(within(KINDS[kind](world)))


def inside(kind: str, within: Within, world: World) -> Graph:
    """The agent wrapped."""
    return within(prefetched(KINDS[kind](world)))


def twice_removed(kind: str, within: Within, world: World) -> Graph:
    """The parent's parent wrapped."""
    return prefetched(as_node(within(KINDS[kind](world))))


def reports_of(graph: Graph) -> list[Report]:
    """Of every wrapped graph in ``graph``, itself included."""
    found: list[Any] = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    return [prefetch_of(each).report() for each in found if hasattr(each, "prefetch")]


def assert_counted_once(reports: list[Report]) -> None:
    """Both searches were served, by one of the wrapped graphs."""
    assert sum(report.search_calls for report in reports) == 2
    assert sum(report.served for report in reports) == 2
    assert sum(report.troubles for report in reports) == 0


@pytest.mark.parametrize(("kind", "where", "style"), [*itertools.product(NESTED, [outside, inside], CALLED)])
def test_an_agent_that_is_a_node_behaves_as_bare(
    kind: str, where: Callable[[str, Within, World], Graph], style: str
) -> None:
    """Wrapped outside or inside: the parent shows the same, and each search is served and counted once."""
    graph = assert_same(
        lambda world: bare(kind, as_node, world), lambda world: where(kind, as_node, world), STYLES[style]
    )

    assert_counted_once(reports_of(graph))


@pytest.mark.parametrize("style", CALLED)
def test_a_wrapped_agent_in_a_graph_that_is_wrapped_too_is_counted_once(style: str) -> None:
    """Two agents of one parent, the first wrapped by itself: each answers its own searches."""

    def build(world: World, wrap_inner: Within, wrap_outer: Within) -> Graph:
        graph = StateGraph(MessagesState)
        graph.add_node("first", wrap_inner(KINDS["agent"](world)))
        graph.add_node("second", KINDS["drawn"](World((*SEARCHES, *SEARCHES), world.search)))
        graph.add_edge(START, "first")
        graph.add_edge("first", "second")
        return wrap_outer(graph.compile())

    graph = assert_same(
        lambda world: build(world, lambda graph: graph, lambda graph: graph),
        lambda world: build(world, prefetched, prefetched),
        STYLES[style],
    )

    reports = reports_of(graph)
    assert len(reports) == 2
    for report in reports:
        assert_counted_once([report])


@pytest.mark.parametrize(("kind", "style"), [*itertools.product(NESTED, CALLED)])
def test_an_agent_in_a_node_function_behaves_as_bare(kind: str, style: str) -> None:
    """Wrapped by itself, it is heard and answered where only the context tells it the run's configuration."""
    inner: list[Graph] = []

    def wrapped(world: World) -> Graph:
        inner.append(prefetched(KINDS[kind](world)))
        return in_function(inner[0])

    assert_same(lambda world: bare(kind, in_function, world), wrapped, STYLES[style])

    assert_counted_once(reports_of(inner[0]))


@pytest.mark.parametrize("style", CALLED)
def test_a_node_two_graphs_down_is_answered(style: str) -> None:
    """Wrapping reaches subgraphs of subgraphs."""
    graph = assert_same(
        lambda world: as_node(bare("agent", as_node, world)),
        lambda world: twice_removed("agent", as_node, world),
        STYLES[style],
    )

    assert_counted_once(reports_of(graph))
