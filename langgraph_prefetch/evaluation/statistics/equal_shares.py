"""Shares that are as high as others, within a margin: two one-sided score tests, of different runs and of pairs.

Score tests put the margin into the variance as well, so they hold their level where Wald's do not: near 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from langgraph_prefetch.evaluation.statistics._scipy import scipy
from langgraph_prefetch.evaluation.statistics.equivalence import check_margin, untested
from langgraph_prefetch.evaluation.statistics.proportions import counted
from langgraph_prefetch.evaluation.statistics.samples import NOTHING
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval, MarginTest

Score = Callable[[float], float]
"""From a supposed difference to how many standard errors the one seen lies above it; falls as the difference grows."""


def tost_proportions(
    first_successes: int,
    first_n: int,
    second_successes: int,
    second_n: int,
    margin: float,
    *,
    alpha: float = 0.05,
) -> MarginTest:
    """The second share less the first, of different runs, against the margin.

    Farrington & Manning, *Test statistics and sample size formulae for comparative binomial trials with null hypothesis
    of non-zero risk difference or non-unity relative risk*, Statistics in Medicine 9 (1990); the interval inverts it.

    Raises:
        SampleError: counts that are none; a margin outside (0, 1).
    """
    check_margin(margin, alpha)
    counted(first_successes, first_n)
    counted(second_successes, second_n)
    name = "TOST, Farrington-Manning"
    if not first_n or not second_n:
        return untested(name, margin, alpha, Estimate(value=None, n=first_n + second_n, note=NOTHING))
    one, two = first_successes / first_n, second_successes / second_n

    def score(supposed: float) -> float:
        low, high = _shares_under(two, second_n, one, first_n, supposed)
        error = math.sqrt(max(low * (1 - low) / second_n + high * (1 - high) / first_n, 1e-300))
        return (two - one - supposed) / error

    return _by_score(name, two - one, score, margin, alpha, first_n + second_n)


def tost_paired_proportions(
    both: int, only_first: int, only_second: int, neither: int, margin: float, *, alpha: float = 0.05
) -> MarginTest:
    """The second share less the first, of pairs that said yes or no, against the margin.

    Tango, *Equivalence test and confidence interval for the difference in proportions for the paired-sample design*,
    Statistics in Medicine 17 (1998); the interval inverts it.

    Raises:
        SampleError: counts that are none; a margin outside (0, 1).
    """
    check_margin(margin, alpha)
    for each in (both, only_first, only_second, neither):
        counted(0, each)
    name, n = "TOST, Tango", both + only_first + only_second + neither
    if not n:
        return untested(name, margin, alpha, Estimate(value=None, note=NOTHING))

    def score(supposed: float) -> float:
        a = 2 * n
        b = -only_second - only_first + (2 * n - only_second + only_first) * supposed
        c = -only_first * supposed * (1 - supposed)
        lost = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
        error = math.sqrt(max(n * (2 * lost + supposed * (1 - supposed)), 1e-300))
        return (only_second - only_first - n * supposed) / error

    return _by_score(name, (only_second - only_first) / n, score, margin, alpha, n)


def _by_score(name: str, seen: float, score: Score, margin: float, alpha: float, n: int) -> MarginTest:
    z = float(scipy.stats.norm.ppf(1 - alpha))
    edge = 1 - 1e-9
    low = -1.0 if score(-edge) < z else scipy.optimize.brentq(lambda supposed: score(supposed) - z, -edge, seen)
    high = 1.0 if score(edge) > -z else scipy.optimize.brentq(lambda supposed: score(supposed) + z, seen, edge)
    interval = Interval(low=float(low), high=float(high), level=1 - 2 * alpha)
    inside = min(margin, edge)
    return MarginTest(
        name=name,
        difference=Estimate(value=seen, interval=interval, n=n),
        margin=margin,
        alpha=alpha,
        p_lower=float(scipy.stats.norm.sf(score(-inside))),
        p_upper=float(scipy.stats.norm.cdf(score(inside))),
    )


def _shares_under(two: float, second_n: int, one: float, first_n: int, supposed: float) -> tuple[float, float]:
    """The likeliest shares of both whose difference is the supposed one: the root of a cubic (their appendix)."""
    theta = first_n / second_n
    a = 1 + theta
    b = -(1 + theta + two + theta * one + supposed * (theta + 2))
    c = supposed**2 + supposed * (2 * two + theta + 1) + two + theta * one
    d = -two * supposed * (1 + supposed)
    v = b**3 / (3 * a) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = math.copysign(math.sqrt(max(b**2 / (3 * a) ** 2 - c / (3 * a), 0.0)), v)
    angle = (math.pi + math.acos(max(-1.0, min(1.0, v / u**3 if u else 0.0)))) / 3
    of_two = min(1.0, max(0.0, 2 * u * math.cos(angle) - b / (3 * a)))
    return of_two, min(1.0, max(0.0, of_two - supposed))
