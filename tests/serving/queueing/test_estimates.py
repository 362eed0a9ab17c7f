"""How long a request still needs."""

from random import Random

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.estimates import Estimates, Visit
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.queueing.regression import predicted, unfitted, updated


def loop(back: float = 0.25, amplification: float = 1.0) -> FlowValues:
    """Search, then write, and with some probability once more."""
    return FlowValues(
        name="loop",
        stages=(
            Stage(name="search", resources={}, service=ServiceTime(mean=1.0), amplification=amplification),
            Stage(name="write", resources={}, service=ServiceTime(mean=2.0)),
        ),
        edges=(
            Edge(source=START, target="search", probability=1),
            Edge(source="search", target="write", probability=1),
            Edge(source="write", target="search", probability=back),
            Edge(source="write", target=END, probability=1 - back),
        ),
    )


def test_means_of_a_loop() -> None:
    """One lap takes 3 s, and there are 1 / (1 − 0.25) of them."""
    means = expected(loop())
    assert means.remaining_seconds == pytest.approx({"search": 4.0, "write": 3.0})
    assert means.visits == pytest.approx({"search": 4 / 3, "write": 4 / 3})
    assert means.returns == pytest.approx({"search": 0.25, "write": 0.25})


def test_means_with_amplification() -> None:
    """Each search makes two requests of one."""
    assert expected(loop(amplification=2.0)).visits == pytest.approx({"search": 2.0, "write": 4.0})


def test_a_loop_without_a_way_out_is_named() -> None:
    """Also one that multiplies its requests."""
    for endless in (loop(back=1.0), loop(back=0.6, amplification=2.0)):
        with pytest.raises(ConfigurationError, match=r"'loop'.*way out"):
            expected(endless)


def test_the_regression_finds_the_line() -> None:
    """From a wrong guess, with noise."""
    random, fitted = Random(1), unfitted((5.0, 0.0))
    for _ in range(500):
        x = random.uniform(0, 10)
        fitted = updated(fitted, (1.0, x), 2 + 3 * x + random.gauss(0, 0.1))
    assert fitted.weights == pytest.approx((2, 3), abs=0.05)
    assert fitted.observed == 500


def test_forgetting_follows_a_change_and_stays_bounded() -> None:
    """Half a thousand observations of the new world are enough, and a feature that never varies harms nobody."""
    fitted = unfitted((0.0, 0.0))
    for number in range(6_000):
        fitted = updated(fitted, (1.0, 0.0), 1.0 if number < 5_000 else 4.0, keep=0.99)
    assert predicted(fitted, (1.0, 0.0)) == pytest.approx(4.0, abs=0.01)
    assert all(abs(each) < 1e7 for row in fitted.covariance for each in row)


def test_what_is_no_number_teaches_nothing() -> None:
    """One broken measurement must not spoil all to come."""
    fitted = unfitted((1.0,))
    assert updated(fitted, (1.0,), float("nan")) is fitted
    assert updated(fitted, (float("inf"),), 1.0) is fitted


def test_before_anything_finished_the_flow_is_believed() -> None:
    """And a stage it does not know takes no time."""
    estimates = Estimates(loop())
    assert (estimates.remaining("search"), estimates.service("write", 5)) == pytest.approx((4.0, 2.0))
    assert (estimates.remaining("other"), Estimates().service("search")) == (0.0, 0.0)


def test_finished_requests_teach_what_remains() -> None:
    """From each of their visits to their end, by stage, visits so far and features."""
    random, estimates = Random(2), Estimates(loop(), features=1)
    for _ in range(2_000):
        size = random.uniform(1, 3)
        estimates.learn(
            [
                Visit(stage="search", visits=0, service_seconds=0.5),
                Visit(stage="write", visits=1, service_seconds=size),
            ],
            (size,),
        )
    assert estimates.remaining("search", 0, (2.0,)) == pytest.approx(2.5, abs=0.02)
    assert estimates.service("write", 1, (3.0,)) == pytest.approx(3.0, abs=0.02)
    assert estimates.remaining("write", 1, (-9.0,)) == 0.0


def test_a_clock_that_went_back_teaches_nothing() -> None:
    """A negative time makes the whole request be ignored."""
    estimates = Estimates(loop())
    estimates.learn([Visit(stage="search", visits=0, service_seconds=-3_600.0)])
    assert estimates.remaining("search") == pytest.approx(4.0)


def test_features_that_were_not_announced_are_named() -> None:
    """A regression needs the same number of them each time."""
    with pytest.raises(ConfigurationError, match="2 features where 0 were announced"):
        Estimates().remaining("search", 0, (1.0, 2.0))
    for wrong in ({"features": -1}, {"keep": 0.0}):
        with pytest.raises(ConfigurationError):
            Estimates(**wrong)
