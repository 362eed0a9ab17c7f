"""Requests that return to the replica which served them first, by hand."""

from dataclasses import replace
from typing import Any

import pytest

from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.policies import FirstCome
from langgraph_prefetch.serving.simulator import Arrival, Journey, simulate
from langgraph_prefetch.serving.simulator.journeys import Step

LOOP = FlowValues(
    name="loop",
    stages=(
        Stage(name="chat", resources={}, service=ServiceTime(mean=1.0), stateful=True),
        Stage(name="tool", resources={}, service=ServiceTime(mean=1.0)),
    ),
    edges=(
        Edge(source=START, target="chat", probability=1),
        Edge(source="chat", target="tool", probability=0.5),
        Edge(source="chat", target=END, probability=0.5),
        Edge(source="tool", target="chat", probability=1),
    ),
)


def journey(*steps: tuple[str, float]) -> Journey:
    return Journey(
        first=(0,),
        steps=tuple(
            Step(stage=stage, seconds=seconds, then=(place + 1,) if place + 1 < len(steps) else ())
            for place, (stage, seconds) in enumerate(steps)
        ),
    )


def ends(flow: FlowValues, *arrivals: tuple[float, Journey]) -> list[float]:
    result: Any = simulate(
        flow,
        {"chat": 2, "tool": 4},
        [Arrival(at=at) for at, _ in arrivals],
        FirstCome(),
        journeys=[each for _, each in arrivals],
    )
    return [each.finished_at for each in result.requests]


def test_a_request_waits_for_its_own_replica_while_another_is_free() -> None:
    """Its state is there; a stage without state serves it wherever there is room."""
    arrivals = (
        (0.0, journey(("chat", 1), ("tool", 1), ("chat", 1))),
        (0.5, journey(("chat", 5))),
        (1.2, journey(("chat", 5))),
    )
    assert ends(LOOP, *arrivals) == pytest.approx([7.2, 5.5, 6.2])
    stateless = replace(LOOP, stages=tuple(replace(each, stateful=False) for each in LOOP.stages))
    assert ends(stateless, *arrivals) == pytest.approx([6.5, 5.5, 6.2])


def test_a_newcomer_leaves_the_replica_free_that_somebody_is_expected_back_at() -> None:
    """Predicted returns count as load: the second replica, with nobody to come back, takes the newcomer."""
    arrivals = (
        (0.0, journey(("chat", 1), ("tool", 1), ("chat", 1))),
        (0.0, journey(("chat", 1))),
        (1.5, journey(("chat", 3))),
    )
    assert ends(LOOP, *arrivals) == pytest.approx([3.0, 1.0, 4.5])
