"""The nearest rows, narrowed down in 32-bit floats and decided in 64-bit ones."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Floats, Matrix, Vector, exact, float_margin, lengths_of, quick
from langgraph_prefetch.passages import Metric


def nearest(
    metric: Metric, vectors: Matrix, lengths: Floats, ids: Sequence[str], point: Vector, count: int
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The ``count`` rows nearest to ``point``, nearest first, ties by id in the order of code points.

    Args:
        metric: what "nearest" means.
        vectors: shape ``(rows, dimensions)``.
        lengths: of the rows.
        ids: of the rows.
        point: what they are nearest to.
        count: how many; fewer where there are not so many rows.

    Returns:
        The rows, and their similarities to ``point``.
    """
    count = min(count, len(ids))
    if count <= 0:
        return (), ()
    near = quick(metric, vectors, lengths, point)
    last = np.partition(near, len(near) - count)[len(near) - count]
    # Rows without a direction are all equally far: taken only where nothing else is left.
    floor = last - _slack(metric, lengths, point) if np.isfinite(last) else -np.inf
    candidates = np.flatnonzero(near >= floor).tolist()
    similarities = exact(metric, vectors[candidates], point)
    order = sorted(range(len(candidates)), key=lambda at: (-similarities[at], ids[candidates[at]]))[:count]
    return tuple(candidates[at] for at in order), tuple(float(similarities[at]) for at in order)


def _slack(metric: Metric, lengths: Floats, point: Vector) -> float:
    """What rounding may have moved the 32-bit similarities by."""
    longest, length = float(lengths.max()), float(lengths_of(point[None, :])[0])
    margin = 4 * float_margin(len(point))
    match metric:
        case "cosine":
            return margin
        case "inner_product":
            return margin * longest * length
        case "l2":
            return margin * (longest**2 + 2 * longest * length)
