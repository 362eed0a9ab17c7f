"""How many runs it takes."""

import math

import numpy as np
import pytest
from scipy import stats

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.power import (
    log_spread,
    power_of_change,
    runs_for_change,
    smallest_change,
    spread_of_variation,
)


@pytest.mark.parametrize(("d", "n"), [(0.2, 393), (0.5, 64), (0.8, 26)])
def test_cohens_table(d: float, n: int) -> None:
    """Cohen (1988), table 2.4.1: runs of each arm for a small, a medium and a large effect, 5 % two-sided, power 0.80.

    A change of exp(-d) - 1 at a spread of 1 is an effect of size d.
    """
    change = math.expm1(-d)
    assert runs_for_change(change, 1.0) == pytest.approx(n, abs=1)
    assert power_of_change(change, 1.0, n) == pytest.approx(0.80, abs=0.01)
    away, degrees = d * math.sqrt(n / 2), 2 * n - 2
    limit = stats.t.ppf(0.975, degrees)
    want = stats.nct.sf(limit, degrees, away) + stats.nct.cdf(-limit, degrees, away)
    assert power_of_change(change, 1.0, n) == pytest.approx(want, abs=1e-4)


def test_pairs_take_fewer() -> None:
    """A medium effect on pairs takes 34 of them (Cohen's d_z = 0.5, as G*Power has it)."""
    assert runs_for_change(math.expm1(-0.5), 1.0, paired=True) == 34


def test_power_is_what_simulation_finds() -> None:
    """So many of 2,000 simulated experiments find a planted -10 %, and a slowdown of as much on the log scale."""
    chance, spread, n = np.random.default_rng(7), 0.3, 100
    for change in (-0.1, 1 / 0.9 - 1):
        first = chance.normal(0, spread, size=(2_000, n))
        second = chance.normal(math.log1p(change), spread, size=(2_000, n))
        found = np.mean(stats.ttest_ind(second, first, axis=1).pvalue < 0.05)
        assert found == pytest.approx(power_of_change(change, spread, n), abs=0.03)


def test_the_functions_undo_each_other() -> None:
    """The runs for a change are the fewest that find it, and what so many runs find is that change."""
    for paired in (False, True):
        n = runs_for_change(-0.1, 0.4, paired=paired)
        assert power_of_change(-0.1, 0.4, n, paired=paired) >= 0.8 > power_of_change(-0.1, 0.4, n - 1, paired=paired)
        assert smallest_change(0.4, n, paired=paired) == pytest.approx(0.1, rel=0.01)
    assert smallest_change(1.0, 2) > 0.99


def test_uneven_arms_take_more() -> None:
    """One run of the second arm to nine of the first: more runs altogether than with equal arms."""
    even, uneven = runs_for_change(-0.1, 0.4), runs_for_change(-0.1, 0.4, ratio=1 / 9)
    assert uneven * (1 + 1 / 9) > 2 * even


def test_extremes() -> None:
    """Nothing overflows: a change nobody could miss, no runs at all, one too small for any number of runs."""
    assert power_of_change(-0.99, 0.01, 1_000) == 1.0
    assert power_of_change(-0.1, 0.4, 1) == 0.0
    with pytest.raises(SampleError, match="more than"):
        runs_for_change(-1e-6, 5.0)


def test_spreads() -> None:
    """Of values, and of a coefficient of variation: lognormal with sigma 0.5 has sqrt(exp(0.25) - 1)."""
    assert log_spread([1.0, math.e, math.e**2]) == pytest.approx(1.0)
    assert spread_of_variation(math.sqrt(math.expm1(0.25))) == pytest.approx(0.5)
    with pytest.raises(SampleError, match="two values"):
        log_spread([1.0])


@pytest.mark.parametrize("change", [0.0, -1.0, -2.0, float("nan")])
def test_a_change_is_relative_and_some(change: float) -> None:
    """No change, and a loss of everything and more, cannot be planned for."""
    with pytest.raises(SampleError, match="change is relative"):
        power_of_change(change, 0.4, 10)
