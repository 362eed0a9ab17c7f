"""A flow out of a compiled graph and its recorded runs."""

from typing import Any

import pytest

from langgraph_prefetch.errors import FlowError
from langgraph_prefetch.observe.recording import Recording
from langgraph_prefetch.serving.flow import END, START, Flow, StageConstraints, VisitRecorder, stage
from tests.serving.flow.graphs import State, corrective, fanned_out
from tests.serving.flow.test_visits import visit


def recorded(graph: Any, *inputs: State) -> Recording:
    events = Recording()
    for each in inputs:
        graph.invoke(each, {"callbacks": [VisitRecorder(events)]})
    return events


def probabilities(flow: Flow) -> dict[tuple[str, str], float]:
    return {(each.source, each.target): each.probability for each in flow.edges}


RUNS: tuple[State, ...] = (
    {"ways": ["generate"]},
    {"ways": ["generate"]},
    {"ways": ["rewrite", "generate"]},
)


def test_routes_are_measured_loops_included() -> None:
    """Probabilities are shares of what was seen; an edge never taken has 0, and the flow says so."""
    graph = corrective()
    flow = Flow.from_graph(graph, recorded(graph, *RUNS).events)
    found = probabilities(flow)
    assert found["grade", "generate"] == pytest.approx(3 / 4)
    assert found["grade", "rewrite"] == pytest.approx(1 / 4)
    assert found["rewrite", "retrieve"] == found[START, "retrieve"] == found["generate", END] == 1
    assert found["grade", "apologise"] == 0
    assert flow.stage("retrieve").visits == 4
    assert flow.stage("apologise").service is None
    assert any("grade → apologise was never taken in 4" in each for each in flow.notes)
    assert any("never visited: apologise" in each for each in flow.notes)
    conditional = {(each.source, each.target) for each in flow.edges if each.conditional}
    assert conditional == {("grade", "generate"), ("grade", "rewrite"), ("grade", "apologise")}


def test_smoothing_gives_edges_never_taken_a_share() -> None:
    """Laplace's rule: one visit more for each edge, and they still add up to 1."""
    graph = corrective()
    found = probabilities(Flow.from_graph(graph, recorded(graph, *RUNS).events, smoothing=1))
    assert found["grade", "apologise"] == pytest.approx(1 / 7)
    assert found["grade", "generate"] == pytest.approx(4 / 7)
    with pytest.raises(FlowError, match="smoothing is -1"):
        Flow.from_graph(graph, recorded(graph, *RUNS).events, smoothing=-1)


def test_fan_out_joins_and_several_entries_keep_the_count() -> None:
    """γ is the moves out of a visit: copies at the map, a third each at the join, two at the entry."""
    graph = fanned_out(3)
    flow = Flow.from_graph(graph, recorded(graph, {"done": []}, {"done": []}).events)
    assert flow.stage("map").amplification == pytest.approx(3)
    assert flow.stage("work").amplification == pytest.approx(1 / 3)
    assert flow.stage("__fork__").amplification == 2
    assert probabilities(flow)["__fork__", "map"] == 0.5
    assert flow.stage("join").visits == 2


def test_constraints_are_read_from_the_node_and_from_the_caller() -> None:
    """What is declared on a node's function counts; what the caller says comes before it."""

    @stage(resources={"gpu": 0.5}, stateful=True, min_instances=2, concurrency=4, price_per_visit=0.01)
    def grade(state: State) -> State:
        return {"done": ["grade"]}

    graph = corrective(grade)
    events = recorded(graph, *RUNS).events
    found = Flow.from_graph(graph, events).stage("grade")
    assert (found.resources, found.stateful, found.min_replicas, found.concurrency) == ({"gpu": 0.5}, True, 2, 4)
    assert found.price_per_visit == 0.01
    assert found.rate == pytest.approx(4 / found.service.mean if found.service else 0)
    said = {"grade": StageConstraints(resources={"cpu": 3})}
    assert Flow.from_graph(graph, events, constraints=said).stage("grade").resources == {"cpu": 3}
    assert Flow.from_graph(graph, events, constraints=said).stage("rewrite").resources == {"cpu": 1}


def test_a_first_visit_that_stands_out_is_the_cold_start() -> None:
    """It is no part of the service time; one that is declared is taken as it is."""
    events = [visit("a", 1, request_id=str(n), service_seconds=5.0 if n == 0 else 0.5) for n in range(20)]
    found = Flow.from_events(events).stage("a")
    assert found.cold_start_seconds == pytest.approx(4.5)
    assert found.service is not None
    assert (found.service.mean, found.service.variation) == (0.5, 0.0)
    given = Flow.from_events(events, constraints={"a": StageConstraints(cold_start_seconds=2.0)})
    assert given.stage("a").cold_start_seconds == 2.0


def test_stages_outside_a_graph_are_declared_and_measured() -> None:
    """Every move that was seen is an edge; a declared stage nobody visited is there, with its declared time."""

    @stage(resources={"gpu": 1}, service_seconds=0.2)
    def rerank() -> None: ...

    flow = Flow.from_events([visit("search", 1), visit("answer", 2)], stages=[rerank], name="mine")
    assert probabilities(flow)["search", "answer"] == 1
    assert flow.stage("rerank").service is not None
    assert flow.stage("rerank").resources == {"gpu": 1}
    with pytest.raises(FlowError, match="'visit' is not marked"):
        Flow.from_events([visit("search", 1)], stages=[visit])


def test_what_is_no_graph_or_was_not_recorded_is_said() -> None:
    """The message says what to do."""
    graph = corrective()
    with pytest.raises(FlowError, match=r"VisitRecorder"):
        Flow.from_graph(graph, [])
    with pytest.raises(FlowError, match=r"call compile\(\) first"):
        Flow.from_graph(graph.builder, [visit("grade", 1)])
    with pytest.raises(FlowError, match="'grad', which is no stage"):
        Flow.from_graph(graph, [visit("grade", 1)], constraints={"grad": StageConstraints()})


def test_a_resumed_run_enters_where_it_goes_on() -> None:
    """Its first node is an entry of the flow, whatever the graph says."""
    found = probabilities(
        Flow.from_graph(corrective(), [visit("generate", 1, 1), visit("retrieve", 1, 1, request_id="s")])
    )
    assert found[START, "generate"] == found[START, "retrieve"] == 0.5
