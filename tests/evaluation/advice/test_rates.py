"""Intervals of rates and means over runs, against scipy, a worked example, and draws of whole runs."""

import random

import pytest
from scipy import stats

from langgraph_prefetch.evaluation.advice.rates import per_call, share, student


@pytest.mark.parametrize("degrees", [4, 5, 9, 30, 400])
def test_students_quantile(degrees: int) -> None:
    """The expansion is within 1 % of the quantile from four degrees on."""
    assert student(0.95, degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=0.01)


def test_runs_of_one_call_are_independent_calls() -> None:
    """A call a run: the interval of Clopper and Pearson, as scipy has it, for a call less or so."""
    found = share([(1.0, 1.0)] * 30 + [(0.0, 1.0)] * 20)
    exact = stats.binomtest(30, 50).proportion_ci(method="exact")
    assert found.value == 0.6
    assert found.interval is not None
    assert found.interval.low == pytest.approx(exact.low, abs=0.01)
    assert found.interval.high == pytest.approx(exact.high, abs=0.01)


def test_calls_of_one_run_that_are_alike_count_as_one() -> None:
    """Ten runs of a hundred equal calls know as much as ten calls, not a thousand."""
    alike = share([(100.0, 100.0)] * 5 + [(0.0, 100.0)] * 5).interval
    mixed = share([(50.0, 100.0)] * 10).interval
    assert alike is not None
    assert mixed is not None
    assert alike.high - alike.low > 0.5
    assert mixed.high - mixed.low > 0.5  # all runs agree: the runs are the observations


def test_many_calls_are_as_scipy_has_them() -> None:
    """Beyond a few hundred the score interval takes over, without a step."""
    for size in (400, 401, 1_000):
        hits = size // 4
        found = share([(1.0, 1.0)] * hits + [(0.0, 1.0)] * (size - hits)).interval
        exact = stats.binomtest(hits, size).proportion_ci(method="exact")
        assert found is not None
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.005)


@pytest.mark.parametrize("runs", [[], [(0.0, 0.0)], [(1.0, 2.0)]])
def test_nothing_and_one_run_have_no_interval(runs: list[tuple[float, float]]) -> None:
    """What cannot be said is not said, and there is a note."""
    for found in (share(runs), per_call(runs)):
        assert found.interval is None
        assert found.note


def test_a_mean_per_call_is_a_t_interval_where_runs_are_equal_in_size() -> None:
    """With a call a run the ratio is a mean, and its interval Student's."""
    values = [0.3, 0.5, 0.1, 0.9, 0.4, 0.6, 0.2, 0.5]
    found = per_call([(value, 1.0) for value in values])
    low, high = stats.t.interval(0.95, len(values) - 1, loc=sum(values) / len(values), scale=stats.sem(values))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), rel=0.01)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Runs that differ in how readable their queries are: the true rate is inside in about 95 of 100 samples."""
    chance = random.Random(7)
    inside = 0
    for _ in range(300):
        runs = []
        for _ in range(25):
            rate, calls = chance.betavariate(2, 2), chance.randint(1, 6)
            runs.append((float(sum(chance.random() < rate for _ in range(calls))), float(calls)))
        interval = share(runs).interval
        assert interval is not None
        inside += interval.low <= 0.5 <= interval.high
    assert inside >= 0.93 * 300
