"""Cases A, of many runs: threads and loops, helper models, runs without an end, runs side by side, graphs in graphs."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk.schema import StreamPart

from langgraph_prefetch import Prefetcher, prefetcher_of, with_prefetch
from langgraph_prefetch.events import SearchCallAnswered, SpeculationStarted
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.testing.models import Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, drawn, model, of_kind, thinks, tool_texts, watch

WORDS = ("alpha", "beta", "gamma", "delta", "omega")


def asks(question: str) -> Any:
    return {"messages": [("user", question)]}


def by_question() -> Any:
    return model(seconds_per_token=0.003).model_copy(
        update={"script": script_by_question({word: [thinks(word), DONE] for word in WORDS})}
    )


async def test_tokens_of_pool_threads_reach_the_right_loop() -> None:
    """A synchronous node of an async run streams on a pool thread; its searches run on the run's own loop (17)."""
    search = CountingSearch(style="async", seconds=0.005)
    wrapped = with_prefetch(drawn(by_question(), [search.tool]), ["search"])
    events = watch(wrapped)

    async def one(word: str) -> str:
        parts = [event async for event in wrapped.astream_events(asks(word), version="v2")]
        answers = [part["data"]["output"] for part in parts if part["event"] == "on_tool_end"]
        return str(answers[0].text)

    answers = await asyncio.gather(*(one(word) for word in WORDS * 4))
    assert answers == [f"5 passages about {word}" for word in WORDS * 4]
    assert {record.loop for record in search.records} == {asyncio.get_running_loop()}
    assert len(of_kind(events, SpeculationStarted)) == 20
    report = prefetcher_of(wrapped).report()
    assert (report.troubles, report.search_calls) == (0, 20)


async def test_interleaved_runs_keep_apart() -> None:
    """Two runs whose tokens alternate have each their own query, run and answer (22)."""
    search = CountingSearch()
    wrapped = with_prefetch(created(by_question(), [search.tool]), ["search"], log_queries=True)
    events = watch(wrapped)
    results = await asyncio.gather(wrapped.ainvoke(asks("alpha")), wrapped.ainvoke(asks("beta")))
    assert [tool_texts(result) for result in results] == [["5 passages about alpha"], ["5 passages about beta"]]
    begun = {event.run_id: event.query for event in of_kind(events, SpeculationStarted)}
    assert sorted(begun.values()) == ["alpha", "beta"]
    assert all(begun[event.run_id] in event.query for event in of_kind(events, SearchCallAnswered))


@tool
def digest(query: str) -> str:
    """Look something up and sum it up with a model of its own."""
    helper = model(Turn(text="I should search for omega. I need to search for omega. "))
    return str(helper.invoke("sum up", stream=True).text) + query


def test_models_inside_tools_are_not_listened_to() -> None:
    """What a model inside a tool says is no intent of the agent's: no search begets a search (18)."""
    search = CountingSearch()
    turns = (thinks("alpha", tool="digest"), DONE)
    wrapped = with_prefetch(created(model(*turns), [search.tool, digest]), ["digest", "search"])
    events = watch(wrapped)
    list(wrapped.stream(GO, stream_mode="messages"))
    assert [event.tool for event in of_kind(events, SpeculationStarted)] == ["digest"]
    assert (len(search), prefetcher_of(wrapped).report().steps) == (0, 2)
    # The same where the tool runs in the open: another call than the one speculated.
    unnamed = with_prefetch(created(model(*turns), [search.tool, digest]), ["search"])
    list(unnamed.stream(GO, stream_mode="messages"))
    assert "omega" not in search.queries


class Planner(AgentMiddleware[Any, Any, Any]):
    """Asks a model of its own before and after each call of the agent's."""

    def _asks(self) -> None:
        helper = model(Turn(text="I should search for omega. I need to search for omega. "))
        helper.invoke("plan", stream=True)

    def before_model(self, state: AgentState[Any], runtime: Any) -> None:
        self._asks()

    def after_model(self, state: AgentState[Any], runtime: Any) -> None:
        self._asks()


def test_models_inside_middleware_are_not_listened_to() -> None:
    """What a middleware's helper model says starts nothing (18)."""
    search = CountingSearch()
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[Planner()])
    wrapped = with_prefetch(graph, ["search"])
    list(wrapped.stream(GO, stream_mode="messages"))
    assert search.queries == ["alpha"]
    assert prefetcher_of(wrapped).report().steps == 2


def test_runs_that_never_end_are_bounded() -> None:
    """10,000 runs heard by one handler and never ended leave bounded memory behind: the oldest are let go (21)."""
    prefetch = Prefetcher(["search"])
    prefetch.admit(CountingSearch().tool)
    handler = prefetch.handler()
    chunks = [
        ChatGenerationChunk(message=AIMessageChunk(content=word)) for word in ("I ", "would ", "say ", "it ", ".")
    ]
    for _ in range(10_000):
        root, call = uuid4(), uuid4()
        handler.on_chain_start({}, {}, run_id=root)
        handler.on_chat_model_start({}, [[]], run_id=call, parent_run_id=root)
        for chunk in chunks:
            handler.on_llm_new_token(chunk.text, run_id=call, chunk=chunk)
    alive = sum(type(each) is Run for each in gc.get_objects())
    assert 0 < alive <= 2_100
    report = prefetch.report()
    assert (report.runs, report.steps, report.troubles) == (10_000, 10_000, 0)
    prefetch.close()


def test_local_subgraph_called_inside_a_node() -> None:
    """An agent called in a node hands its tokens on by context, whether or not the node passes its config (23)."""
    for passes_config in (True, False):
        search = CountingSearch()
        inner = with_prefetch(created(model(thinks("alpha"), DONE), [search.tool]), ["search"])

        def call_inner(state: MessagesState, config: Any, *, _on: bool = passes_config, _agent: Any = inner) -> Any:
            return _agent.invoke(state, config) if _on else _agent.invoke(state)

        outer = StateGraph(MessagesState)
        outer.add_node("agent", RunnableLambda(call_inner))
        outer.add_edge(START, "agent")
        list(outer.compile().stream(GO, stream_mode="messages"))
        assert prefetcher_of(inner).report().served_reasoning == 1, passes_config


CALL: Any = {"name": "search", "args": {"query": "alpha"}, "id": "c", "type": "tool_call"}


class Server:
    """Stands for the client of a server on which a graph runs: it answers with the graph's state, whole."""

    def __init__(self, message: AIMessage) -> None:
        self.runs, self._message = self, message

    def stream(self, **_: Any) -> Iterator[StreamPart]:
        yield StreamPart("values", {"messages": [self._message.model_dump()]})


def test_agent_behind_a_remote_graph() -> None:
    """A model that answers from afar streams no tokens here: the run is right and is reported idle (23)."""
    search = CountingSearch()
    graph = StateGraph(MessagesState)
    graph.add_node("model", RemoteGraph("model", sync_client=Server(AIMessage("", tool_calls=[CALL]))))  # type: ignore[arg-type]
    graph.add_node("tools", ToolNode([search.tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    wrapped: Any = with_prefetch(graph.compile(), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["5 passages about alpha"]
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.served, report.search_calls) == (0, 0, 1)
