"""Several groups."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.evaluation.statistics.corrections import holm
from langgraph_prefetch.evaluation.statistics.groups import dunn, kruskal_wallis

# Hollander & Wolfe, table 6.1: half-time of mucociliary clearance.
CLEARANCE = {
    "normal": [2.9, 3.0, 2.5, 2.6, 3.2],
    "obstructive": [3.8, 2.7, 4.0, 2.4],
    "asbestosis": [2.8, 3.4, 3.7, 2.2, 2.0],
}
some = st.lists(st.integers(0, 6).map(float), min_size=2, max_size=10)


def test_mucociliary_clearance() -> None:
    """Hollander & Wolfe, example 6.1: H = 0.771, p = 0.68; epsilon squared is H / 13."""
    found = kruskal_wallis(CLEARANCE)
    assert found.statistic == pytest.approx(0.77143, abs=1e-5)
    assert found.p_value == pytest.approx(0.68, abs=1e-3)
    assert found.effect is not None
    assert found.effect.value == pytest.approx(0.77143 / 13, abs=1e-5)
    assert found.n == (5, 4, 5)
    assert "rough" in found.note


@settings(max_examples=50, deadline=None)
@given(some, some)
def test_of_two_groups_dunns_z_squared_is_h(first: list[float], second: list[float]) -> None:
    """The identity that ties the two tests together, ties included."""
    groups = {"first": first, "second": second}
    (pair,) = dunn(groups)
    h = kruskal_wallis(groups).statistic
    assert h is not None
    assert pair.result.statistic is not None
    assert pair.result.statistic**2 == pytest.approx(h, abs=1e-9)


def test_dunn_by_hand() -> None:
    """Dunn (1964), without ties: z = difference of mean ranks / sqrt(N(N+1)/12 (1/m + 1/n)), corrected after Holm."""
    groups = {"a": [1.0, 2, 3], "b": [4.0, 5, 6], "c": [7.0, 8, 9, 10]}
    pairs = dunn(groups)
    assert [(each.first, each.second) for each in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    spread = 10 * 11 / 12
    wanted = (3 / (spread * 2 / 3) ** 0.5, 6.5 / (spread * 7 / 12) ** 0.5, 3.5 / (spread * 7 / 12) ** 0.5)
    assert [each.result.statistic for each in pairs] == pytest.approx(wanted)
    p_values = [2 * stats.norm.sf(z) for z in wanted]
    assert [each.adjusted_p for each in pairs] == pytest.approx(holm(p_values))
    assert all(each.result.effect is not None and each.result.effect.value == 1.0 for each in pairs)


def test_kruskal_wallis_against_scipy() -> None:
    """With ties, and with groups of many sizes."""
    chance = np.random.default_rng(3)
    groups = {str(n): chance.integers(0, 8, size=n).astype(float).tolist() for n in (8, 13, 21)}
    want = stats.kruskal(*groups.values())
    found = kruskal_wallis(groups)
    assert (found.statistic, found.p_value) == pytest.approx((want.statistic, want.pvalue))


def test_groups_without_observations() -> None:
    """They are named and left out; of fewer than two others there is nothing to test."""
    found = kruskal_wallis({**CLEARANCE, "nobody": []})
    assert "without observations: nobody" in found.note
    assert found.statistic == pytest.approx(0.77143, abs=1e-5)
    assert len(dunn({**CLEARANCE, "nobody": []})) == 3
    assert kruskal_wallis({"only": [1.0], "nobody": []}).p_value is None
    assert dunn({"only": [1.0]}) == ()
    equal = kruskal_wallis({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert (equal.statistic, equal.p_value) == (0.0, 1.0)
    assert dunn({"a": [1.0, 1.0], "b": [1.0, 1.0]})[0].adjusted_p == 1.0


def test_holm() -> None:
    """0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02: by four, by three, by two, never below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.6, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.2))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float], alpha: float) -> None:
    """The adjusted p-values say the same as the procedure: reject while p(i) <= alpha / (m - i + 1)."""
    ordered = sorted(range(len(p_values)), key=p_values.__getitem__)
    kept = itertools.takewhile(lambda r: p_values[r[1]] * (len(p_values) - r[0]) <= alpha, enumerate(ordered))
    assert {place for _, place in kept} == {i for i, each in enumerate(holm(p_values)) if each <= alpha}
