"""One sample in numbers: mean, median and quantiles, each with its bootstrap interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from langgraph_prefetch.evaluation.statistics._scipy import np
from langgraph_prefetch.evaluation.statistics.bootstrap import RESAMPLES, bootstrap
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, joined, sample, share
from langgraph_prefetch.evaluation.statistics.values import Estimate


def mean(values: Sequence[float], *, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """The arithmetic mean, with a BCa bootstrap interval.

    Raises:
        SampleError: a value that is not finite.
    """
    array = sample(values)
    if not array.size:
        return Estimate(value=None, note=NOTHING)
    interval, note = bootstrap(array, np.mean, level=level, seed=seed, resamples=resamples)
    return Estimate(value=math.fsum(array) / array.size, interval=interval, n=array.size, note=note)


def median(values: Sequence[float], *, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """The median, with a percentile bootstrap interval.

    Raises:
        SampleError: a value that is not finite.
    """
    return quantile(values, 0.5, level=level, seed=seed, resamples=resamples)


def p95(values: Sequence[float], *, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """The 95th percentile: ``quantile(values, 0.95)``.

    Raises:
        SampleError: a value that is not finite.
    """
    return quantile(values, 0.95, level=level, seed=seed, resamples=resamples)


def quantile(
    values: Sequence[float], at: float, *, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """The quantile ``at``, with a percentile bootstrap interval.

    Definition 7 of Hyndman & Fan, *Sample Quantiles in Statistical Packages*, The American Statistician 50 (1996),
    which NumPy and R take as well: linear between the order statistics, the smallest being quantile 0, the largest 1.

    No resample reaches beyond the largest observation, which lies above the quantile with probability 1 - at^n only.
    Where that is too little for the level asked for, the note says so.

    Raises:
        SampleError: a value that is not finite; ``at`` or ``level`` outside (0, 1).
    """
    array = sample(values)
    share(at, "at")
    if not array.size:
        return Estimate(value=None, note=NOTHING)

    def of(rows: object, axis: int = -1) -> object:
        return np.quantile(rows, at, axis=axis)  # type: ignore[call-overload]

    interval, note = bootstrap(array, of, level=level, seed=seed, resamples=resamples, method="percentile")
    if interval is not None and array.size < least_for_quantile(at, level):
        note = joined(note, f"fewer than {least_for_quantile(at, level)} observations: the interval is too short")
    return Estimate(value=float(np.quantile(array, at)), interval=interval, n=array.size, note=note)


def least_for_quantile(at: float, level: float = 0.95) -> int:
    """How many observations it takes for the extremes to enclose the quantile, each side, at this level.

    max(ln((1 - level) / 2) / ln(max(at, 1 - at))): Conover, *Practical Nonparametric Statistics* (3rd ed., 1999), 3.3.
    """
    return math.ceil(math.log((1 - level) / 2) / math.log(max(at, 1 - at)))
