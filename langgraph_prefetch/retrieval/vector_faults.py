"""Vectors that cannot be stored, or that no search would find."""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.passages import Metric

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("numpy", "postgres") from error

_HALF_ENDS = np.float32(65_520)
"""From here on numbers round to infinity in 16 bits, whose largest is 65,504."""


def faulty_vectors(vectors: NDArray[np.float32], *, metric: Metric, storage: str) -> Iterator[tuple[int, str]]:
    """The row of each such vector, and what is wrong with it: words that go on after ``the vector``.

    One pass over the numbers tells that there is none: a squared length is finite only if every number is. It is taken
    in single precision, as pgvector does, for whose cosine a length that vanishes or overflows there gives NaN.

    Args:
        vectors: shape ``(rows, dimensions)``.
        metric: under ``"cosine"`` a vector needs a direction.
        storage: ``"halfvec"`` keeps 16 bits of a number.
    """
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
        endless = ~np.isfinite(squares)
        for row in np.flatnonzero(endless):
            if not np.isfinite(vectors[row]).all():
                yield int(row), "has a number that is not finite"
            elif metric == "cosine":
                yield int(row), "is too long to have an angle in single precision"
        if storage == "halfvec":
            yield from _too_large(vectors, endless)
        if metric == "cosine":
            yield from _without_direction(vectors, squares, storage)


def _too_large(vectors: NDArray[np.float32], endless: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
    if not len(vectors) or (not endless.any() and max(vectors.max(), -vectors.min()) < _HALF_ENDS):
        return
    for row in np.flatnonzero((np.abs(vectors) >= _HALF_ENDS).any(axis=1)):
        yield int(row), "has a number beyond 65,504, the largest that halfvec holds"


def _without_direction(
    vectors: NDArray[np.float32], squares: NDArray[np.float32], storage: str
) -> Iterator[tuple[int, str]]:
    # Numbers up to 2^-25 become 0 in 16 bits, so this many of them have at most this square.
    least = vectors.shape[1] * 2.0**-48 if storage == "halfvec" else 0.0
    for row in np.flatnonzero(squares <= least):
        stored = vectors[row].astype(np.float16) if storage == "halfvec" else vectors[row]
        if not stored.any():
            yield int(row), "is zero, which has no angle to any other"
        elif storage != "halfvec":
            yield int(row), "is too short to have an angle in single precision"
