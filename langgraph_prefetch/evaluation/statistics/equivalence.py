"""As good as, within a margin: two one-sided tests. "No significant difference" would only say: too little was seen.

Schuirmann, *A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
average bioavailability*, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics._scipy import np, scipy
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, sample
from langgraph_prefetch.evaluation.statistics.shifts import paired_differences
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval, MarginTest

NO_SPREAD = "all differences are equal"


def tost_paired(
    first: Sequence[float],
    second: Sequence[float],
    margin: float,
    *,
    alpha: float = 0.05,
    bounds: tuple[float, float] | None = None,
) -> MarginTest:
    """Mean of ``second[i] - first[i]`` against the margin, by Student's t of the pairs.

    ``bounds``: the ends of the scale the values are on, such as (0, 1). They matter only where every pair differs by
    the same amount c, so that t has no spread to go by. Then a mean difference beyond the margin would need a share of
    at least (margin + c) / (width + c) of pairs at the far end of the scale, none of which was seen in n:
    p = (1 - that share)^n. Without bounds there is no p-value then.

    Raises:
        SampleError: unequal lengths; a value that is not finite, or outside the bounds; a margin at or below 0.
    """
    check_margin(margin, alpha)
    differences = paired_differences(first, second)
    name, n = "TOST, paired t", differences.size
    if not n:
        return untested(name, margin, alpha, Estimate(value=None, note=NOTHING))
    if bounds is not None:
        _inside(first, bounds, "first")
        _inside(second, bounds, "second")
    middle = math.fsum(differences) / n
    error = float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error > 0 and np.ptp(differences) > 0:
        return _by_t(name, middle, error, n - 1, margin, alpha, n)
    note = NO_SPREAD if n > 1 else "one pair shows no spread"
    estimate = Estimate(value=middle, n=n, note=note)
    if bounds is None:
        return untested(name, margin, alpha, estimate)
    return MarginTest(
        name="TOST, constant difference on a bounded scale",
        difference=estimate,
        margin=margin,
        alpha=alpha,
        p_lower=_unseen(middle, margin, bounds, n),
        p_upper=_unseen(-middle, margin, bounds, n),
        note=note,
    )


def tost_unpaired(first: Sequence[float], second: Sequence[float], margin: float, *, alpha: float = 0.05) -> MarginTest:
    """Mean of the second less that of the first, of different runs, against the margin, by Welch's t.

    Raises:
        SampleError: a value that is not finite; a margin at or below 0.
    """
    check_margin(margin, alpha)
    one, two = sample(first, "first"), sample(second, "second")
    name, n = "TOST, Welch t", one.size + two.size
    if not one.size or not two.size:
        return untested(name, margin, alpha, Estimate(value=None, n=n, note=NOTHING))
    middle = float(two.mean() - one.mean())
    parts = [float(each.var(ddof=1)) / each.size if each.size > 1 else 0.0 for each in (one, two)]
    if min(one.size, two.size) < 2 or sum(parts) == 0 or np.ptp(one) == np.ptp(two) == 0:
        return untested(name, margin, alpha, Estimate(value=middle, n=n, note="the samples show no spread"))
    degrees = sum(parts) ** 2 / sum(part**2 / (each.size - 1) for part, each in zip(parts, (one, two), strict=True))
    return _by_t(name, middle, math.sqrt(sum(parts)), degrees, margin, alpha, n)


def _by_t(name: str, middle: float, error: float, degrees: float, margin: float, alpha: float, n: int) -> MarginTest:
    half = float(scipy.stats.t.ppf(1 - alpha, degrees)) * error
    interval = Interval(low=middle - half, high=middle + half, level=1 - 2 * alpha)
    return MarginTest(
        name=name,
        difference=Estimate(value=middle, interval=interval, n=n),
        margin=margin,
        alpha=alpha,
        p_lower=float(scipy.stats.t.sf((middle + margin) / error, degrees)),
        p_upper=float(scipy.stats.t.cdf((middle - margin) / error, degrees)),
    )


def _unseen(middle: float, margin: float, bounds: tuple[float, float], n: int) -> float:
    """P(all n pairs differ by ``middle``) at most, were the mean difference -margin or less."""
    if middle <= -margin:
        return 1.0
    width = bounds[1] - bounds[0]
    return float(max(0.0, 1 - (margin + middle) / (width + middle)) ** n)


def _inside(values: Sequence[float], bounds: tuple[float, float], name: str) -> None:
    for place, value in enumerate(values):
        if not bounds[0] <= value <= bounds[1]:
            raise SampleError(f"{name}[{place}] is {value}: outside the scale from {bounds[0]} to {bounds[1]}")


def untested(name: str, margin: float, alpha: float, estimate: Estimate) -> MarginTest:
    """What is said where the data allow no test; the estimate's note says why."""
    return MarginTest(
        name=name, difference=estimate, margin=margin, alpha=alpha, p_lower=None, p_upper=None, note=estimate.note
    )


def check_margin(margin: float, alpha: float) -> None:
    """Refuse a margin or a level that is none.

    Raises:
        SampleError: a margin at or below 0; an alpha outside (0, 0.5).
    """
    if not (math.isfinite(margin) and margin > 0):
        raise SampleError(f"margin is how large a difference does not matter, above 0, not {margin!r}")
    if not 0 < alpha < 0.5:
        raise SampleError(f"alpha lies between 0 and 0.5, such as 0.05, not {alpha!r}")
