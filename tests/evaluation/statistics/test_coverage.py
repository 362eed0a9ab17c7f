"""Intervals cover what they should about as often as they say; seeded and small, so bounds are wide."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from langgraph_prefetch.evaluation.statistics.describe import mean, median
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.evaluation.statistics.shifts import hodges_lehmann, paired_shift
from langgraph_prefetch.evaluation.statistics.two_samples import cliffs_delta
from langgraph_prefetch.evaluation.statistics.values import Estimate

TIMES = 400


def covered(make: Callable[[np.random.Generator], Estimate], truth: float) -> float:
    chance = np.random.default_rng(20)
    intervals = [make(chance).interval for _ in range(TIMES)]
    return float(np.mean([each is not None and each.low <= truth <= each.high for each in intervals]))


def times(chance: np.random.Generator, n: int = 30) -> list[float]:
    return chance.lognormal(0, 0.4, size=n).tolist()  # type: ignore[no-any-return]


CASES: dict[str, tuple[Callable[[np.random.Generator], Estimate], float]] = {
    "mean": (lambda chance: mean(times(chance), resamples=499), math.exp(0.08)),
    "median": (lambda chance: median(times(chance), resamples=499), 1.0),
    "ratio of pairs": (
        lambda chance: geometric_mean_ratio(first := times(chance), [0.9 * each for each in _noisy(first, chance)]),
        0.9,
    ),
    "shift of pairs": (lambda chance: paired_shift([0.0] * 20, chance.normal(1.0, size=20).tolist()), 1.0),
    "shift": (lambda chance: hodges_lehmann(chance.normal(size=15).tolist(), chance.normal(1, size=18).tolist()), 1.0),
    "delta": (
        lambda chance: cliffs_delta(chance.normal(size=25).tolist(), chance.normal(0.5, size=25).tolist()),
        # 2 Phi(0.5 / sqrt(2)) - 1
        math.erf(0.25),
    ),
}


def _noisy(values: list[float], chance: np.random.Generator) -> list[float]:
    return [each * chance.lognormal(0, 0.2) for each in values]


@pytest.mark.parametrize("name", CASES)
def test_coverage(name: str) -> None:
    """95 % intervals of skewed or normal samples of ordinary size: from 91 to 99 in a hundred."""
    make, truth = CASES[name]
    assert 0.91 <= covered(make, truth) <= 0.99
