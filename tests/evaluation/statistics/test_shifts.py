"""Hodges-Lehmann estimates."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.evaluation.statistics.nulls import rank_sum, signed_rank
from langgraph_prefetch.evaluation.statistics.order import kth_difference, kth_walsh
from langgraph_prefetch.evaluation.statistics.shifts import hodges_lehmann, paired_shift

# Hollander & Wolfe, table 3.1: Hamilton depression scale factor before and after a tranquillizer.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
# Hollander & Wolfe, table 4.1: permeability of the human chorioamnion at term, and at 12 to 26 weeks.
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLIER = [1.15, 0.88, 0.90, 0.74, 1.21]

numbers = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)
whole = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=12)


def test_the_depression_scale() -> None:
    """Hollander & Wolfe, examples 3.3 and 3.4: estimate -0.46, and (-0.786, -0.010) at 96 %."""
    found = paired_shift(BEFORE, AFTER, level=0.96)
    assert found.value == pytest.approx(-0.46, abs=0.005)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.786, -0.010), abs=5e-4)


def test_the_chorioamnion() -> None:
    """Hollander & Wolfe, examples 4.3 and 4.4: estimate -0.305, and (-0.76, 0.15) at 96 %."""
    found = hodges_lehmann(AT_TERM, EARLIER, level=0.96)
    assert found.value == pytest.approx(-0.305, abs=1e-9)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.76, 0.15), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.one_of(numbers, whole), st.one_of(numbers, whole), st.data())
def test_order_statistics_are_those_of_all_pairs(first: list[float], second: list[float], data: st.DataObject) -> None:
    """What is never written down is still found: the k-th of all differences, the k-th of all averages."""
    one, two = np.sort(first), np.sort(second)
    differences = np.sort(np.subtract.outer(two, one).ravel())
    k = data.draw(st.integers(1, differences.size))
    assert kth_difference(one, two, k) == pytest.approx(differences[k - 1], abs=1e-9)
    averages = np.sort([(a + b) / 2 for a, b in itertools.combinations_with_replacement(first, 2)])
    k = data.draw(st.integers(1, averages.size))
    assert kth_walsh(one, k) == pytest.approx(averages[k - 1], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(numbers, numbers, st.floats(-100, 100))
def test_a_shift_of_the_second_is_a_shift_of_the_estimate(first: list[float], second: list[float], by: float) -> None:
    """Adding to every observation of the second adds as much to the estimate and to its interval."""
    here, there = hodges_lehmann(first, second), hodges_lehmann(first, [each + by for each in second])
    assert here.value is not None
    assert there.value == pytest.approx(here.value + by, abs=1e-6)
    assert here.interval is not None
    assert there.interval is not None
    assert there.interval.low == pytest.approx(here.interval.low + by, abs=1e-6)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 3), (5, 5)])
def test_the_null_distribution_of_the_rank_sum(m: int, n: int) -> None:
    """Equal to counting every order of the ranks."""
    of_first = list(itertools.combinations(range(m + n), m))
    reversed_pairs = [sum(a > b for a in ranks for b in set(range(m + n)) - set(ranks)) for ranks in of_first]
    for u in range(m * n + 1):
        assert rank_sum(m, n)[u] == pytest.approx(np.mean([each <= u for each in reversed_pairs]))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_null_distribution_of_signed_ranks(n: int) -> None:
    """Equal to counting every sign of the ranks."""
    sums = [sum(rank for rank, up in enumerate(signs, 1) if up) for signs in itertools.product((0, 1), repeat=n)]
    for v in range(n * (n + 1) // 2 + 1):
        assert signed_rank(n)[v] == pytest.approx(np.mean([each <= v for each in sums]))


def test_few_observations_say_how_far_they_reach() -> None:
    """Three pairs cannot reach 95 %: the interval is the widest there is, with the level it has."""
    found = paired_shift([0.0, 0.0, 0.0], [1.0, 2.0, 4.0])
    assert found.interval is not None
    assert found.interval.level == pytest.approx(0.75)
    assert "75.0% at most" in found.note
    alone = paired_shift([0.0], [1.0])
    assert alone.interval is not None
    assert "too few" in alone.note
    assert hodges_lehmann([1.0], [2.0]).note == "too few observations for any interval"


def test_ties_and_long_samples() -> None:
    """All equal is a shift of nothing; thousands are no matter of memory, by the normal approximation."""
    same = hodges_lehmann([2.0] * 8, [2.0] * 8)
    assert same.interval is not None
    assert (same.value, same.interval.low, same.interval.high) == (0.0, 0.0, 0.0)
    chance = np.random.default_rng(2)
    first, second = chance.normal(size=1_500), chance.normal(0.5, size=1_500)
    found = hodges_lehmann(first.tolist(), second.tolist())
    assert found.value == pytest.approx(float(np.median(np.subtract.outer(second, first))))
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * (2 / 1_500 * 1.047) ** 0.5, rel=0.1)
    assert hodges_lehmann([], [1.0]).value is None
    assert paired_shift([], []).value is None
