"""Ranks what was fetched for the real query, and says what is known of what was not."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import HALF_MARGIN, Vector, exact, float_margin, lengths_of
from langgraph_prefetch.near.nearest import nearest
from langgraph_prefetch.near.reach import Ball, reach
from langgraph_prefetch.near.surroundings import Union


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """The local top k.

    Attributes:
        rows: their rows in the union, nearest first, ties by id.
        similarities: to the query, as :func:`~langgraph_prefetch.near.geometry.exact` has them.
        reach: see :mod:`~langgraph_prefetch.near.reach`.
        proved: the certificate holds: an exact search of this epoch returns these passages in this order.
    """

    rows: tuple[int, ...]
    similarities: tuple[float, ...]
    reach: float
    proved: bool


def rank(union: Union, query: Vector, k: int, norm_bound: float | None = None) -> Ranked | None:
    """The ``k`` passages of ``union`` nearest to ``query``.

    Args:
        union: what was fetched.
        query: the real query's vector, of the union's length.
        k: how many.
        norm_bound: for the inner product, a length that no vector of the whole store exceeds (1 where all are
            normalised). Without it nothing can be proved there.

    Returns:
        None if fewer than ``k`` passages were fetched although more exist, or if the query has no direction.
    """
    whole = any(each.whole for each in union.lists)
    if len(union.ids) < k and not whole:
        return None
    length = float(lengths_of(query[None, :])[0])
    if not np.isfinite(length) or (length == 0 and union.metric != "l2"):
        return None
    rows, similarities = _nearest(union, query, k + 1)
    if not rows:
        return Ranked(rows=(), similarities=(), reach=float("inf"), proved=True)
    scale = _scale(union, length, norm_bound)
    margin = float_margin(len(query)) + (HALF_MARGIN if union.halves else 0.0)
    kth = similarities[:k][-1]
    found = reach(_balls(union, query, norm_bound), kth / scale, metric=union.metric, margin=margin)
    sure = (
        all(each.exact for each in union.lists)
        and (union.metric != "inner_product" or _bounded(union, norm_bound))
        and not (union.metric == "l2" and union.halves)  # of a distance, rounding takes no fixed share
        and found > 1
        and _settled(union, query, rows, similarities, k, 4 * margin * _rounding_scale(union, similarities, scale))
    )
    return Ranked(rows=rows[:k], similarities=similarities[:k], reach=found, proved=sure)


def _balls(union: Union, query: Vector, norm_bound: float | None) -> list[Ball]:
    anchors = np.stack([each.anchor for each in union.lists])
    if union.metric != "inner_product":
        to_anchor = exact(union.metric, anchors, query)
        return [
            Ball(anchor=float(near), last=each.last, whole=each.whole)
            for each, near in zip(union.lists, to_anchor, strict=True)
        ]
    lengths = lengths_of(anchors)
    bound = union.longest if norm_bound is None else norm_bound
    return [
        Ball(anchor=float(near), last=each.last / (size * bound) if size * bound else 1.0, whole=each.whole)
        for each, near, size in zip(union.lists, exact("cosine", anchors, query), lengths, strict=True)
    ]


def _scale(union: Union, length: float, norm_bound: float | None) -> float:
    """What a similarity is divided by to be one of a metric: only the inner product needs it."""
    if union.metric != "inner_product":
        return 1.0
    bound = union.longest if norm_bound is None else norm_bound
    return length * bound or 1.0


def _bounded(union: Union, norm_bound: float | None) -> bool:
    return norm_bound is not None and union.longest <= norm_bound * (1 + float_margin(union.vectors.shape[1]))


def _rounding_scale(union: Union, similarities: tuple[float, ...], scale: float) -> float:
    return max(abs(similarities[-1]), abs(similarities[0])) if union.metric == "l2" else scale


def _settled(
    union: Union, query: Vector, rows: tuple[int, ...], similarities: tuple[float, ...], k: int, margin: float
) -> bool:
    """Whether no two of the top, or of what follows, are so close that a store's rounding might swap them.

    Equal vectors are no tie: they are equally near in any arithmetic, and ordered by id.
    """
    while len(rows) < len(union.ids) and similarities[:k][-1] - similarities[-1] <= margin:
        rows, similarities = _nearest(union, query, 2 * len(rows))
    compared = sum(similarities[:k][-1] - each <= margin for each in similarities) + 1
    pairs = zip(rows, rows[1:compared], similarities, similarities[1:compared], strict=False)
    return all(
        near - next_near > margin or np.array_equal(union.vectors[row], union.vectors[following])
        for row, following, near, next_near in pairs
    )


def _nearest(union: Union, query: Vector, count: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return nearest(union.metric, union.vectors, union.lengths, union.ids, query, count)
