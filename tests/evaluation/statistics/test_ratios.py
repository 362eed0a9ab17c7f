"""Ratios."""

import math

import numpy as np
import pytest
from scipy import stats

from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio, median_ratio, ratio_between

FIRST = [2.0, 4.0, 8.0, 1.0]
SECOND = [1.0, 4.0, 2.0, 0.5]


def test_a_worked_example() -> None:
    """Ratios 1/2, 1, 1/4, 1/2: geometric mean 16^(-1/4) = 1/2, median 1/2; t on the logs by hand."""
    found = geometric_mean_ratio(FIRST, SECOND)
    assert found.value == pytest.approx(0.5)
    assert median_ratio(FIRST, SECOND).value == pytest.approx(0.5)
    # The logs to base 2 are -1, 0, -2, -1: standard deviation sqrt(2/3), t(3) = 3.182.
    half = 3.182446 * math.sqrt(2 / 3) / 2
    assert found.interval is not None
    assert math.log2(found.interval.low) == pytest.approx(-1 - half, abs=1e-5)
    assert math.log2(found.interval.high) == pytest.approx(-1 + half, abs=1e-5)


def test_against_scipy() -> None:
    """The log-t interval is scipy's interval of the paired t-test on logs; the bootstrap's is near it."""
    chance = np.random.default_rng(8)
    first = chance.lognormal(size=60)
    second = first * 0.9 * chance.lognormal(sigma=0.2, size=60)
    want = stats.ttest_1samp(np.log(second / first), 0).confidence_interval()
    found = geometric_mean_ratio(first.tolist(), second.tolist())
    by_bootstrap = geometric_mean_ratio(first.tolist(), second.tolist(), method="bootstrap")
    assert found.value == pytest.approx(stats.gmean(second / first))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((math.exp(want.low), math.exp(want.high)))
    assert by_bootstrap.interval is not None
    assert by_bootstrap.interval.low == pytest.approx(found.interval.low, rel=0.02)
    assert by_bootstrap.interval.high == pytest.approx(found.interval.high, rel=0.02)


def test_between_different_runs_against_scipy() -> None:
    """Welch's t on logs, exponentiated."""
    chance = np.random.default_rng(9)
    first, second = chance.lognormal(size=30), 1.5 * chance.lognormal(sigma=0.4, size=45)
    want = stats.ttest_ind(np.log(second), np.log(first), equal_var=False)
    found = ratio_between(first.tolist(), second.tolist())
    assert (found.statistic, found.p_value) == pytest.approx((float(want.statistic), float(want.pvalue)))
    assert found.effect is not None
    assert found.effect.interval is not None
    assert found.effect.interval.low == pytest.approx(math.exp(want.confidence_interval().low))
    assert found.n == (30, 45)


def test_swapping_the_samples_inverts_the_ratio() -> None:
    """Twice as long one way is half as long the other way, interval and all."""
    there, back = geometric_mean_ratio(FIRST, SECOND), geometric_mean_ratio(SECOND, FIRST)
    assert there.value is not None
    assert back.value == pytest.approx(1 / there.value)
    assert there.interval is not None
    assert back.interval is not None
    assert back.interval.low == pytest.approx(1 / there.interval.high)


def test_where_there_is_no_interval() -> None:
    """No pair, one pair, equal ratios: nothing is made up."""
    assert geometric_mean_ratio([], []).value is None
    assert median_ratio([], []).value is None
    one = geometric_mean_ratio([2.0], [1.0])
    assert (one.value, one.interval) == (0.5, None)
    assert one.note == "one pair alone gives no interval: ask at least two questions"
    equal = geometric_mean_ratio([2.0, 4.0], [1.0, 2.0])
    assert (equal.value, equal.interval) == (0.5, None)
    assert ratio_between([], [1.0]).p_value is None
    assert ratio_between([1.0], [1.0, 2.0]).p_value is None
    flat = ratio_between([1.0, 1.0], [2.0, 2.0])
    assert flat.effect is not None
    assert (flat.effect.value, flat.p_value) == (2.0, None)
