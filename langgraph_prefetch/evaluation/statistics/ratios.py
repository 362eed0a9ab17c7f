"""How many times as long the second took as the first: ratios, the natural measure of what multiplies.

Everywhere in this room the *second* is compared with the *first*: a ratio below 1, a difference below 0, means that the
second needed less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from langgraph_prefetch.evaluation.statistics._scipy import Array, np, scipy
from langgraph_prefetch.evaluation.statistics.bootstrap import RESAMPLES, bootstrap
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, positive, same_length, share
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval, TestResult

GEOMETRIC_MEAN_RATIO = "ratio of geometric means"

Method = Literal["log-t", "bootstrap"]


def geometric_mean_ratio(
    first: Sequence[float],
    second: Sequence[float],
    *,
    level: float = 0.95,
    method: Method = "log-t",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The geometric mean of ``second[i] / first[i]``: exp of the mean of the log ratios.

    ``log-t``: Student's interval of the mean log ratio, exponentiated (Alf & Grossberg, *The geometric mean: confidence
    limits and significance tests*, Perception & Psychophysics 26, 1979). ``bootstrap``: BCa over the pairs.

    Raises:
        SampleError: unequal lengths; a value that is not finite and above zero.
    """
    logs = log_ratios(first, second)
    if not logs.size:
        return Estimate(value=None, note=NOTHING)
    interval, note = (
        _log_t(logs, level)
        if method == "log-t"
        else bootstrap(logs, np.mean, level=level, seed=seed, resamples=resamples)
    )
    return Estimate(value=math.exp(logs.mean()), interval=_exp(interval), n=logs.size, note=note)


def median_ratio(
    first: Sequence[float], second: Sequence[float], *, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """The median of ``second[i] / first[i]``, with a percentile bootstrap interval over the pairs.

    Raises:
        SampleError: unequal lengths; a value that is not finite and above zero.
    """
    logs = log_ratios(first, second)
    if not logs.size:
        return Estimate(value=None, note=NOTHING)
    interval, note = bootstrap(logs, np.median, level=level, seed=seed, resamples=resamples, method="percentile")
    return Estimate(value=math.exp(float(np.median(logs))), interval=_exp(interval), n=logs.size, note=note)


def ratio_between(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> TestResult:
    """The ratio of the geometric means of two samples of *different* runs, and whether it is 1: Welch's t on the logs.

    The effect is exp(mean log second - mean log first), its interval Welch's, exponentiated (Welch, Biometrika 34,
    1947). It is the test that :func:`~langgraph_prefetch.evaluation.statistics.power.runs_for_change` sizes.

    Raises:
        SampleError: a value that is not finite and above zero.
    """
    one, two = np.log(positive(first, "first")), np.log(positive(second, "second"))
    name, n = "Welch t of logs", (one.size, two.size)
    if not one.size or not two.size:
        return TestResult(name=name, statistic=None, p_value=None, n=n, note=NOTHING)
    share(level, "level")
    value = math.exp(two.mean() - one.mean())
    if min(n) < 2 or np.ptp(one) == np.ptp(two) == 0:
        note = "one observation shows no spread" if min(n) < 2 else "neither sample shows any spread"
        ratio = Estimate(value=value, n=sum(n), note=note)
        return TestResult(
            name=name, statistic=None, p_value=None, n=n, effect=ratio, effect_name=GEOMETRIC_MEAN_RATIO, note=note
        )
    found = scipy.stats.ttest_ind(two, one, equal_var=False)
    interval = found.confidence_interval(level)
    interval = _exp(Interval(low=float(interval.low), high=float(interval.high), level=level))
    ratio = Estimate(value=value, interval=interval, n=sum(n))
    return TestResult(
        name=name,
        statistic=float(found.statistic),
        p_value=float(found.pvalue),
        n=n,
        effect=ratio,
        effect_name=GEOMETRIC_MEAN_RATIO,
    )


def log_ratios(first: Sequence[float], second: Sequence[float]) -> Array:
    """``log(second[i] / first[i])``.

    Raises:
        SampleError: unequal lengths; a value that is not finite and above zero.
    """
    same_length(first, second)
    return np.log(positive(second, "second")) - np.log(positive(first, "first"))


def _log_t(logs: Array, level: float) -> tuple[Interval | None, str]:
    if logs.size < 2:
        return None, "one pair alone gives no interval: ask at least two questions"
    spread = float(logs.std(ddof=1))
    if spread == 0:
        return None, "all ratios are equal: they show no spread, so there is no interval"
    half = float(scipy.stats.t.ppf((1 + level) / 2, logs.size - 1)) * spread / math.sqrt(logs.size)
    middle = float(logs.mean())
    return Interval(low=middle - half, high=middle + half, level=level), ""


def _exp(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(low=math.exp(interval.low), high=math.exp(interval.high), level=interval.level)
