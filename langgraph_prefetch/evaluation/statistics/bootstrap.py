"""Bootstrap intervals: BCa where it is defined, percentile where it is not, and never without saying so.

Efron & Tibshirani, *An Introduction to the Bootstrap* (1993): percentile, chapter 13; BCa, chapter 14. BCa needs a
statistic that moves smoothly with the data: the jackknife behind it fails for quantiles (section 11.6), so those get
the percentile interval. So do samples of thousands, where BCa would take long to say the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

from langgraph_prefetch.evaluation.statistics._scipy import Array, np, scipy
from langgraph_prefetch.evaluation.statistics.samples import ALL_EQUAL, share
from langgraph_prefetch.evaluation.statistics.values import Interval

RESAMPLES = 9_999
_CELLS = 2_000_000
_MOST_FOR_BCA = 2_000
"""Its jackknife takes time with the square of these, to correct a bias that has long vanished."""

Statistic = Callable[..., Any]
"""From an array (observations along ``axis``) to one number for each of its rows: called as ``of(x, axis=-1)``."""


def bootstrap(
    values: Array,
    of: Statistic,
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    method: Literal["BCa", "percentile"] = "BCa",
) -> tuple[Interval | None, str]:
    """The interval of a statistic of one sample, and what has to be said about it.

    Raises:
        SampleError: a level that is none.
    """
    share(level, "level")
    if values.size < 2:
        return None, "one observation has no interval" if values.size else ""
    if np.ptp(values) == 0:
        return None, f"{ALL_EQUAL}: resampling them shows no spread, so there is no interval"
    if method == "BCa" and values.size > _MOST_FOR_BCA:
        note = f"percentile interval: more than {_MOST_FOR_BCA} observations"
        return _interval(values, of, level, seed, resamples, "percentile"), note
    found = _interval(values, of, level, seed, resamples, method)
    if found is not None or method == "percentile":
        return found, ""
    return _interval(values, of, level, seed, resamples, "percentile"), "percentile interval: BCa is not defined here"


def _interval(values: Array, of: Statistic, level: float, seed: int, resamples: int, method: str) -> Interval | None:
    with warnings.catch_warnings():  # of degenerate data, which the result shows as well
        warnings.simplefilter("ignore")
        found = scipy.stats.bootstrap(
            (values,),
            of,
            confidence_level=level,
            n_resamples=resamples,
            batch=max(1, _CELLS // values.size),
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    return Interval(low=low, high=high, level=level) if np.isfinite([low, high]).all() else None
