"""``prefetching_tool_node`` and ``SpeculationNode``: for those who draw their own graph."""

import logging
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langgraph_prefetch import Prefetcher, SpeculationNode, prefetching_tool_node, with_prefetch
from langgraph_prefetch.errors import AlreadyWrappedError
from langgraph_prefetch.testing.models import UnstreamedScriptedChatModel
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, held, model, plain, thinks, tool_texts

SILENT = UnstreamedScriptedChatModel(script=[thinks("alpha"), DONE])


def looping(llm: Any, tools: Any, *between: tuple[str, Any]) -> StateGraph[Any, Any, Any, Any]:
    """A ReAct loop with ``tools`` as its tool node, and other nodes between the model and the tools."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    graph.add_node("tools", tools)
    names = ["model", *(name for name, _ in between)]
    for (name, node), before in zip(between, names, strict=False):
        graph.add_node(name, node)
        graph.add_edge(before, name)
    graph.add_edge(START, "model")
    graph.add_conditional_edges(names[-1], tools_condition)
    graph.add_edge("tools", "model")
    return graph


def test_tool_node_in_place_of_the_hosts() -> None:
    """With a streaming model, the drop-in node serves what the handler heard; the conversation is the bare one's."""
    search, prefetch = CountingSearch(), Prefetcher(["search"])
    llm = model(thinks("alpha"), DONE)
    bare = looping(llm, ToolNode([search.tool])).compile().invoke(GO)
    graph = looping(llm, prefetching_tool_node([search.tool], prefetch)).compile()
    result = graph.with_config(callbacks=[prefetch.handler()]).invoke(GO)
    assert plain(result["messages"]) == plain(bare["messages"])
    assert (prefetch.report().served_reasoning, len(search)) == (1, 2)


def test_its_own_wrapper_sees_served_calls() -> None:
    """A ``wrap_tool_call`` given to the node runs on every call, served or not; other options reach the node."""
    search, prefetch, saw = CountingSearch(), Prefetcher(["search"]), []

    def wrap(request: Any, execute: Any) -> Any:
        saw.append(request.tool_call["name"])
        return execute(request)

    node = prefetching_tool_node([search.tool], prefetch, wrap_tool_call=wrap, name="lookup", tags=["mine"])
    assert (node.name, node.tags) == ("lookup", ["mine"])
    graph = looping(model(thinks("alpha"), DONE), node).compile().with_config(callbacks=[prefetch.handler()])
    assert tool_texts(graph.invoke(GO)) == ["5 passages about alpha"]
    assert (saw, prefetch.report().served) == (["search"], 1)


def test_speculation_node_for_a_model_that_does_not_stream() -> None:
    """The search starts at the node that reads the message, before a slow guard has let the call pass."""
    search, prefetch = CountingSearch(), Prefetcher(["search"])
    with held() as gate:

        def guard(state: MessagesState) -> dict[str, Any]:
            # Opened by the search itself: the guard ends only because the search began before it did.
            assert gate.wait(30)
            return {}

        search = CountingSearch(answer=lambda query, k: gate.set() or f"found {query}")  # type: ignore[func-returns-value]
        node = prefetching_tool_node([search.tool], prefetch)
        between = (("speculate", SpeculationNode(prefetch)), ("guard", guard))
        drawn = looping(SILENT, node, *between)
        graph = drawn.compile().with_config(callbacks=[prefetch.handler()])
        first = graph.invoke(GO)
    assert tool_texts(first) == ["found alpha"]
    report = prefetch.report()
    assert (report.served, len(search), report.troubles) == (1, 1, 0)


@pytest.mark.parametrize("streams", [False, True])
def test_speculation_node_changes_nothing(streams: bool) -> None:
    """The node adds no message; where the model streamed it has nothing left to start."""
    search, prefetch = CountingSearch(), Prefetcher(["search"])
    llm = model(thinks("alpha"), DONE) if streams else SILENT
    node = prefetching_tool_node([search.tool], prefetch)
    graph = looping(llm, node, ("speculate", SpeculationNode(prefetch))).compile()
    result = graph.with_config(callbacks=[prefetch.handler()]).invoke(GO)
    bare = looping(llm, ToolNode([search.tool])).compile().invoke(GO)
    assert plain(result["messages"]) == plain(bare["messages"])
    assert (prefetch.report().served, prefetch.report().speculations) == (1, 1)


def test_speculation_node_that_is_not_heard(caplog: pytest.LogCaptureFixture) -> None:
    """Without the handler there is no run to start anything in: the graph works, and the log says what is missing."""
    search, prefetch = CountingSearch(), Prefetcher(["search"])
    node = prefetching_tool_node([search.tool], prefetch)
    graph = looping(SILENT, node, ("speculate", SpeculationNode(prefetch))).compile()
    for _ in range(2):
        assert tool_texts(graph.invoke(GO)) == ["5 passages about alpha"]
    said = [record for record in caplog.records if "with_config(callbacks=[prefetch.handler()])" in record.getMessage()]
    assert [record.levelno for record in said] == [logging.WARNING]
    assert prefetch.report().troubles == 0


@pytest.mark.parametrize("state", [{}, {"messages": []}, {"messages": [AIMessage("")]}, [], None, 7], ids=repr)
def test_speculation_node_takes_any_state(state: Any) -> None:
    """A state without messages, or of another shape, is passed over."""
    prefetch = Prefetcher(["search"])
    prefetch.admit(CountingSearch().tool)
    with prefetch.run():
        assert SpeculationNode(prefetch)(state) == {}
    assert prefetch.report().speculations == 0


def test_messages_under_another_key() -> None:
    """``messages_key`` says where the state keeps them."""
    search = CountingSearch()
    prefetch = Prefetcher(["search"])
    prefetch.admit(search.tool)
    with prefetch.run():
        SpeculationNode(prefetch, "log")({"log": [AIMessage("I need to search for alpha. Then I go on.")]})
        assert prefetch.report().speculations == 1


def test_wrapped_as_well() -> None:
    """A graph of drop-in nodes answers already; wrapping it too is an error."""
    search, prefetch = CountingSearch(), Prefetcher(["search"])
    graph = looping(model(DONE), prefetching_tool_node([search.tool], prefetch)).compile()
    with pytest.raises(AlreadyWrappedError, match="prefetching_tool_node"):
        with_prefetch(graph, ["search"])
