"""Flows in simulated time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, FlowError, SimulationError
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.policies import EarliestDeadline, FirstCome, LeastSlack
from langgraph_prefetch.serving.simulator import Arrival, poisson, simulate
from langgraph_prefetch.serving.simulator.journeys import journey
from tests.serving.simulator.theory import single

FIXED = single(mean=1.0, variation=0.0)


def at(*times: float, **given: Any) -> tuple[Arrival, ...]:
    return tuple(Arrival(at=each, **given) for each in times)


def ends(result: Any) -> list[float]:
    return [each.finished_at for each in result.requests]


def test_a_small_case_by_hand() -> None:
    """Two replicas, three requests of one second."""
    result = simulate(FIXED, {"s": 2}, at(0.0, 0.5, 0.6), FirstCome(), deadline_seconds=1.2)
    assert ends(result) == pytest.approx([1.0, 1.5, 2.0])
    assert [each.late for each in result.requests] == [False, False, True]
    assert result.violations == pytest.approx(1 / 3)
    assert result.requests[2].waited_seconds == pytest.approx(0.4)
    (pool,) = result.pools
    assert pool.utilisation == pytest.approx(3 / 4)
    assert (result.percentile(0.5), result.percentile(1.0)) == pytest.approx((1.0, 1.4))


def test_the_same_seed_gives_the_same_result_and_every_policy_the_same_requests() -> None:
    """What is drawn depends on the request alone."""
    flow, arrivals = single(), poisson(0.8, 200, seed=3)
    first = simulate(flow, {"s": 1}, arrivals, FirstCome(), seed=1, deadline_seconds=3)
    assert simulate(flow, {"s": 1}, arrivals, FirstCome(), seed=1, deadline_seconds=3) == first
    other = simulate(flow, {"s": 1}, arrivals, LeastSlack(), seed=1, deadline_seconds=3)
    assert [e.service_seconds for e in other.requests] == [e.service_seconds for e in first.requests]
    assert ends(other) != ends(first)
    changed = simulate(flow, {"s": 1}, arrivals, FirstCome(), seed=2, deadline_seconds=3)
    assert [e.service_seconds for e in changed.requests] != [e.service_seconds for e in first.requests]


def test_hopeless_requests_are_overtaken_and_finish() -> None:
    """The one that cannot make it waits for those that can."""
    arrivals = (*at(0.0), *at(0.1, deadline_seconds=1.5), *at(0.2, deadline_seconds=2.8), *at(0.3, deadline_seconds=9))
    result = simulate(FIXED, {"s": 1}, arrivals, EarliestDeadline())
    assert ends(result) == pytest.approx([1.0, 4.0, 2.0, 3.0])
    assert [each.late for each in result.requests] == [False, True, False, False]


def test_speculation_goes_last_and_out_of_the_figures() -> None:
    """It is in the requests, and in what the pool did."""
    arrivals = (*at(0.0), *at(0.1, speculative=True), *at(0.2))
    result = simulate(FIXED, {"s": 1}, arrivals, deadline_seconds=2)
    assert ends(result) == pytest.approx([1.0, 3.0, 2.0])
    assert (len(result.demand), result.violations, result.pools[0].visits) == (2, 0.0, 3)


def test_a_full_queue_refuses_and_that_is_late() -> None:
    """It is told, and teaches nothing."""
    result = simulate(FIXED, {"s": 1}, at(0.0, 0.1, 0.2), deadline_seconds=9, max_waiting=1)
    assert [each.refused for each in result.requests] == [False, False, True]
    assert result.refused == 1
    assert result.violations == pytest.approx(1 / 3)


def test_a_sizing_resizes_after_the_cold_start() -> None:
    """The same object as live is asked, and new replicas take their time."""
    asked: list[tuple[float, int]] = []

    class Sizing:
        def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
            asked.append((now, pressures[0].waiting))
            return {"s": 2} if now < 3 else {"s": 1}

    flow = replace(FIXED, stages=(replace(FIXED.stages[0], cold_start_seconds=0.5),))
    result = simulate(flow, {"s": 1}, at(0, 0, 0, 0, 0, 4.2), FirstCome(), sizing=Sizing(), sizing_seconds=1.9)
    assert asked == [(1.9, 3), (3.8, 0)]
    assert ends(result) == pytest.approx([1.0, 2.0, 3.0, 3.4, 4.0, 5.2])
    assert result.pools[0].replicas == 1


def test_replicas_on_their_way_come_no_sooner_because_fewer_are_wanted() -> None:
    """Three were asked for, then two: the second is there when it has started. What nobody wants any more never is."""

    class Sizing:
        def __init__(self, *sizes: int) -> None:
            self.sizes_left = list(sizes)

        def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
            return {"s": self.sizes_left.pop(0) if len(self.sizes_left) > 1 else self.sizes_left[0]}

    flow = replace(FIXED, stages=(replace(FIXED.stages[0], cold_start_seconds=2.5),))
    for wanted, ended in (((3, 2), [1, 2, 3, 4, 4.5, 5]), ((3, 1), [1, 2, 3, 4, 5, 6])):
        result = simulate(flow, {"s": 1}, at(*[0] * 6), FirstCome(), sizing=Sizing(*wanted), sizing_seconds=1.0)
        assert ends(result) == pytest.approx(ended)


def test_journeys_are_one_for_each_arrival_and_go_through_the_flow() -> None:
    """Rather than requests that are lost without a word."""
    one = journey(FIXED, 0)
    assert ends(simulate(FIXED, {"s": 1}, at(0, 5), journeys=[one, one])) == [1.0, 6.0]
    with pytest.raises(SimulationError, match="1 journeys for 2 arrivals"):
        simulate(FIXED, {"s": 1}, at(0, 5), journeys=[one])
    lost = replace(one, steps=(replace(one.steps[0], stage="t"),))
    with pytest.raises(SimulationError, match="journey 1 goes to 't'"):
        simulate(FIXED, {"s": 1}, at(0, 5), journeys=[one, lost])


def test_stages_that_share_replicas_wait_for_each_other() -> None:
    """Two prompts of one model."""
    flow = FlowValues(
        name="shared",
        stages=(
            Stage(name="grade", resources={}, service=ServiceTime(mean=1.0)),
            Stage(name="write", resources={}, service=ServiceTime(mean=1.0)),
        ),
        edges=(
            Edge(source=START, target="grade", probability=1),
            Edge(source="grade", target="write", probability=1),
            Edge(source="write", target=END, probability=1),
        ),
    )
    apart = simulate(flow, {"grade": 1, "write": 1}, at(0, 0), FirstCome())
    together = simulate(flow, {"model": 1}, at(0, 0), FirstCome(), shared={"model": ("grade", "write")})
    assert ends(apart) == pytest.approx([2.0, 3.0])
    assert ends(together) == pytest.approx([3.0, 4.0])
    with pytest.raises(SimulationError, match="'wrte' is no stage"):
        simulate(flow, {"model": 1}, at(0), shared={"model": ("grade", "wrte")})


def test_warming_up_is_left_out() -> None:
    """Of the figures, not of the simulation."""
    result = simulate(FIXED, {"s": 1}, at(0, 1, 2), warm_up_seconds=1.5)
    assert [each.number for each in result.requests] == [2]


def test_an_edge_never_taken_needs_no_measurements() -> None:
    """Nor does it need replicas."""
    never = Edge(source="s", target="never", probability=0.0)
    flow = replace(FIXED, stages=(*FIXED.stages, Stage(name="never", resources={})), edges=(*FIXED.edges, never))
    assert ends(simulate(flow, {"s": 1}, at(0.0))) == [1.0]


def stages(*edges: tuple[str, str, float], **services: float | None) -> FlowValues:
    return FlowValues(
        name="bad",
        stages=tuple(
            Stage(name=name, resources={}, service=None if mean is None else ServiceTime(mean=mean))
            for name, mean in services.items()
        ),
        edges=tuple(Edge(source=source, target=target, probability=p) for source, target, p in edges),
    )


@pytest.mark.parametrize(
    ("flow", "error", "message"),
    [
        (stages((START, "a", 1), ("a", END, 0.9), a=1.0), FlowError, "add up to 0.9"),
        (stages((START, "b", 1), ("a", END, 1), a=1.0), FlowError, "'b', no stage"),
        (stages((START, "a", 1), ("a", END, 1), a=None), SimulationError, "'a' has no measurements"),
        (stages((START, "a", 1), ("a", "a", 1), a=1.0), ConfigurationError, "way out"),
        (stages((START, "a", 1), ("a", END, 1), a=-1.0), FlowError, "-1"),
        (stages(), FlowError, "no stages"),
    ],
)
def test_flows_that_cannot_be_simulated(flow: FlowValues, error: type[Exception], message: str) -> None:
    """The message names what is wrong."""
    with pytest.raises(error, match=message):
        simulate(flow, {"a": 1}, at(0.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plan": {"s": 0}}, "gives 's' no replica"),
        ({"plan": {}}, "gives 's' no replica"),
        ({"plan": {"s": 1, "t": 1}}, "'t', no pool"),
        ({"arrivals": ()}, "no arrivals"),
        ({"arrivals": at(-1.0)}, "times start at 0"),
        ({"arrivals": at(inf)}, "times start at 0"),
        ({"arrivals": at(0.0, deadline_seconds=-2.0)}, "over before it begins"),
        ({"deadline_seconds": 0.0}, "over before it begins"),
        ({"deadline_seconds": nan}, "over before it begins"),
        ({"sizing_seconds": 0.0}, "sizing_seconds"),
        ({"warm_up_seconds": -1.0}, "warm_up_seconds"),
        ({"warm_up_seconds": nan}, "warm_up_seconds"),
    ],
)
def test_what_else_cannot_be_simulated(options: dict[str, Any], message: str) -> None:
    """Plans, arrivals and deadlines."""
    given: dict[str, Any] = {"plan": {"s": 1}, "arrivals": at(0.0), **options}
    with pytest.raises(SimulationError, match=message):
        simulate(FIXED, given.pop("plan"), given.pop("arrivals"), **given)
