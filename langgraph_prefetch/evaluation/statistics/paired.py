"""Pairs: the same question asked twice. Does the second differ from the first?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from langgraph_prefetch.evaluation.statistics._scipy import Array, np, scipy
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.proportions import proportion
from langgraph_prefetch.evaluation.statistics.samples import NOTHING
from langgraph_prefetch.evaluation.statistics.shifts import paired_differences, paired_shift
from langgraph_prefetch.evaluation.statistics.values import TestResult

Alternative = Literal["two-sided", "less", "greater"]
"""What is to be shown of the second: that it differs, that it is less, that it is greater."""

EXACT_UP_TO = 16
DRAWS = 99_999
_CELLS = 2_000_000


def paired_permutation(
    first: Sequence[float],
    second: Sequence[float],
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> TestResult:
    """Fisher's randomisation test of pairs: were the signs of the differences as good as tossed?

    The statistic is the mean difference; its p-value the share of all 2^n signs that give one at least as extreme, up
    to 16 pairs (Fisher, *The Design of Experiments*, 1935, section 21). Beyond that ``draws`` of them, drawn with
    ``seed``: (b + 1) / (draws + 1), which is never 0 (Phipson & Smyth, Statistical Applications in Genetics and
    Molecular Biology 9, 2010). The effect is the mean difference with its BCa interval.

    Raises:
        SampleError: unequal lengths; a value that is not finite.
    """
    differences = paired_differences(first, second)
    name = "paired permutation"
    if not differences.size:
        return TestResult(name=name, statistic=None, p_value=None, n=(0,), note=NOTHING)
    exact = differences.size <= EXACT_UP_TO
    observed = math.fsum(differences)
    sums = _all_sums(differences) if exact else _drawn_sums(differences, draws, seed)
    # Sums of the same numbers in another order differ in their last digits.
    slack = 1e-12 * float(np.abs(differences).sum())
    if alternative == "two-sided":
        extreme = int(np.count_nonzero(np.abs(sums) >= abs(observed) - slack))
    elif alternative == "less":
        extreme = int(np.count_nonzero(sums <= observed + slack))
    else:
        extreme = int(np.count_nonzero(sums >= observed - slack))
    return TestResult(
        name=name,
        statistic=observed / differences.size,
        p_value=extreme / sums.size if exact else (extreme + 1) / (sums.size + 1),
        n=(differences.size,),
        effect=mean(differences.tolist(), level=level, seed=seed),
        effect_name="mean difference",
        note="exact" if exact else f"{sums.size} random signs, seed {seed}",
    )


def wilcoxon(
    first: Sequence[float], second: Sequence[float], *, alternative: Alternative = "two-sided", level: float = 0.95
) -> TestResult:
    """Wilcoxon's signed rank test of pairs, with the Hodges-Lehmann shift as its effect.

    The statistic is the sum of the ranks of the positive differences. Pairs without a difference are left out, as
    Wilcoxon did (Biometrics Bulletin 1, 1945), and counted in the note. Exact up to 50 pairs without ties.

    Raises:
        SampleError: unequal lengths; a value that is not finite.
    """
    differences = paired_differences(first, second)
    name, effect = "Wilcoxon signed rank", paired_shift(first, second, level=level)
    moved = differences[differences != 0]
    if not moved.size:
        none = not differences.size
        return TestResult(
            name=name,
            statistic=None if none else 0.0,
            p_value=None if none else 1.0,
            n=(differences.size,),
            effect=effect,
            effect_name="Hodges-Lehmann shift",
            note=NOTHING if none else "no pair differs",
        )
    tied = np.unique(np.abs(moved)).size < moved.size
    method = "approx" if tied or moved.size > 50 else "exact"
    found = scipy.stats.wilcoxon(moved, alternative=alternative, method=method)
    ranks = scipy.stats.rankdata(np.abs(moved))
    left_out = differences.size - moved.size
    return TestResult(
        name=name,
        statistic=float(ranks[moved > 0].sum()),
        p_value=float(found.pvalue),
        n=(differences.size,),
        effect=effect,
        effect_name="Hodges-Lehmann shift",
        note=f"{left_out} pairs without a difference left out" if left_out else "",
    )


def sign_test(first_wins: int, second_wins: int, *, ties: int = 0, level: float = 0.95) -> TestResult:
    """Which of two wins more often? Exact, two-sided; ties say nothing of it and are left out, and counted in the note.

    The statistic is how often the second won, binomial with p = 1/2 where neither is better (Conover 1999, section
    3.4); the effect the share of its wins with the Clopper-Pearson interval.

    Raises:
        SampleError: a count below 0.
    """
    return _binomial("sign test", first_wins, second_wins, level, f"{ties} ties left out" if ties else "")


def mcnemar(only_first: int, only_second: int, *, level: float = 0.95) -> TestResult:
    """McNemar's test of yes and no in pairs, exact: from how often only the first, and only the second, said yes.

    McNemar, Psychometrika 12 (1947); the exact form is the sign test of the pairs that disagree (Conover 1999, 3.5).

    Raises:
        SampleError: a count below 0.
    """
    return _binomial("McNemar", only_first, only_second, level, "")


def _binomial(name: str, first: int, second: int, level: float, note: str) -> TestResult:
    effect = proportion(second, first + second, level=level, method="clopper-pearson")
    if not first + second:
        return TestResult(name=name, statistic=None, p_value=None, n=(0,), note=note or NOTHING)
    return TestResult(
        name=name,
        statistic=float(second),
        p_value=float(scipy.stats.binomtest(second, first + second).pvalue),
        n=(first + second,),
        effect=effect,
        effect_name="share won by the second",
        note=note,
    )


def _all_sums(differences: Array) -> Array:
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate([sums - each, sums + each])
    return sums


def _drawn_sums(differences: Array, draws: int, seed: int) -> Array:
    chance = np.random.default_rng(seed)
    at_once = max(1, _CELLS // differences.size)
    parts = []
    for start in range(0, draws, at_once):
        flips = chance.integers(0, 2, size=(min(at_once, draws - start), differences.size), dtype=np.int8)
        parts.append((2.0 * flips - 1.0) @ differences)
    return np.concatenate(parts)
