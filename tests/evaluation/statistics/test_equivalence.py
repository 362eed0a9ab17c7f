"""Two one-sided tests of means."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.equivalence import tost_paired, tost_unpaired
from langgraph_prefetch.evaluation.statistics.values import MarginTest

some = st.lists(st.floats(-3, 3), min_size=3, max_size=15)


def test_paired_against_scipy() -> None:
    """Each of the two is scipy's one-sided paired t-test of samples shifted by the margin."""
    chance = np.random.default_rng(1)
    first = chance.normal(size=40)
    second = first + chance.normal(0.05, 0.3, size=40)
    found = tost_paired(first.tolist(), second.tolist(), 0.2)
    lower = stats.ttest_rel(second + 0.2, first, alternative="greater").pvalue
    upper = stats.ttest_rel(second - 0.2, first, alternative="less").pvalue
    assert (found.p_lower, found.p_upper) == pytest.approx((lower, upper))
    assert found.p_value == max(found.p_lower or 0, found.p_upper or 0)
    want = stats.ttest_rel(second, first).confidence_interval(0.9)
    assert found.difference.interval is not None
    assert (found.difference.interval.low, found.difference.interval.high) == pytest.approx((want.low, want.high))


def test_unpaired_against_scipy() -> None:
    """The same by Welch's t."""
    chance = np.random.default_rng(2)
    first, second = chance.normal(size=30), chance.normal(0.1, 2.0, size=50)
    found = tost_unpaired(first.tolist(), second.tolist(), 0.7)
    lower = stats.ttest_ind(second + 0.7, first, equal_var=False, alternative="greater").pvalue
    upper = stats.ttest_ind(second - 0.7, first, equal_var=False, alternative="less").pvalue
    assert (found.p_lower, found.p_upper) == pytest.approx((lower, upper))


