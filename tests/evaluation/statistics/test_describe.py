"""Mean, median, quantiles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.evaluation.statistics.describe import least_for_quantile, mean, median, p95, quantile

# Efron & Tibshirani (1993), table 2.1: survival of treated mice, in days.
MICE = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0]
finite = st.floats(-1e6, 1e6)


def test_the_mice() -> None:
    """Efron & Tibshirani, table 2.1: mean 86.86 with a standard error of about 23 by the bootstrap, median 94."""
    found = mean(MICE)
    assert found.value == pytest.approx(86.857, abs=1e-3)
    assert found.interval is not None
    assert (found.interval.high - found.interval.low) / (2 * 1.96) == pytest.approx(23.4, rel=0.1)
    assert median(MICE).value == 94.0
    assert found.n == 7


def test_quantiles_are_those_of_definition_7() -> None:
    """Hyndman & Fan's definition 7: of 1 … 10 the 95th percentile is 9.55, as in R."""
    assert p95([float(each) for each in range(1, 11)]).value == pytest.approx(9.55)
    assert quantile([1.0, 2.0], 0.25).value == pytest.approx(1.25)


def test_the_interval_is_scipys() -> None:
    """The mean's is BCa, the quantiles' the percentile interval, of so many resamples of that seed."""
    values = np.random.default_rng(5).lognormal(size=40)
    for found, of, method in ((mean, np.mean, "BCa"), (median, np.median, "percentile")):
        want = stats.bootstrap(
            (values,), of, method=method, n_resamples=9_999, rng=np.random.default_rng(3)
        ).confidence_interval
        interval = found(values.tolist(), seed=3).interval
        assert interval is not None
        assert interval.low == pytest.approx(float(want.low), rel=0.02)
        assert interval.high == pytest.approx(float(want.high), rel=0.02)


def test_the_same_seed_gives_the_same_interval() -> None:
    """A report made twice says the same; another seed says something else."""
    assert mean(MICE, seed=1) == mean(MICE, seed=1) != mean(MICE, seed=2)


def test_a_long_sample_is_resampled_in_pieces() -> None:
    """Memory stays bounded, however many observations there are."""
    found = mean(np.random.default_rng(1).normal(size=50_000).tolist(), resamples=199)
    assert found.interval is not None
    assert found.interval.low < 0.02
    assert found.interval.high > -0.02
    assert "more than 2000" in found.note


@pytest.mark.parametrize(("at", "n"), [(0.5, 6), (0.95, 72)])
def test_how_many_a_quantile_takes(at: float, n: int) -> None:
    """The largest lies above the quantile in all but at^n of samples: the note comes exactly below that number."""
    assert least_for_quantile(at) == n
    assert at**n <= 0.025 < at ** (n - 1)
    assert "too short" in quantile(np.arange(float(n - 1)).tolist(), at).note
    assert quantile(np.arange(float(n)).tolist(), at).note == ""


def test_where_there_is_no_estimate_or_no_interval() -> None:
    """Nothing, one, and all equal: no number is made up, and the note says why."""
    for of in (mean, median, p95):
        assert of([]).value is None
        assert of([]).note == "no observations"
        assert (of([2.0]).value, of([2.0]).interval) == (2.0, None)
        assert "one observation" in of([2.0]).note
        same = of([3.0] * 9)
        assert (same.value, same.interval, same.n) == (3.0, None, 9)
        assert "all observations are equal" in same.note


def test_percentile_where_bca_is_not_defined() -> None:
    """Where every resample lies on one side of the estimate BCa has no answer; the fallback says so."""
    values = np.array([0.0, 1.0])
    from langgraph_prefetch.evaluation.statistics.bootstrap import bootstrap

    def least(rows: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.zeros(np.shape(rows)[:-1]) if np.ndim(rows) > 1 else np.float64(0.0)  # type: ignore[return-value]

    interval, note = bootstrap(values, least)
    assert interval is not None
    assert note == "percentile interval: BCa is not defined here"


@settings(max_examples=50, deadline=None)
@given(st.lists(finite, min_size=2, max_size=30))
def test_estimates_lie_within_the_data(values: list[float]) -> None:
    """No estimate and no end of an interval lies outside what was seen."""
    for of in (mean, median, p95):
        found = of(values, resamples=99)
        slack = 1e-9 * max(map(abs, values), default=0.0) + 1e-12
        ends = [found.value] + ([found.interval.low, found.interval.high] if found.interval else [])
        assert all(each is not None and math.isfinite(each) for each in ends)
        assert all(min(values) - slack <= each <= max(values) + slack for each in ends if each is not None)
