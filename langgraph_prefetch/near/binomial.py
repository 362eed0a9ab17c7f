"""Exact binomial tails: how sure a count of errors makes us of an error rate. Needs no library.

The interval is that of Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the
binomial*, Biometrika 26 (1934): it covers the true rate at least as often as it says, at every sample size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_STEPS = 200


@dataclass(frozen=True, slots=True)
class Interval:
    """The rates, from ``low`` to ``high``, under which what was seen is no surprise."""

    low: float
    high: float


def at_most(errors: int, trials: int, rate: float) -> float:
    """P(at most ``errors`` in ``trials``) where each fails with probability ``rate``: the exact lower tail."""
    if errors < 0:
        return 0.0
    if errors >= trials or rate <= 0.0:
        return 1.0
    if rate >= 1.0:
        return 0.0
    log_rate, log_rest, log_all = math.log(rate), math.log1p(-rate), math.lgamma(trials + 1)
    terms = (
        math.exp(
            log_all
            - math.lgamma(each + 1)
            - math.lgamma(trials - each + 1)
            + each * log_rate
            + (trials - each) * log_rest
        )
        for each in range(errors + 1)
    )
    return min(1.0, math.fsum(terms))


def upper_bound(errors: int, trials: int, confidence: float) -> float:
    """The one-sided Clopper-Pearson bound: the rate is below it with at least this confidence. 1 without trials."""
    if errors >= trials:
        return 1.0
    return _solve(lambda rate: at_most(errors, trials, rate), 1 - confidence)


def interval(errors: int, trials: int, confidence: float = 0.95) -> Interval:
    """The two-sided Clopper-Pearson interval; (0, 1) without trials."""
    if not trials:
        return Interval(0.0, 1.0)
    tail = (1 - confidence) / 2
    low = 0.0 if not errors else _solve(lambda rate: at_most(errors - 1, trials, rate), 1 - tail)
    return Interval(low, upper_bound(errors, trials, 1 - tail))


def least_trials(rate: float, confidence: float) -> int:
    """How many trials without an error it takes to say, with this confidence, that the rate is at most ``rate``."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-rate))


def _solve(tail: Callable[[float], float], wanted: float) -> float:
    """The rate at which ``tail``, which falls as the rate grows, is ``wanted``; from above, so never too small."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if tail(middle) > wanted:
            low = middle
        else:
            high = middle
    return high
