"""What another tool's run does to what was read before it: nothing is answered that a bare graph could not answer."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send

from langgraph_prefetch import prefetcher_of, with_prefetch
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, KINDS, calls, created, model, thinks, tool_texts

WRITE_AND_SEARCH = Turn(
    reasoning="I need to search for alpha. Then I write. ",
    calls=[Call("write", {"text": "x"}), Call("search", {"query": "alpha"})],
)


@tool
def write(text: str) -> str:
    """Write something down."""
    return f"wrote {text}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_concurrency", [None, 1], ids=["side by side", "one by one"])
def test_write_beside_a_search(kind: str, max_concurrency: int | None) -> None:
    """A search beside a write may be answered early, unless the run takes its calls one by one: then it reads after."""
    search = CountingSearch()
    wrapped = with_prefetch(KINDS[kind](model(WRITE_AND_SEARCH, DONE), [search.tool, write]), ["search"])
    config: Any = {"max_concurrency": max_concurrency} if max_concurrency else {}
    assert tool_texts(wrapped.invoke(GO, config)) == ["wrote x", "5 passages about alpha"]
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.served) == (1, 0 if max_concurrency else 1)


def test_write_in_a_step_before_the_search() -> None:
    """Where a graph runs the write of a message in one step and its search in the next, the search reads after it."""
    search = CountingSearch()
    llm = model(WRITE_AND_SEARCH).bind_tools([search.tool, write])

    def sends(name: str) -> Callable[[MessagesState], list[Send]]:
        def route(state: MessagesState) -> list[Send]:
            asked = next(each for each in state["messages"] if isinstance(each, AIMessage))
            return [Send(name, [call]) for call in asked.tool_calls if call["name"] == name]

        return route

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    graph.add_node("write", ToolNode([write]))
    graph.add_node("search", ToolNode([search.tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", sends("write"), ["write"])
    graph.add_conditional_edges("write", sends("search"), ["search"])
    wrapped: Any = with_prefetch(graph.compile(), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["wrote x", "5 passages about alpha"]
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.served, len(search)) == (1, 0, 2)


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 60.0}], ids=["", "reuse"])
def test_write_between_two_searches(options: dict[str, Any]) -> None:
    """What was read before a write of an earlier step answers nothing after it, with reuse as without."""
    search = CountingSearch()
    turns = (thinks("alpha"), calls("x", tool="note"), calls("alpha"), DONE)

    @tool
    def note(query: str) -> str:
        """Write something down."""
        return "noted"

    wrapped = with_prefetch(created(model(*turns), [search.tool, note]), ["search"], **options)
    wrapped.invoke(GO)
    assert search.queries == ["alpha", "alpha"]
    assert prefetcher_of(wrapped).report().served_reuse == 0


def test_speculation_left_over_from_before_a_write() -> None:
    """A guess that nobody claimed in its own step is given up when another tool has run since."""
    search = CountingSearch()
    early = Turn(reasoning="I need to search for alpha. But first I write. ", calls=[Call("write", {"text": "x"})])
    wrapped = with_prefetch(created(model(early, calls("alpha"), DONE), [search.tool, write]), ["search"])
    wrapped.invoke(GO)
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.wasted + report.cancelled) == (2, 1)
    assert (report.served_sealed, report.served_reasoning) == (1, 0)
