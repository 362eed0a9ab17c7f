"""Rates and means per call with intervals that know that the calls of one run resemble each other. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval
from langgraph_prefetch.near.binomial import interval as clopper_pearson

LEVEL = 0.95
_LARGE = 400
"""Beyond so many observations Clopper and Pearson's interval and Wilson's agree to about a hundredth."""
ONE_RUN = "one run tells nothing about the next"


def share(runs: Sequence[tuple[float, float]]) -> Estimate:
    """``sum(hits) / sum(calls)`` over runs of ``(hits, calls)``, in [0, 1].

    Interval: Clopper and Pearson's at the effective number of calls, after Korn & Graubard, *Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data*, Survey Methodology 24 (1998).
    Where all runs agree, the runs are the observations. It is never narrower than that of independent calls.
    """
    hits, calls = (math.fsum(each[at] for each in runs) for at in (0, 1))
    counted = [each for each in runs if each[1]]
    if not calls:
        return Estimate(value=None, note="no calls")
    rate = hits / calls
    if len(counted) < 2:
        return Estimate(value=rate, n=round(calls), note=ONE_RUN)
    variance = _variance(counted, rate, calls)
    effective = rate * (1 - rate) / variance if variance > 0 else float(len(counted))
    degrees = (student(LEVEL, round(calls) - 1) / student(LEVEL, len(counted) - 1)) ** 2
    size = max(1, min(math.floor(effective * degrees), math.floor(calls)))
    return Estimate(value=rate, interval=_proportion(rate, size), n=round(calls))


def per_call(runs: Sequence[tuple[float, float]]) -> Estimate:
    """``sum(amount) / sum(calls)`` over runs of ``(amount, calls)``.

    Interval: Student's, with the linearised variance of a ratio between runs (Cochran, *Sampling Techniques*, 6.3).
    """
    calls = math.fsum(each[1] for each in runs)
    if not calls:
        return Estimate(value=None, note="no calls")
    mean = math.fsum(each[0] for each in runs) / calls
    counted = [each for each in runs if each[0] or each[1]]
    if len(counted) < 2:
        return Estimate(value=mean, n=round(calls), note=ONE_RUN)
    half = student(LEVEL, len(counted) - 1) * math.sqrt(_variance(counted, mean, calls))
    return Estimate(value=mean, interval=Interval(low=mean - half, high=mean + half, level=LEVEL), n=round(calls))


def student(level: float, degrees: int) -> float:
    """The two-sided quantile of Student's t: the expansion of Cornish and Fisher, right to 1 % from 4 degrees on.

    Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.7.5.
    """
    z, n = statistics.NormalDist().inv_cdf((1 + level) / 2), max(1, degrees)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / n**power for power, term in enumerate(terms, start=1))


def _variance(runs: Sequence[tuple[float, float]], ratio: float, calls: float) -> float:
    residuals = math.fsum((amount - ratio * size) ** 2 for amount, size in runs)
    return len(runs) / (len(runs) - 1) * residuals / calls**2


def _proportion(rate: float, size: int) -> Interval:
    if size <= _LARGE:
        found = clopper_pearson(round(rate * size), size, LEVEL)
        return Interval(low=min(found.low, rate), high=max(found.high, rate), level=LEVEL)
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle = (rate + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size))
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half), level=LEVEL)
