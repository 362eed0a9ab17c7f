"""How many runs it takes to find a relative change, and how likely a given number is to find it.

Times multiply, so their logs are compared: a change of -10 % is a shift of log(0.9), whatever the scale. ``spread`` is
the standard deviation of the logs, about the coefficient of variation (:func:`log_spread`); for pairs that of the log
*ratios*, which is far smaller where both ask the same question.

The power of Student's t is that of the noncentral t: Cohen, *Statistical Power Analysis for the Behavioral Sciences*
(2nd ed., 1988), chapter 2; Chow, Shao, Wang & Lokhnygina, *Sample Size Calculations in Clinical Research* (3rd ed.,
2017), chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics._scipy import np, scipy
from langgraph_prefetch.evaluation.statistics.samples import positive, share

MOST = 10_000_000
_MIDDLES = (np.arange(2_000) + 0.5) / 2_000


def power_of_change(
    change: float, spread: float, n: int, *, paired: bool = False, alpha: float = 0.05, ratio: float = 1.0
) -> float:
    """The probability that a two-sided test at ``alpha`` finds a relative ``change``, such as -0.10.

    Args:
        change: of the second against the first; above -1 and not 0.
        spread: standard deviation of the logs (``paired``: of the log ratios).
        n: runs of the first arm, or pairs.
        paired: whether the same questions are compared.
        alpha: of the test.
        ratio: how many runs of the second arm there are to one of the first.

    Raises:
        SampleError: a number outside its range.
    """
    shift = _shift(change)
    _above_zero("spread", spread)
    _above_zero("ratio", ratio)
    share(alpha, "alpha")
    other = n if paired else math.floor(n * ratio)
    if min(n, other) < 2:
        return 0.0
    degrees = n - 1 if paired else n + other - 2
    away = abs(shift) / spread * (math.sqrt(n) if paired else math.sqrt(n * other / (n + other)))
    limit = float(scipy.stats.t.ppf(1 - alpha / 2, degrees))
    # The noncentral t as what it is, a normal over a chi: its own series gives out far from the middle.
    bar = limit * np.sqrt(scipy.stats.chi2.ppf(_MIDDLES, degrees) / degrees)
    return float(np.mean(scipy.stats.norm.cdf(away - bar) + scipy.stats.norm.cdf(-away - bar)))


def runs_for_change(
    change: float,
    spread: float,
    *,
    power: float = 0.8,
    paired: bool = False,
    alpha: float = 0.05,
    ratio: float = 1.0,
) -> int:
    """The fewest runs of the first arm (``paired``: pairs) with which :func:`power_of_change` reaches ``power``.

    Raises:
        SampleError: a number outside its range; a change that ten million runs would not find.
    """
    share(power, "power")

    def enough(n: int) -> bool:
        return power_of_change(change, spread, n, paired=paired, alpha=alpha, ratio=ratio) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST:
            raise SampleError(f"a change of {change:+.2%} at a spread of {spread} takes more than {MOST} runs to find")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def smallest_change(
    spread: float, n: int, *, power: float = 0.8, paired: bool = False, alpha: float = 0.05, ratio: float = 1.0
) -> float:
    """The smallest relative decrease, as a number in (0, 1), that ``n`` runs find with this power; 1 where none.

    Raises:
        SampleError: a number outside its range.
    """
    share(power, "power")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        found = power_of_change(-middle, spread, n, paired=paired, alpha=alpha, ratio=ratio) >= power
        low, high = (low, middle) if found else (middle, high)
    return high


def log_spread(values: Sequence[float]) -> float:
    """The standard deviation of the logs, from earlier runs: what the functions here call ``spread``.

    Raises:
        SampleError: fewer than two values; a value that is not finite and above zero.
    """
    logs = np.log(positive(values))
    if logs.size < 2:
        raise SampleError(f"a spread takes two values, not {logs.size}")
    return float(logs.std(ddof=1))


def spread_of_variation(coefficient: float) -> float:
    """The spread of logs that belongs to a coefficient of variation: sqrt(log(1 + cv^2)), for lognormal times.

    Raises:
        SampleError: a coefficient at or below 0.
    """
    _above_zero("coefficient", coefficient)
    return math.sqrt(math.log1p(coefficient**2))


def _shift(change: float) -> float:
    if not (math.isfinite(change) and change > -1 and change != 0):
        raise SampleError(f"change is relative, above -1 and not 0, such as -0.10, not {change!r}")
    return math.log1p(change)


def _above_zero(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise SampleError(f"{name} is a number above 0, not {value!r}")
