"""What a resizer learns of times and ways, from how much, and how much better a plan must be."""

from dataclasses import replace

import pytest

from langgraph_prefetch.events import RunEnded, StageVisited
from langgraph_prefetch.serving.flow import END, START, Flow, FlowValues, ServiceTime
from langgraph_prefetch.serving.planning import Resizer
from langgraph_prefetch.serving.planning.rerouting import Counted, rerouted
from tests.serving.planning.flows import corrective, flow, stage
from tests.serving.planning.test_resizer import BUDGET, pressure, pressures, probability


def visited(name: str, seconds: float) -> StageVisited:
    return StageVisited(at=1.0, request_id="r", stage=name, visit=1, waited_seconds=0.0, service_seconds=seconds)


def service(planned: FlowValues, name: str) -> ServiceTime | None:
    return next(each.service for each in planned.stages if each.name == name)


def branching() -> Flow:
    """Half of the requests of a go on to b, half of those of b to c, and nobody to the one that was never measured."""
    varied = replace(stage("b", 0.3), service=ServiceTime(mean=0.3, variation=0.5))
    return flow(
        (stage("a", 0.1), varied, stage("c", 0.2), stage("never", None)),
        (START, "a", 1.0),
        *(("a", "b", 0.5), ("a", END, 0.5), ("a", "never", 0.0)),
        *(("b", "c", 0.5), ("b", END, 0.5), ("c", END, 1.0), ("never", END, 1.0)),
    )


@pytest.mark.parametrize(("visits", "mean"), [(1, 0.32), (10, 0.5), (30, 0.9), (60, 0.9)])
def test_few_visits_count_beside_what_was_known_and_many_alone(visits: int, mean: float) -> None:
    """By their share of ``min_served``, once: 0.3 s was known, and they took 0.9 s. How times vary stays as it was."""
    resizer = Resizer(branching(), BUDGET, min_served=30)
    for _ in range(visits):
        resizer(visited("b", 0.9))
    for now in (10.0, 20.0):
        resizer.sizes([], now)
        found = service(resizer.plan.flow, "b")
        assert found is not None
        assert found.mean == pytest.approx(mean)
        assert found.variation == 0.5
        assert service(resizer.plan.flow, "a") == ServiceTime(mean=0.1)


def test_the_first_time_of_a_stage_that_was_never_measured_is_its_time() -> None:
    """There is nothing to weigh it against, and nothing is known of how it varies."""
    resizer = Resizer(branching(), BUDGET)
    resizer(visited("never", 0.7))
    resizer.sizes([], 10.0)
    assert service(resizer.plan.flow, "never") == ServiceTime(mean=0.7)


def test_other_events_and_times_of_a_clock_that_went_back_are_not_heard() -> None:
    """A visit that took no time at all is one."""
    resizer = Resizer(branching(), BUDGET, min_served=1)
    resizer(RunEnded(run_id="r", at=0.0, idle=False))
    resizer(visited("b", -5.0))
    resizer.sizes([], 10.0)
    assert service(resizer.plan.flow, "b") == ServiceTime(mean=0.3, variation=0.5)
    resizer(visited("b", 0.0))
    resizer.sizes([], 20.0)
    assert service(resizer.plan.flow, "b") == ServiceTime(mean=0.0, variation=0.5)


def test_ways_are_learned_from_so_many_visits_of_a_stage_that_decides() -> None:
    """Exactly so many, of the busiest of them; a stage with one way out decides nothing, however many it serves."""
    resizer = Resizer(branching(), BUDGET, min_served=100)
    resizer.sizes([pressure("a", 99, 99), pressure("b", 90, 9), pressure("c", 900, 900)], 10.0)
    assert probability(resizer.plan.flow, "a", "b") == 0.5
    resizer.sizes([pressure("a", 1, 1)], 20.0)
    assert probability(resizer.plan.flow, "a", "b") > 0.7


@pytest.mark.parametrize(("min_gain", "resized"), [(None, True), (0.1, True), (0.15, False), (0.0, True)])
def test_a_plan_is_taken_over_where_it_is_so_much_better(min_gain: float | None, resized: bool) -> None:
    """With a quarter that goes round in place of a fifth it is an eighth better; 5 % is enough if nothing is said."""
    resizer = (
        Resizer(corrective(0.2), BUDGET) if min_gain is None else Resizer(corrective(0.2), BUDGET, min_gain=min_gain)
    )
    assert bool(resizer.sizes(pressures(30_000, 0.25), 10.0)) is resized


def test_a_clock_that_stands_still_is_no_clock_that_went_back() -> None:
    """What was counted is planned for."""
    resizer = Resizer(corrective(0.2), BUDGET)
    assert resizer.sizes(pressures(400, 0.2), 10.0) == {}
    assert resizer.sizes(pressures(400, 0.7), 10.0) != {}


def counted(**served: int) -> dict[str, Counted]:
    return {name: Counted(arrived=each, served=each) for name, each in served.items()}


def test_who_was_served_and_came_nowhere_has_gone() -> None:
    """The way out counts nobody; it is what is left."""
    found = rerouted(branching(), counted(a=2_000, b=500))
    assert probability(found, "a", "b") == pytest.approx(0.25, abs=0.01)
    assert probability(found, "a", END) == pytest.approx(0.75, abs=0.01)


def test_where_counts_leave_a_choice_the_known_ways_are_kept() -> None:
    """Nobody counted where those of a went, nor those of b, whose way on is known by those who came."""
    assert probability(rerouted(branching(), counted(a=2_000)), "a", "b") == pytest.approx(0.5, abs=0.01)
    assert probability(rerouted(branching(), counted(a=2_000, c=700)), "b", "c") == 0.5


def test_requests_that_multiply_are_counted_as_they_leave() -> None:
    """Of each that a serves two leave, and one of them goes to b."""
    known = branching()
    doubled = replace(known, stages=(replace(known.stages[0], amplification=2.0), *known.stages[1:]))
    assert probability(rerouted(doubled, counted(a=1_000, b=1_000)), "a", "b") == pytest.approx(0.5, abs=0.01)


def test_ways_in_are_learned_like_all_others() -> None:
    """From who came, where both were counted; where one was, nothing is known of the other."""
    entered = flow(
        (stage("a", 0.1), stage("b", 0.1)), (START, "a", 0.5), (START, "b", 0.5), ("a", END, 1.0), ("b", END, 1.0)
    )
    assert probability(rerouted(entered, counted(a=3_000, b=1_000)), START, "a") == pytest.approx(0.75, abs=0.01)
    assert probability(rerouted(entered, counted(a=3_000)), START, "a") == pytest.approx(0.5, abs=0.01)
    assert probability(rerouted(entered, {}), START, "a") == 0.5
