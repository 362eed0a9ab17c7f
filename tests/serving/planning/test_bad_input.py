"""What cannot be planned is refused, with what to do about it."""

from collections.abc import Mapping
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, FlowError, InfeasibleBudgetError
from langgraph_prefetch.serving.flow import END, START, Flow, Placement
from langgraph_prefetch.serving.planning import parse_budget, plan
from tests.serving.planning.flows import chain, corrective, flow, stage


def test_an_infeasible_budget_names_the_minimum_that_breaks_it() -> None:
    """In the order of the flow, with what all of them need."""
    stages = chain(stage("a", 1.0, min_replicas=3), stage("b", 1.0, {"cpu": 2}, min_replicas=2), stage("c", 1.0))
    with pytest.raises(
        InfeasibleBudgetError, match=r"cpu=6 .* need 8 \(a 3 × 1, b 2 × 2, c 1 × 1\): that of 'b'"
    ) as told:
        plan(stages, {"cpu": 6})
    assert (told.value.resource, told.value.needed, told.value.given) == ("cpu", 8, 6)


def test_a_budget_without_room_for_one_replica_each_is_infeasible() -> None:
    """Also where no minimum was declared: a stage that requests come to needs one."""
    with pytest.raises(InfeasibleBudgetError, match="that of 'generate' breaks it"):
        plan(corrective(), {"cpu": 3})


def test_minimums_that_fit_one_by_one_but_not_together_are_infeasible() -> None:
    """Two stages that could each go elsewhere, but not both."""
    there = (Placement(name="there", resources={"gpu": 1}, mean_seconds=1.0),)
    with pytest.raises(InfeasibleBudgetError, match="least replicas of all stages"):
        plan(chain(*(stage(name, 1.0, placements=there) for name in "abc")), {"cpu": 1, "gpu": 1})


def loop(again: float) -> Flow:
    return flow((stage("a", 0.1),), (START, "a", 1.0), ("a", "a", again), ("a", END, 1 - again))


@pytest.mark.parametrize(
    ("planned", "budget", "error", "says"),
    [
        (loop(1.0), {"cpu": 4}, ConfigurationError, "go round for ever"),
        (chain(stage("a", 0.1, amplification=2.0)), {"cpu": 4}, None, ""),
        (
            flow((stage("a", 0.1, amplification=2.0),), (START, "a", 1.0), ("a", "a", 0.5), ("a", END, 0.5)),
            {"cpu": 4},
            ConfigurationError,
            "multiply without end",
        ),
        (chain(stage("a", None)), {"cpu": 4}, FlowError, "'a', and it has no measurements.*service_seconds"),
        (chain(stage("a", 0.1, {"gpu": 1})), {"cpu": 4}, ConfigurationError, "'a' occupies 'gpu'.*add gpu=NUMBER"),
        (chain(stage("a", 0.1)), {}, ConfigurationError, "an empty budget"),
        (chain(stage("a", 0.1)), {"cpu": -1}, ConfigurationError, "-1 of 'cpu'"),
        (chain(stage("a", 0.1)), {"cpu": float("nan")}, ConfigurationError, "nan of 'cpu'"),
        (chain(stage("a", 0.1)), {"cpu": True}, ConfigurationError, "True of 'cpu'"),
        (chain(stage("a", 0.0)), {"cpu": 4}, ConfigurationError, "nothing limits its throughput"),
        (chain(stage("a", -0.1)), {"cpu": 4}, FlowError, r"service time of -0\.1"),
        (flow((stage("a", 0.1),), (START, "a", 1.0), ("a", END, 0.9)), {"cpu": 4}, FlowError, r"add up to 0\.9"),
    ],
)
def test_each_is_named(planned: Flow, budget: Mapping[str, Any], error: type[Exception] | None, says: str) -> None:
    """The message names the stage, edge or resource."""
    if error is None:
        assert plan(planned, budget).throughput > 0
        return
    with pytest.raises(error, match=says):
        plan(planned, budget)


def test_a_budget_is_read_from_words() -> None:
    """As on the command line."""
    assert parse_budget(["cpu=16", "gpu=0.5,nic=2"]) == {"cpu": 16, "gpu": 0.5, "nic": 2}
    assert parse_budget(["cpu=0"]) == {"cpu": 0}
    for wrong, says in (
        (["cpu"], "NAME=NUMBER"),
        (["cpu=x"], "NAME=NUMBER"),
        (["=3"], "no name in '=3'"),
        (["cpu=1", "cpu=2"], "names 'cpu' twice"),
        (["cpu=-1"], "0 or more"),
        ([], "an empty budget"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            parse_budget(wrong)
