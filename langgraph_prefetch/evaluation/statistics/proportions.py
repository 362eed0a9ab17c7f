"""Shares: how sure a count makes us of a rate, of a difference of two, and of how a split was drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics._scipy import np, scipy
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, joined, share
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval, TestResult

Method = Literal["wilson", "clopper-pearson"]


def proportion(successes: int, n: int, *, level: float = 0.95, method: Method = "wilson") -> Estimate:
    """A share with its interval.

    ``wilson``: about the level on average (Wilson, Journal of the American Statistical Association 22, 1927).
    ``clopper-pearson``: at least the level at every n and rate (Clopper & Pearson, Biometrika 26, 1934).

    Raises:
        SampleError: counts that are none: below 0, or more successes than trials.
    """
    counted(successes, n)
    share(level, "level")
    if not n:
        return Estimate(value=None, note=NOTHING)
    exact = "exact" if method == "clopper-pearson" else "wilson"
    found = scipy.stats.binomtest(successes, n).proportion_ci(confidence_level=level, method=exact)
    interval = Interval(low=float(found.low), high=float(found.high), level=level)
    return Estimate(value=successes / n, interval=interval, n=n)


def difference_of_proportions(
    first_successes: int, first_n: int, second_successes: int, second_n: int, *, level: float = 0.95
) -> Estimate:
    """The second share less the first, of different runs, with Newcombe's hybrid interval.

    Newcombe, *Interval estimation for the difference between independent proportions*, Statistics in Medicine 17
    (1998), method 10.

    Raises:
        SampleError: counts that are none.
    """
    one = proportion(first_successes, first_n, level=level)
    two = proportion(second_successes, second_n, level=level)
    if one.value is None or two.value is None or one.interval is None or two.interval is None:
        return Estimate(value=None, n=first_n + second_n, note=NOTHING)
    difference = two.value - one.value
    low = difference - math.hypot(two.value - two.interval.low, one.interval.high - one.value)
    high = difference + math.hypot(two.interval.high - two.value, one.value - one.interval.low)
    return Estimate(value=difference, interval=Interval(low=low, high=high, level=level), n=first_n + second_n)


def sample_ratio(counts: Mapping[str, int], weights: Mapping[str, float]) -> TestResult:
    """Were the arms filled as their weights say? Pearson's chi-square; a tiny p-value means that something lost runs.

    Fabijan et al., *Diagnosing Sample Ratio Mismatch in Online Controlled Experiments*, KDD 2019. A split that is
    looked at often is alarmed about only far below 0.05; p < 0.001 is usual. Chi-square is rough where fewer than 5
    are expected in an arm (Cochran 1954), which the note then says.

    Raises:
        SampleError: other arms in the one than in the other; a weight at or below 0; a count below 0.
    """
    if set(counts) != set(weights) or len(counts) < 2:
        raise SampleError(f"counts and weights need the same two arms or more, not {sorted(counts)}, {sorted(weights)}")
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight > 0):
            raise SampleError(f"the weight of {name!r} is {weight!r}: weights are above 0")
        counted(0, counts[name])
    name, total = "sample ratio (chi-square)", sum(counts.values())
    n = tuple(counts.values())
    if not total:
        return TestResult(name=name, statistic=None, p_value=None, n=n, note=NOTHING)
    whole = math.fsum(weights.values())
    expected = np.array([total * weights[each] / whole for each in counts])
    found = scipy.stats.chisquare(list(n), expected)
    rough = "fewer than 5 expected in an arm: the p-value is rough" if expected.min() < 5 else ""
    return TestResult(name=name, statistic=float(found.statistic), p_value=float(found.pvalue), n=n, note=joined(rough))


def counted(successes: int, n: int) -> None:
    """Refuse counts that are none.

    Raises:
        SampleError: below 0, not whole, or more successes than trials.
    """
    for each in (successes, n):
        if isinstance(each, bool) or not isinstance(each, int | np.integer) or each < 0:
            raise SampleError(f"a count is a whole number from 0, not {each!r}")
    if successes > n:
        raise SampleError(f"{successes} of {n} is no share: there cannot be more successes than trials")
