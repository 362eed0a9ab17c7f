"""Mann-Whitney and Cliff's delta."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.evaluation.statistics.two_samples import cliffs_delta, mann_whitney
from tests.evaluation.statistics.test_shifts import AT_TERM, EARLIER

# Macbeth, Razumiejczyk & Ledesma, *Cliff's Delta Calculator*, Universitas Psychologica 10 (2011), their example.
TREATED = [10.0, 10, 20, 20, 20, 30, 30, 30, 40, 50]
CONTROL = [10.0, 20, 30, 40, 40, 50]
some = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=12)


def test_the_chorioamnion() -> None:
    """Hollander & Wolfe, example 4.1: U = 15 of 50 for the earlier ones, one-sided 0.1272, so two-sided 0.2544."""
    found = mann_whitney(AT_TERM, EARLIER)
    assert found.statistic == 15
    assert found.p_value == pytest.approx(0.2544, abs=1e-4)
    assert found.effect is not None
    assert found.effect.value == pytest.approx(2 * 15 / 50 - 1)


def test_cliffs_delta_calculator() -> None:
    """Their example: delta -0.25, and from -0.7266 to 0.3890 with Student's t of 14 in place of the normal's 1.96."""
    level = 2 * stats.norm.cdf(stats.t.ppf(0.975, 14)) - 1
    found = cliffs_delta(CONTROL, TREATED, level=level)
    assert found.value == pytest.approx(-0.25)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.7265846, 0.3890062), abs=1e-6)


def test_against_scipy() -> None:
    """Exact where it can be, normal elsewhere; delta is 2U/(mn) - 1."""
    chance = np.random.default_rng(4)
    for m, n in ((6, 7), (40, 25)):
        first, second = chance.normal(size=m), chance.normal(0.5, size=n)
        want = stats.mannwhitneyu(second, first)
        found = mann_whitney(first.tolist(), second.tolist())
        assert (found.statistic, found.p_value) == pytest.approx((want.statistic, want.pvalue))
        assert found.effect is not None
        assert found.effect.value == pytest.approx(2 * want.statistic / (m * n) - 1)


@settings(max_examples=100, deadline=None)
@given(some, some)
def test_delta_is_the_count_of_pairs(first: list[float], second: list[float]) -> None:
    """Whatever the ties: larger pairs less smaller pairs; the other way round it has the other sign."""
    pairs = [(a, b) for a in first for b in second]
    want = (sum(b > a for a, b in pairs) - sum(b < a for a, b in pairs)) / len(pairs)
    there, back = cliffs_delta(first, second), cliffs_delta(second, first)
    assert there.value == pytest.approx(want)
    assert back.value == pytest.approx(-want)
    assert there.interval is not None
    assert back.interval is not None
    assert -1 <= there.interval.low <= want + 1e-12
    assert want - 1e-12 <= there.interval.high <= 1
    assert (there.interval.low, there.interval.high) == pytest.approx((-back.interval.high, -back.interval.low))


@settings(max_examples=30, deadline=None)
@given(some, some)
def test_the_variance_is_cliffs(first: list[float], second: list[float]) -> None:
    """Cliff (1993), equation 6, written out over the whole matrix of pairs."""
    d = np.sign(np.subtract.outer(second, first).T)
    delta, (m, n), z = d.mean(), d.shape, stats.norm.ppf(0.975)
    if abs(delta) == 1:
        return
    rows, columns = d.mean(axis=1) - delta, d.mean(axis=0) - delta
    variance = (n**2 * (rows**2).sum() + m**2 * (columns**2).sum() - ((d - delta) ** 2).sum()) / (
        m * n * (m - 1) * (n - 1)
    )
    variance = max(variance, (1 - delta**2) / (m * n - 1))
    half = z * np.sqrt(variance) * np.sqrt((1 - delta**2) ** 2 + z**2 * variance)
    found = cliffs_delta(first, second).interval
    assert found is not None
    low = (delta - delta**3 - half) / (1 - delta**2 + z**2 * variance)
    assert found.low == pytest.approx(max(-1.0, low), abs=1e-9)


def test_no_overlap_and_all_equal() -> None:
    """Complete separation is no certainty, and equal numbers are no difference."""
    apart = cliffs_delta([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0])
    assert apart.value == 1.0
    assert apart.interval is not None
    # Wilson's bound for 3 of 3: 3 / (3 + 1.96^2), as a difference of shares.
    assert apart.interval.low == pytest.approx(2 * 3 / (3 + 1.959964**2) - 1, abs=1e-6)
    assert apart.interval.high == 1.0
    assert apart.n == 7
    below = cliffs_delta([4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0])
    assert below.value == -1.0
    assert below.interval is not None
    assert (below.interval.low, below.interval.high) == (-1.0, -apart.interval.low)
    equal = mann_whitney([2.0] * 5, [2.0] * 5)
    assert (equal.p_value, equal.statistic, equal.note) == (1.0, 12.5, "all observations are equal")
    assert mann_whitney([], [1.0]).p_value is None
    assert cliffs_delta([1.0], [2.0, 3.0]).interval is None


def test_too_few_for_an_interval_are_counted_all_the_same() -> None:
    """One side without values has no delta; two sides of one value have one, and no interval."""
    for first, second in ([], [1.0, 2.0]), ([1.0, 2.0], []):
        found = cliffs_delta(first, second)
        assert (found.value, found.interval, found.n) == (None, None, 2)
    found = cliffs_delta([1.0], [2.0])
    assert (found.value, found.interval, found.n) == (1.0, None, 2)