def test_a_worked_example() -> None:
    """Differences 1, 2, 3 against 5: mean 2, standard error 1/sqrt(3), t of two: (2 + 5) and (2 - 5) times sqrt(3)."""
    found = tost_paired([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 5.0)
    # The distribution function of Student's t with two degrees: 1/2 + t / (2 sqrt(2 + t^2)).
    assert found.p_lower == pytest.approx(0.5 - 7 * math.sqrt(3) / (2 * math.sqrt(2 + 147)))
    assert found.p_upper == pytest.approx(0.5 - 3 * math.sqrt(3) / (2 * math.sqrt(2 + 27)))
    assert found.equivalent


@settings(max_examples=100, deadline=None)
@given(some, st.floats(0.01, 3))
def test_the_tests_and_the_interval_say_the_same(differences: list[float], margin: float) -> None:
    """Equivalent exactly where the interval of level 1 - 2 alpha lies inside the margin (Schuirmann 1987)."""
    found = tost_paired([0.0] * len(differences), differences, margin)
    interval = found.difference.interval
    if interval is None or min(abs(interval.low + margin), abs(interval.high - margin)) < 1e-9:
        return
    assert found.equivalent == (-margin < interval.low and interval.high < margin)
    assert found.not_lower == (-margin < interval.low)
    assert found.not_higher == (interval.high < margin)


def test_too_little_is_not_equivalence() -> None:
    """No significant difference is not enough: three pairs of noise show nothing."""
    found = tost_paired([1.0, 2.0, 3.0], [2.0, 1.0, 3.5], 0.1)
    assert not found.not_lower
    assert not found.not_higher


def test_equal_answers_on_a_bounded_scale() -> None:
    """Where all pairs score the same, t has no spread; what was not seen in n pairs is what there is to say.

    On a scale from 0 to 1 a mean below -0.05 needs one pair in twenty at least to fall by all there is: 0.95^n.
    """
    for n, shown in ((58, False), (59, True)):
        found = tost_paired([1.0] * n, [1.0] * n, 0.05, bounds=(0, 1))
        assert found.p_value == pytest.approx(0.95**n)
        assert found.equivalent is shown
    nothing = tost_paired([1.0] * 99, [1.0] * 99, 0.05)
    assert (nothing.p_value, nothing.equivalent, nothing.note) == (None, False, "all differences are equal")


def test_a_constant_loss() -> None:
    """Every pair the same amount lower: beyond the margin certainly inferior, within it shown by enough pairs."""
    assert tost_paired([0.5] * 99, [0.375] * 99, 0.1, bounds=(0, 1)).p_lower == 1.0
    found = tost_paired([0.5] * 99, [0.375] * 99, 0.25, bounds=(0, 1))
    assert found.p_lower == pytest.approx((1 - 0.125 / 0.875) ** 99)


def test_the_least_favourable_pairs_are_as_likely_as_said() -> None:
    """The p-value of equal pairs is a true bound: with that share of losers the chance to see none is just it."""
    n, margin = 40, 0.05
    found = tost_paired([1.0] * n, [1.0] * n, margin, bounds=(0, 1))
    assert found.p_lower == pytest.approx(stats.binom.pmf(0, n, margin))


def test_where_there_is_no_test() -> None:
    """Nothing, one pair, no spread: no p-value, and why."""
    for found in (tost_paired([], [], 1.0), tost_paired([1.0], [1.0], 1.0), tost_unpaired([1.0], [1.0, 2.0], 1.0)):
        assert isinstance(found, MarginTest)
        assert found.p_value is None
        assert not found.equivalent
        assert found.note


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan"), float("inf")])
def test_a_margin_is_stated(margin: float) -> None:
    """Equivalence within nothing, or within anything, is no hypothesis."""
    with pytest.raises(SampleError, match="margin"):
        tost_paired([1.0, 2.0], [1.0, 2.5], margin)


def test_scores_outside_the_scale() -> None:
    """A score off the scale would make the bound a false one."""
    with pytest.raises(SampleError, match=r"second\[1\] is 7"):
        tost_paired([1.0, 1.0], [1.0, 7.0], 0.1, bounds=(0, 5))


def test_the_bound_counts_the_whole_scale_and_both_sides() -> None:
    """On a scale from 1 to 5, all pairs a quarter up: down beyond 0.5 takes (0.5 + 0.25) / (4 + 0.25) of the pairs."""
    found = tost_paired([2.0] * 20, [2.25] * 20, 0.5, bounds=(1, 5))
    assert found.p_lower == pytest.approx((1 - 0.75 / 4.25) ** 20)
    assert found.p_upper == pytest.approx((1 - 0.25 / 3.75) ** 20)
    assert tost_paired([2.0] * 20, [2.5] * 20, 0.5, bounds=(1, 5)).p_upper == 1.0


def test_samples_that_do_not_spread_and_samples_of_two() -> None:
    """One side without spread has a t of the other; two sides without, or one of one value, have none."""
    found = tost_unpaired([1.0, 1.0], [1.0, 2.0], 5.0)
    # The standard error is that of the one that spreads, sqrt(0.5 / 2), and so is its one degree of freedom.
    assert found.p_lower == pytest.approx(float(stats.t.sf((0.5 + 5.0) / 0.5, 1)))
    assert found.difference.n == 4
    assert found.difference.interval is not None
    assert found.difference.interval.level == pytest.approx(0.9)
    for first, second in ([1.0, 1.0], [2.0, 2.0]), ([1.0], [1.0, 2.0]), ([], [1.0, 2.0]), ([1.0, 2.0], []):
        none = tost_unpaired(first, second, 5.0)
        assert (none.p_value, none.difference.n) == (None, len(first) + len(second))


def test_one_pair_says_so() -> None:
    """It has no spread, whatever it is; on a scale it is one pair in which nothing was seen."""
    assert tost_paired([1.0], [2.0], 1.5).note == "one pair shows no spread"
    assert tost_paired([1.0], [1.0], 0.25, bounds=(0, 1)).p_value == pytest.approx(0.75)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.6, -0.05])
def test_a_level_is_between_nothing_and_a_toss(alpha: float) -> None:
    """At one half the interval would be a point."""
    with pytest.raises(SampleError, match="alpha"):
        tost_paired([1.0, 2.0], [1.0, 2.5], 1.0, alpha=alpha)


def test_the_ends_of_a_scale_belong_to_it() -> None:
    """As most scores do."""
    assert tost_paired([1.0, 5.0], [5.0, 1.0], 0.1, bounds=(1, 5)).p_value is not None
