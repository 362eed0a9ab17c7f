"""Tests of pairs."""

from typing import Literal

import numpy as np
import pytest
from scipy import stats

from langgraph_prefetch.evaluation.statistics import paired
from langgraph_prefetch.evaluation.statistics.paired import mcnemar, paired_permutation, sign_test, wilcoxon
from tests.evaluation.statistics.test_shifts import AFTER, BEFORE

# Darwin's maize, crossed less self-fertilised, in eighths of an inch: Fisher, The Design of Experiments, section 21.
DARWIN = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
NOTHING = [0.0] * 15


def test_darwins_maize() -> None:
    """Fisher counted: of 32,768 signs 863 give a sum of 314 or more, and so 1,726 one as far from 0."""
    found = paired_permutation(NOTHING, DARWIN)
    assert found.p_value == 1_726 / 32_768
    assert paired_permutation(NOTHING, DARWIN, alternative="greater").p_value == 863 / 32_768
    assert paired_permutation(DARWIN, NOTHING, alternative="less").p_value == 863 / 32_768
    assert found.statistic == pytest.approx(314 / 15)
    assert found.note == "exact"


@pytest.mark.parametrize(("pairs", "note"), [(16, "exact"), (17, "99999 random signs, seed 0")])
def test_all_signs_are_tried_up_to_sixteen_pairs(pairs: int, note: str) -> None:
    """Beyond that 99,999 of them are drawn; of n equal differences none but the two ends is as extreme."""
    found = paired_permutation([0.0] * pairs, [1.0] * pairs)
    assert note in (found.note or "")
    assert found.p_value is not None
    assert (found.p_value == 2 / 2**pairs) is (note == "exact")


def test_permutations_against_scipy() -> None:
    """Exact for few pairs; for many the drawn signs come near scipy's own draw."""
    chance = np.random.default_rng(6)
    for n in (9, 60):
        first, second = chance.normal(size=n), chance.normal(0.3, size=n)
        want = stats.permutation_test(
            (second - first,), np.mean, permutation_type="samples", n_resamples=49_999, rng=np.random.default_rng(1)
        )
        found = paired_permutation(first.tolist(), second.tolist())
        assert found.p_value == pytest.approx(want.pvalue, abs=0.006)


def test_drawn_signs_never_give_zero_and_keep_their_seed() -> None:
    """(b + 1) / (draws + 1): the least there can be is 1 / (draws + 1), and the same seed says the same."""
    first, second = [0.0] * 40, np.linspace(1, 2, 40).tolist()
    found = paired_permutation(first, second, draws=999, seed=3)
    assert found.p_value == 1 / 1_000
    assert found == paired_permutation(first, second, draws=999, seed=3)
    assert "999 random signs, seed 3" in found.note


def test_no_difference() -> None:
    """Pairs that are all equal are the most ordinary thing there is: p = 1."""
    for test in (paired_permutation, wilcoxon):
        found = test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        assert (found.p_value, found.statistic) == (1.0, 0.0)
        assert test([], []).p_value is None


def test_the_depression_scale() -> None:
    """Hollander & Wolfe, example 3.1: of 45 ranks 40 are of those that fell, one-sided 0.0195."""
    found = wilcoxon(AFTER, BEFORE, alternative="greater")
    assert found.statistic == 40
    assert found.p_value == pytest.approx(0.01953, abs=1e-5)
    assert wilcoxon(BEFORE, AFTER).p_value == pytest.approx(2 * 0.01953125)


def test_wilcoxon_leaves_out_and_counts_what_does_not_differ() -> None:
    """Ties take the normal approximation; pairs without a difference are in the note."""
    first, second = [0.0] * 12, [0.0, 0.0, 1, 1, 2, 2, 3, -1, 4, 5, 5, 6]
    found = wilcoxon(first, second)
    want = stats.wilcoxon([each for each in second if each], method="approx")
    assert found.p_value == pytest.approx(want.pvalue)
    assert found.note == "2 pairs without a difference left out"
    assert found.n == (12,)


def test_the_sign_test() -> None:
    """Conover (1999), section 3.4, example 1: 8 of 10 for one of two, ties 0: p = 2 * 0.0547."""
    found = sign_test(2, 8)
    assert found.p_value == pytest.approx(0.109375)
    assert found.effect is not None
    assert found.effect.value == 0.8
    assert sign_test(3, 12, ties=5).note == "5 ties left out"
    nobody = sign_test(0, 0, ties=4)
    assert (nobody.p_value, nobody.note) == (None, "4 ties left out")


def test_mcnemar() -> None:
    """Agresti's approval ratings, 150 and 86 that changed their mind: the exact p is that of 86 of 236 tosses."""
    found = mcnemar(150, 86)
    assert found.p_value == pytest.approx(stats.binomtest(86, 236).pvalue)
    assert found.p_value is not None
    assert found.p_value < 1e-4
    assert mcnemar(0, 0).p_value is None


def test_what_there_is_nothing_of_has_no_p() -> None:
    """No pair, no win: no statistic either, and it counts as none."""
    for found in (paired_permutation([], []), wilcoxon([], []), sign_test(0, 0), mcnemar(0, 0)):
        assert (found.statistic, found.p_value, found.n) == (None, None, (0,))


def test_as_many_wins_on_both_sides() -> None:
    """As even as can be, which is not nothing."""
    found = sign_test(5, 5)
    assert (found.statistic, found.p_value, found.n, found.note) == (5.0, 1.0, (10,), "")


@pytest.mark.parametrize(("pairs", "method"), [(50, "exact"), (51, "approx")])
def test_wilcoxon_is_exact_up_to_fifty_pairs(pairs: int, method: Literal["exact", "approx"]) -> None:
    """Without ties."""
    second = np.random.default_rng(1).normal(0.3, size=pairs)
    want = stats.wilcoxon(second, method=method)
    assert wilcoxon([0.0] * pairs, second.tolist()).p_value == pytest.approx(want.pvalue, rel=1e-12)


def test_signs_are_drawn_in_parts_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as were asked for, whatever fits; the p-value of many draws hardly depends on it."""
    chance = np.random.default_rng(2)
    first, second = chance.normal(size=40).tolist(), chance.normal(0.3, size=40).tolist()
    at_once = paired_permutation(first, second, draws=9_999)
    for cells in (40 * 700, 1):
        monkeypatch.setattr(paired, "_CELLS", cells)
        in_parts = paired_permutation(first, second, draws=9_999)
        assert in_parts.note == at_once.note == "9999 random signs, seed 0"
        assert in_parts.p_value == pytest.approx(at_once.p_value, abs=0.02)
