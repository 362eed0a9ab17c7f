"""Visits of real graphs: every node that ran is told of once, and the run is left as it is."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from langgraph_prefetch.events import Event, StageVisited
from langgraph_prefetch.observe.recording import Recording
from langgraph_prefetch.serving.flow import VisitRecorder
from langgraph_prefetch.serving.flow.recorder import MAX_OPEN
from tests.serving.flow.graphs import State, corrective, fanned_out, node


class Ticking:
    """A clock that goes on by one second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def visits(events: Recording) -> list[StageVisited]:
    return [each for each in events.events if isinstance(each, StageVisited)]


def test_each_node_is_a_visit_with_its_round_and_time() -> None:
    """What ran, in which round and how long, by the recorder's clock."""
    events = Recording()
    recorder = VisitRecorder(events, clock=Ticking())
    corrective().invoke({"ways": ["rewrite", "generate"]}, {"callbacks": [recorder]})
    found = visits(events)
    assert [each.stage for each in found] == ["retrieve", "grade", "rewrite", "retrieve", "grade", "generate"]
    assert [each.round for each in found] == [1, 2, 3, 4, 5, 6]
    assert [each.visit for each in found] == [1, 2, 3, 4, 5, 6]
    assert {each.service_seconds for each in found} == {1.0}
    assert len({each.request_id for each in found}) == 1


async def test_runs_side_by_side_are_requests_of_their_own() -> None:
    """One recorder hears any number of runs, async ones and branches that run at the same time."""
    events = Recording()
    recorder = VisitRecorder(events)
    graph = fanned_out(3)
    await asyncio.gather(*(graph.ainvoke({"done": []}, {"callbacks": [recorder]}) for _ in range(4)))
    requests: dict[str, list[str]] = {}
    for each in visits(events):
        requests.setdefault(each.request_id, []).append(each.stage)
    assert len(requests) == 4
    assert all(sorted(each) == ["join", "map", "other", "work", "work", "work"] for each in requests.values())


def test_a_graph_within_a_node_is_part_of_it() -> None:
    """A subgraph's nodes are not told of; neither is what runs around a graph."""
    inner = corrective()
    graph = StateGraph(State)
    graph.add_node("first", node("first"))
    graph.add_node("sub", lambda state: inner.invoke({"ways": ["generate"]}))
    graph.add_edge(START, "first")
    graph.add_edge("first", "sub")
    events = Recording()
    chain = RunnableLambda(lambda state: state) | graph.compile()
    chain.invoke({"done": []}, {"callbacks": [VisitRecorder(events)]})
    assert [each.stage for each in visits(events)] == ["first", "sub"]


def test_attempts_that_fail_are_visits() -> None:
    """Their time is load like any other's."""
    tries = iter([ValueError("no"), None])

    def shaky(state: State) -> State:
        error = next(tries)
        if error is not None:
            raise error
        return {"done": ["shaky"]}

    graph = StateGraph(State)
    graph.add_node("shaky", shaky, retry_policy=RetryPolicy(max_attempts=2, initial_interval=0.0, retry_on=ValueError))
    graph.add_edge(START, "shaky")
    events = Recording()
    graph.compile().invoke({"done": []}, {"callbacks": [VisitRecorder(events)]})
    assert [(each.stage, each.failed) for each in visits(events)] == [("shaky", True), ("shaky", False)]


def test_a_pause_is_no_visit() -> None:
    """A node that interrupts has not served; the run that resumes it tells of it."""

    def ask(state: State) -> State:
        return {"done": [interrupt("well?")]}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    compiled = graph.compile(checkpointer=InMemorySaver())
    events = Recording()
    config: Any = {"callbacks": [VisitRecorder(events)], "configurable": {"thread_id": "t"}}
    compiled.invoke({"done": []}, config)
    assert visits(events) == []
    compiled.invoke(Command(resume="yes"), config)
    assert [each.stage for each in visits(events)] == ["ask"]


def test_a_sink_that_raises_harms_no_run() -> None:
    """It is dropped, and the graph answers as without it."""

    def broken(event: Event) -> None:
        raise OSError("disk full")

    answer = corrective().invoke({"ways": ["generate"]}, {"callbacks": [VisitRecorder(broken)]})
    assert answer["done"] == ["retrieve", "grade", "generate"]


def test_runs_that_never_end_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded whatever becomes of the runs."""
    recorder = VisitRecorder(Recording())
    for _ in range(MAX_OPEN + 5):
        root = uuid4()
        recorder.on_chain_start({}, {}, run_id=root, name="graph")
        recorder.on_chain_start({}, {}, run_id=uuid4(), parent_run_id=root, tags=["graph:step:1"], name="a")
    assert len(recorder._root) == len(recorder._open) == MAX_OPEN
