"""How much the second needs more or less than the first, in the unit of the data: Hodges-Lehmann estimates.

Hodges & Lehmann, Annals of Mathematical Statistics 34 (1963); the intervals as in Hollander, Wolfe & Chicken,
*Nonparametric Statistical Methods* (3rd ed., 2014), 3.2-3.3 for pairs and 4.2-4.3 for two samples: exact below 50
observations, by the normal approximation from there on. Ties make them wider than need be, never shorter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from langgraph_prefetch.evaluation.statistics._scipy import Array, np, scipy
from langgraph_prefetch.evaluation.statistics.nulls import rank_sum, signed_rank
from langgraph_prefetch.evaluation.statistics.order import kth_difference, kth_walsh, median_of
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, same_length, sample, share
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval

EXACT_BELOW = 50


def hodges_lehmann(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Estimate:
    """The shift between two samples: the median of all differences ``second[j] - first[i]``; ``n`` is of both together.

    Raises:
        SampleError: a value that is not finite.
    """
    one, two = np.sort(sample(first, "first")), np.sort(sample(second, "second"))
    share(level, "level")
    m, n = one.size, two.size
    if not m or not n:
        return Estimate(value=None, n=m + n, note=NOTHING)
    kth = partial(kth_difference, one, two)
    exact = rank_sum(m, n) if m < EXACT_BELOW and n < EXACT_BELOW else None
    interval, note = _interval(kth, m * n, level, exact, math.sqrt(m * n * (m + n + 1) / 12))
    return Estimate(value=median_of(kth, m * n), interval=interval, n=m + n, note=note)


def paired_shift(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Estimate:
    """The shift between pairs: the median of the Walsh averages of the differences ``second[i] - first[i]``.

    Raises:
        SampleError: unequal lengths; a value that is not finite.
    """
    differences = np.sort(paired_differences(first, second))
    share(level, "level")
    n = differences.size
    if not n:
        return Estimate(value=None, note=NOTHING)
    averages = n * (n + 1) // 2
    kth = partial(kth_walsh, differences)
    exact = signed_rank(n) if n < EXACT_BELOW else None
    interval, note = _interval(kth, averages, level, exact, math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    return Estimate(value=median_of(kth, averages), interval=interval, n=n, note=note)


def paired_differences(first: Sequence[float], second: Sequence[float]) -> Array:
    """``second[i] - first[i]``: below 0 the second needed less.

    Raises:
        SampleError: unequal lengths; a value that is not finite.
    """
    same_length(first, second)
    return sample(second, "second") - sample(first, "first")


def _interval(
    kth: Callable[[int], float], count: int, level: float, exact: Array | None, spread: float
) -> tuple[Interval, str]:
    """From the k-th smallest to the k-th largest, ``k`` as the null distribution of the rank statistic has it."""
    tail = (1 - level) / 2
    if exact is None:
        k = math.floor(count / 2 - float(scipy.stats.norm.ppf(1 - tail)) * spread)
        return Interval(low=kth(max(k, 1)), high=kth(count + 1 - max(k, 1)), level=level), ""
    k = int(np.searchsorted(exact, tail * (1 + 1e-12)))
    if k:
        return Interval(low=kth(k), high=kth(count + 1 - k), level=level), ""
    reached = 1 - 2 * float(exact[0])
    if reached <= 0:
        return Interval(low=kth(1), high=kth(count), level=0.0), "too few observations for any interval"
    note = f"so few observations reach {reached:.1%} at most"
    return Interval(low=kth(1), high=kth(count), level=reached), note
