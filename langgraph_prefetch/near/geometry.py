"""Distances that obey the triangle inequality, whatever "nearest" means in a store.

- cosine: the angle between two vectors, in radians.
- l2: their distance.
- inner product: no metric. Where no passage is longer than ``norm_bound``, each can be lifted by one coordinate to
  that length (Bachrach et al., *Speeding up the Xbox recommender system using a Euclidean transformation for
  inner-product spaces*, RecSys 2014); then the angle between the lifted vectors orders as the product does. Without
  such a bound a passage that is long enough wins from anywhere, and nothing can be proved.

All that is needed is the *similarity* of two points: the cosine of the angle, or minus the squared distance.
"""

from __future__ import annotations

from langgraph_prefetch.near._numpy import NDArray, np
from langgraph_prefetch.passages import Metric

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]

_UNIT_ROUNDOFF = 2.0**-24
_SPARE = 8
HALF_MARGIN = 2.0**-10
"""What rounding a query and an anchor to 16 bits may do to the cosine between either and a passage."""


def float_margin(dimensions: int) -> float:
    """How far a similarity that a store computed with 32-bit floats may be from the true one, relative to its scale.

    The bound of a sum of ``dimensions`` products, each rounded (Higham, *Accuracy and Stability of Numerical
    Algorithms*, section 3.1), with a little to spare for the norms and the division.
    """
    return (dimensions + _SPARE) * _UNIT_ROUNDOFF


def lengths_of(vectors: Matrix) -> Floats:
    """The length of each row."""
    return np.asarray(np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1)))


def may_be_halves(vectors: Matrix) -> bool:
    """Whether every number is one that 16 bits can hold, so that the store may round queries to such numbers too."""
    with np.errstate(over="ignore"):
        return bool((vectors == vectors.astype(np.float16)).all())


def quick(metric: Metric, vectors: Matrix, lengths: Floats, point: Vector) -> Vector:
    """How near each row is to ``point``, larger being nearer, in 32-bit floats: right but for rounding."""
    products = vectors @ point
    if metric == "inner_product":
        return products
    if metric == "cosine":
        with np.errstate(divide="ignore", invalid="ignore"):
            near = products / lengths.astype(np.float32)
        return np.where(np.isfinite(near), near, np.float32(-np.inf))
    squares = lengths.astype(np.float32) ** 2
    return np.asarray(2 * products - squares, dtype=np.float32)


def exact(metric: Metric, vectors: Matrix, point: Vector) -> Floats:
    """The similarity of each row to ``point`` in 64-bit floats, equal rows giving equal numbers.

    Cosine in [-1, 1], minus the squared distance, or the product; minus infinity where a vector of length 0 has none.
    """
    rows, to = vectors.astype(np.float64), point.astype(np.float64)
    if metric == "l2":
        return np.asarray(-np.square(rows - to).sum(axis=1))
    products = (rows * to).sum(axis=1)  # row by row, so that the place of a row does not change its sum
    if metric == "inner_product":
        return np.asarray(products)
    scale = np.sqrt(np.square(rows).sum(axis=1)) * np.sqrt(np.square(to).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = products / scale
    return np.where(np.isfinite(cosines), np.clip(cosines, -1.0, 1.0), -np.inf)
