"""Two samples of different runs: does the second tend to be larger or smaller, and how often?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from langgraph_prefetch.evaluation.statistics._scipy import Array, np, scipy
from langgraph_prefetch.evaluation.statistics.samples import ALL_EQUAL, NOTHING, sample, share
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval, TestResult

CLIFFS_DELTA = "Cliff's delta"


def mann_whitney(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> TestResult:
    """Mann and Whitney's U of the second sample, two-sided, with Cliff's delta as its effect.

    U counts the pairs in which the second is larger, ties as halves; delta = 2U/(mn) - 1. Exact where one sample has
    at most 8 observations and nothing is tied; otherwise normal, corrected for ties and continuity (Mann & Whitney
    1947; Hollander, Wolfe & Chicken 2014, 4.1).

    Raises:
        SampleError: a value that is not finite.
    """
    one, two = sample(first, "first"), sample(second, "second")
    name, n = "Mann-Whitney U", (one.size, two.size)
    if not one.size or not two.size:
        return TestResult(name=name, statistic=None, p_value=None, n=n, note=NOTHING)
    effect = cliffs_delta(first, second, level=level)
    if np.ptp(np.concatenate([one, two])) == 0:
        u = one.size * two.size / 2
        return TestResult(
            name=name, statistic=u, p_value=1.0, n=n, effect=effect, effect_name=CLIFFS_DELTA, note=ALL_EQUAL
        )
    found = scipy.stats.mannwhitneyu(two, one, alternative="two-sided", method="auto")
    return TestResult(
        name=name,
        statistic=float(found.statistic),
        p_value=float(found.pvalue),
        n=n,
        effect=effect,
        effect_name=CLIFFS_DELTA,
    )


def cliffs_delta(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Estimate:
    """P(second > first) - P(second < first), in [-1, 1]; below 0 the second tends to be smaller.

    Cliff, *Dominance statistics*, Psychological Bulletin 114 (1993); the asymmetric interval from the unbiased variance
    as in Feng & Cliff, *Monte Carlo evaluation of ordinal d with improved confidence interval*, Journal of Modern
    Applied Statistical Methods 3 (2004). Where the samples do not overlap, Wilson's bound for the smaller one.

    Raises:
        SampleError: a value that is not finite.
    """
    one, two = np.sort(sample(first, "first")), np.sort(sample(second, "second"))
    share(level, "level")
    m, n = one.size, two.size
    if not m or not n:
        return Estimate(value=None, n=m + n, note=NOTHING)
    rows, columns = dominance(one, two), -dominance(two, one)
    delta = float(rows.sum()) / (m * n)
    if m < 2 or n < 2:
        return Estimate(value=delta, n=m + n, note="one observation has no interval")
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    if abs(delta) == 1:
        least = min(m, n)
        bound = (least - z * z) / (least + z * z)
        low, high = (bound, 1.0) if delta > 0 else (-1.0, -bound)
        return Estimate(
            value=delta, interval=Interval(low=low, high=high, level=level), n=m + n, note="the samples do not overlap"
        )
    spread = z * math.sqrt(_variance(one, two, rows / n, columns / m, delta))
    half = spread * math.sqrt((1 - delta**2) ** 2 + spread**2)
    below = 1 - delta**2 + spread**2
    low, high = (delta - delta**3 - half) / below, (delta - delta**3 + half) / below
    interval = Interval(low=max(low, -1.0), high=min(high, 1.0), level=level)
    return Estimate(value=delta, interval=interval, n=m + n)


def dominance(one: Array, two: Array) -> Array:
    """Of each of ``one``: how many of ``two`` are larger, less how many are smaller. ``two`` sorted."""
    larger = two.size - np.searchsorted(two, one, side="right")
    return (larger - np.searchsorted(two, one, side="left")).astype(np.float64)


def _variance(one: Array, two: Array, rows: Array, columns: Array, delta: float) -> float:
    """The unbiased variance of delta; never below the least it could be (Cliff 1993, equation 6)."""
    m, n = one.size, two.size
    tied = float((np.searchsorted(two, one, side="right") - np.searchsorted(two, one, side="left")).sum())
    cells = m * n - tied - m * n * delta**2
    across = n**2 * float(((rows - delta) ** 2).sum()) + m**2 * float(((columns - delta) ** 2).sum())
    return max((across - cells) / (m * n * (m - 1) * (n - 1)), (1 - delta**2) / (m * n - 1))
