"""Flows are printed, drawn, stored and read back; what is no flow is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import FlowError
from langgraph_prefetch.serving.flow import (
    END,
    START,
    Edge,
    Flow,
    Placement,
    ServiceTime,
    Stage,
    StageConstraints,
    declared,
    stage,
)
from langgraph_prefetch.serving.flow.checks import check_flow

FLOW = Flow(
    name="small",
    stages=(
        Stage(
            name="find",
            resources={"cpu": 2},
            service=ServiceTime(mean=0.5, variation=0.1, samples=(0.4, 0.6)),
            placements=(Placement(name="large", resources={"cpu": 8}, mean_seconds=0.1),),
            visits=2,
        ),
        Stage(name='say "it"', resources={}, service=None, stateful=True),
    ),
    edges=(
        Edge(source=START, target="find", probability=1.0, taken=2),
        Edge(source="find", target='say "it"', probability=0.0, conditional=True),
        Edge(source="find", target=END, probability=1.0, taken=2, conditional=True),
        Edge(source='say "it"', target=END, probability=1.0),
    ),
    notes=("assumed",),
)


def test_a_flow_comes_back_as_it_was() -> None:
    """All of it, in both directions, and with a version."""
    assert Flow.from_json(FLOW.to_json()) == FLOW
    assert Flow.from_json(FLOW.to_json()).stages[0].resources == {"cpu": 2}
    assert FLOW.as_json()["version"] == 1


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40) | st.recursive(st.none() | st.integers() | st.text(max_size=3), st.lists).map(json.dumps))
def test_what_is_no_flow_is_refused(text: str) -> None:
    """Whatever it is, the error is ours."""
    with pytest.raises(FlowError):
        Flow.from_json(text)


def test_another_version_is_refused_and_unknown_keys_are_not() -> None:
    """A later release may add keys."""
    values = FLOW.as_json()
    values["stages"][0]["colour"] = "red"
    assert Flow.from_json(json.dumps(values)) == FLOW
    with pytest.raises(FlowError, match="version 2"):
        Flow.from_json(json.dumps({**values, "version": 2}))
    with pytest.raises(FlowError, match="not a flow"):
        Flow.from_json(json.dumps({**values, "edges": [{"source": 1}]}))


def test_it_prints_aligned_and_draws() -> None:
    """Columns line up; names are quoted for Mermaid; an edge never taken is not drawn."""
    lines = str(FLOW).splitlines()
    head = next(line for line in lines if line.startswith("stage"))
    row = next(line for line in lines if line.startswith("find "))
    assert head.index("seconds") + len("seconds") == row.index("0.5") + len("0.5")
    assert "cpu=2 | large: cpu=8" in str(FLOW)
    assert lines[-1] == "- assumed"
    drawn = FLOW.mermaid()
    assert drawn.startswith("flowchart LR\n")
    assert "say #34;it#34;" in drawn
    assert "s0 -.->|1.00| end_" in drawn
    assert "s0 -.->|0.00| s1" not in drawn


def changed(**fields: Any) -> Flow:
    return replace(FLOW, stages=(replace(FLOW.stages[0], **fields), FLOW.stages[1]))


def edged(*edges: tuple[str, str, float]) -> Flow:
    return replace(FLOW, edges=tuple(Edge(source=s, target=t, probability=p) for s, t, p in edges))


@pytest.mark.parametrize(
    ("flow", "says"),
    [
        (edged((START, "find", 1.0), ("find", END, 0.7)), r"from 'find' add up to 0\.7"),
        (edged((START, "find", 1.0)), "from 'find' add up to 0"),
        (edged((START, "find", 1.0), ("find", END, -0.2), ("find", "find", 1.2)), r"the probability -0\.2"),
        (edged((START, "fnd", 1.0)), "'fnd', no stage. Did you mean 'find'"),
        (changed(service=ServiceTime(mean=-1.0)), r"service time of -1\.0"),
        (changed(service=ServiceTime(mean=float("nan"))), "service time of nan"),
        (changed(amplification=-1.0), r"amplification of -1\.0"),
        (changed(resources={"cpu": -1}), "share of 'cpu' of -1"),
        (changed(concurrency=0), "serves 0 visits at once"),
        (changed(min_replicas=-1), "least number of replicas of -1"),
        (replace(FLOW, stages=()), "has no stages"),
        (replace(FLOW, stages=(FLOW.stages[0], FLOW.stages[0])), "is there twice"),
    ],
)
def test_what_does_not_add_up_is_named(flow: Flow, says: str) -> None:
    """The message names the stage or the edge."""
    with pytest.raises(FlowError, match=says):
        check_flow(flow)


def test_a_mark_leaves_the_function_as_it_is_and_is_found_in_wrappers() -> None:
    """On functions, classes and methods; through functools.wraps."""

    @stage(name="ranker", resources={"cpu": 1}, stateful=True)
    class Ranker:
        def __call__(self) -> int:
            return 1

    @stage()
    def plain(number: int) -> int:
        return number + 1

    assert plain(1) == 2
    assert Ranker()() == 1
    found, through = declared(Ranker), declared(Ranker())
    assert found is not None
    assert (found.name, found.constraints.stateful) == ("ranker", True)
    assert through == found
    assert declared(lambda: None) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"resources": {"cpu": 0}},
        {"min_instances": -1},
        {"concurrency": 0},
        {"service_seconds": -0.1},
        {"cold_start_seconds": float("inf")},
        {"placements": (Placement(name="l", resources={"cpu": -1}, mean_seconds=1.0),)},
    ],
)
def test_constraints_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    """At once, where they are written."""
    with pytest.raises(FlowError):
        StageConstraints(**fields)
    with pytest.raises(FlowError):
        stage(**fields)


def test_what_cannot_be_marked_is_said() -> None:
    """An object without a name, or without room for the mark."""
    with pytest.raises(FlowError, match="has no name"):
        stage()(3)
    with pytest.raises(FlowError, match="cannot be marked"):
        stage(name="x")(3)
