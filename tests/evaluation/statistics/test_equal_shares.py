"""Two one-sided score tests of shares, against the likelihood itself."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.equal_shares import tost_paired_proportions, tost_proportions

count = st.integers(0, 30)


def log_term(k: float, p: float) -> float:
    return 0.0 if k == 0 else k * math.log(p) if p > 0 else -math.inf


def score_by_likelihood(x1: int, n1: int, x2: int, n2: int, supposed: float) -> float:
    """Farrington & Manning's z with the constrained shares found by maximising, not by their cubic."""

    def against(second: float) -> float:
        first = second - supposed
        terms = (log_term(x2, second), log_term(n2 - x2, 1 - second), log_term(x1, first), log_term(n1 - x1, 1 - first))
        return -sum(terms)

    low, high = max(0.0, supposed), min(1.0, 1 + supposed)
    second = float(optimize.minimize_scalar(against, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    first = second - supposed
    return (x2 / n2 - x1 / n1 - supposed) / math.sqrt(second * (1 - second) / n2 + first * (1 - first) / n1)


@pytest.mark.parametrize("case", [(30, 40, 33, 40), (48, 80, 56, 70), (3, 25, 9, 50), (17, 20, 30, 60)])
def test_farrington_manning_is_the_constrained_likelihood(case: tuple[int, int, int, int]) -> None:
    """Their closed form of the constrained estimate is the maximum of the likelihood."""
    found = tost_proportions(*case, 0.1)
    for p_value, supposed, tail in ((found.p_lower, -0.1, 1), (found.p_upper, 0.1, -1)):
        z = score_by_likelihood(*case, supposed)
        assert p_value == pytest.approx(0.5 * math.erfc(tail * z / math.sqrt(2)), rel=1e-4)


def tango_by_likelihood(table: tuple[int, int, int, int], supposed: float) -> float:
    """Tango's z with the constrained share of losers found by maximising, not by his quadratic."""
    both, lost, won, neither = table
    n = sum(table)

    def against(loses: float) -> float:
        wins = loses + supposed
        terms = (log_term(lost, loses), log_term(won, wins), log_term(both + neither, 1 - loses - wins))
        return -sum(terms)

    low, high = max(0.0, -supposed), (1 - supposed) / 2
    loses = float(optimize.minimize_scalar(against, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x)
    return (won - lost - n * supposed) / math.sqrt(n * (2 * loses + supposed - supposed**2))


@pytest.mark.parametrize("table", [(30, 4, 5, 1), (50, 12, 3, 9), (20, 1, 6, 20), (43, 5, 4, 8)])
def test_tango_is_the_constrained_likelihood(table: tuple[int, int, int, int]) -> None:
    """His closed form of the constrained estimate is the maximum of the likelihood."""
    found = tost_paired_proportions(*table, 0.1)
    for p_value, supposed, tail in ((found.p_lower, -0.1, 1), (found.p_upper, 0.1, -1)):
        z = tango_by_likelihood(table, supposed)
        assert p_value == pytest.approx(0.5 * math.erfc(tail * z / math.sqrt(2)), rel=1e-4)


@settings(max_examples=100, deadline=None)
@given(count, count, count, count, st.floats(0.02, 0.6))
def test_tests_and_intervals_say_the_same(a: int, b: int, c: int, d: int, margin: float) -> None:
    """Equivalent exactly where the interval lies inside the margin; whatever the counts, ends in order, in [-1, 1]."""
    for found in (tost_paired_proportions(a, b, c, d, margin), tost_proportions(a, a + b, c, c + d, margin)):
        interval, value = found.difference.interval, found.difference.value
        if interval is None or value is None:
            assert found.p_value is None
            continue
        assert -1 <= interval.low <= value <= interval.high <= 1
        if min(abs(interval.low + margin), abs(interval.high - margin)) > 1e-6:
            assert found.not_lower == (interval.low > -margin)
            assert found.not_higher == (interval.high < margin)


def test_swapping_the_arms_turns_the_test_round() -> None:
    """What is not lower one way is not higher the other."""
    there, back = tost_proportions(30, 40, 33, 45, 0.1), tost_proportions(33, 45, 30, 40, 0.1)
    assert there.p_lower == pytest.approx(back.p_upper, rel=1e-6)
    there, back = tost_paired_proportions(30, 4, 7, 1, 0.1), tost_paired_proportions(30, 7, 4, 1, 0.1)
    assert there.p_lower == pytest.approx(back.p_upper, rel=1e-6)


def test_perfect_scores_need_enough_of_them() -> None:
    """All right in both arms: the interval is no point, and a few do not show a margin of 5 %."""
    assert not tost_paired_proportions(20, 0, 0, 0, 0.05).equivalent
    assert tost_paired_proportions(200, 0, 0, 0, 0.05).equivalent
    few = tost_proportions(5, 5, 5, 5, 0.05)
    assert not few.equivalent
    assert few.difference.interval is not None
    assert few.difference.interval.low < -0.2


def test_bad_counts() -> None:
    """More right answers than answers, or fewer than none."""
    with pytest.raises(SampleError, match="more successes"):
        tost_proportions(5, 4, 1, 4, 0.1)
    with pytest.raises(SampleError, match="whole number"):
        tost_paired_proportions(5, -1, 1, 4, 0.1)
    assert tost_proportions(0, 0, 1, 4, 0.1).p_value is None
    assert tost_paired_proportions(0, 0, 0, 0, 0.1).p_value is None
