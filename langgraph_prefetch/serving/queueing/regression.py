"""Online linear regression. Pure: a state, and the state after one more observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

UNSURE = 100.0
"""Variance of a weight before anything was observed, against a noise of 1: soon overruled by observations."""
SPREAD = 1e6
"""The variance never grows beyond: forgetting without anything new to learn would let it grow for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Weights and what is not yet known of them.

    Attributes:
        weights: one for each feature.
        covariance: of the weights, row by row.
        observed: observations so far.
    """

    weights: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    observed: int = 0


def unfitted(weights: Sequence[float]) -> Fitted:
    """Before any observation: the weights are a guess."""
    size = len(weights)
    diagonal = tuple(tuple(UNSURE if row == column else 0.0 for column in range(size)) for row in range(size))
    return Fitted(weights=tuple(weights), covariance=diagonal)


def predicted(fitted: Fitted, features: Sequence[float]) -> float:
    """The value at ``features``."""
    return sum(weight * feature for weight, feature in zip(fitted.weights, features, strict=True))


def updated(fitted: Fitted, features: Sequence[float], value: float, *, keep: float = 1.0) -> Fitted:
    """After one more observation, by recursive least squares with forgetting.

    Args:
        fitted: before it.
        features: as many as there are weights.
        value: what was observed; an observation that is not finite changes nothing.
        keep: weight of the past at each observation, in (0, 1]; 0.999 remembers about a thousand.

    Source of the formula: Haykin, Adaptive Filter Theory, recursive least squares.
    """
    if not (isfinite(value) and all(map(isfinite, features))):
        return fitted
    turned = [sum(entry * x for entry, x in zip(row, features, strict=True)) for row in fitted.covariance]
    size = range(len(turned))
    scale = keep + sum(x * entry for x, entry in zip(features, turned, strict=True))
    error = value - predicted(fitted, features)
    weights = tuple(fitted.weights[i] + turned[i] / scale * error for i in size)
    grown = [[(fitted.covariance[i][j] - turned[i] * turned[j] / scale) / keep for j in size] for i in size]
    if any(grown[i][i] > SPREAD for i in size):
        grown = [list(row) for row in fitted.covariance]
    return Fitted(weights=weights, covariance=tuple(map(tuple, grown)), observed=fitted.observed + 1)
