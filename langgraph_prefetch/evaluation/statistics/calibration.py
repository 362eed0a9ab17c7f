"""Probabilities against what happened: are 70 % right seven times out of ten?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics._scipy import Array, NDArray, np
from langgraph_prefetch.evaluation.statistics.bootstrap import RESAMPLES
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.proportions import proportion
from langgraph_prefetch.evaluation.statistics.samples import NOTHING, same_length, sample
from langgraph_prefetch.evaluation.statistics.values import Estimate, ReliabilityBin

Bins = Literal["width", "count"]


def brier(
    probabilities: Sequence[float],
    happened: Sequence[bool],
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of (probability - outcome)^2: 0 is perfect, always saying 1/2 gives 0.25; BCa interval.

    Brier, *Verification of forecasts expressed in terms of probability*, Monthly Weather Review 78 (1950), halved as
    is usual for two outcomes.

    Raises:
        SampleError: unequal lengths; what is no probability.
    """
    predicted, outcomes = _pairs(probabilities, happened)
    return mean(((predicted - outcomes) ** 2).tolist(), level=level, seed=seed, resamples=resamples)


def reliability_bins(
    probabilities: Sequence[float],
    happened: Sequence[bool],
    *,
    bins: int = 10,
    by: Bins = "width",
    level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Mean prediction and observed share, with Wilson's interval, in bins; empty ones are left out.

    ``width``: bins of equal width over [0, 1], 1 in the last. ``count``: of about equally many predictions, equal ones
    never parted.

    Raises:
        SampleError: unequal lengths; what is no probability; fewer than one bin.
    """
    predicted, outcomes = _pairs(probabilities, happened)
    numbers = _binned(predicted, bins, by)
    found = []
    for number in np.unique(numbers):
        here = numbers == number
        n, came_true = int(here.sum()), int(outcomes[here].sum())
        share = proportion(came_true, n, level=level)
        found.append(
            ReliabilityBin(
                predicted=math.fsum(predicted[here]) / n, observed=came_true / n, n=n, interval=share.interval
            )
        )
    return tuple(found)


def expected_calibration_error(
    probabilities: Sequence[float], happened: Sequence[bool], *, bins: int = 10, by: Bins = "width"
) -> Estimate:
    """The mean over the bins of abs(observed share - mean prediction), weighted by how many each holds.

    Naeini, Cooper & Hauskrecht, *Obtaining well calibrated probabilities using Bayesian binning*, AAAI 2015. Chance
    alone makes it larger, by about 1/sqrt(n) of a bin, so no interval is given; compare only what has equal n and bins.

    Raises:
        SampleError: unequal lengths; what is no probability; fewer than one bin.
    """
    found = reliability_bins(probabilities, happened, bins=bins, by=by)
    n = sum(each.n for each in found)
    if not n:
        return Estimate(value=None, note=NOTHING)
    few = sum(each.n < 10 for each in found)
    return Estimate(
        value=math.fsum(each.n * abs(each.observed - each.predicted) for each in found) / n,
        n=n,
        note=f"{few} of {len(found)} bins hold fewer than 10: chance makes the error larger" if few else "",
    )


def _pairs(probabilities: Sequence[float], happened: Sequence[bool]) -> tuple[Array, Array]:
    same_length(probabilities, happened)
    predicted, outcomes = sample(probabilities, "probabilities"), sample(happened, "happened")
    for place in np.flatnonzero((predicted < 0) | (predicted > 1))[:1]:
        raise SampleError(f"probabilities[{place}] is {predicted[place]}: a probability lies between 0 and 1")
    for place in np.flatnonzero((outcomes != 0) & (outcomes != 1))[:1]:
        raise SampleError(f"happened[{place}] is {outcomes[place]}: it happened (1, True) or not (0, False)")
    return predicted, outcomes


def _binned(predicted: Array, bins: int, by: Bins) -> NDArray[np.intp]:
    if bins < 1:
        raise SampleError(f"bins is a whole number from 1, not {bins!r}")
    if by == "width":
        return np.minimum((predicted * bins).astype(np.intp), bins - 1)
    inner = np.quantile(predicted, np.arange(1, bins) / bins) if predicted.size else np.empty(0)
    return np.searchsorted(inner, predicted, side="left")
