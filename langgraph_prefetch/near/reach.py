"""How surely the fetched lists hold everything near the query: one number, from geometry alone.

Let ``q`` be the query, ``d`` its distance to the local ``k``-th passage, ``a`` an anchor at distance ``f`` from ``q``,
and ``r`` the distance of the last passage of its list. A passage that is not listed is at least ``r`` away from ``a``.
One that beats the local ``k``-th lies within ``d`` of ``q``; seen from ``q``, in a direction that makes an angle ``w``
with the direction to ``a``. By the law of cosines (spherical for angles, plane for distances) it is unlisted only if ::

    cos w < t,    t = (cos r - cos f cos d) / (sin f sin d)      angles
                  t = (f² + d² - r²) / (2 f d)                   distances

The **reach** of a list is ``-t``; of several lists the largest counts, since a passage must be missing from all.

- reach > 1: no direction is left. This is the triangle inequality ``d < r - f``, and the answer is **proved**.
- In many dimensions random directions are nearly at right angles (``cos w`` near 0): with a reach above 0 what is near
  the query is likely listed, below 0 likely not. That is the score whose threshold is found by risk control.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from langgraph_prefetch.passages import Metric

NOWHERE = -math.inf
EVERYWHERE = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """One list, seen from the query, as similarities (cosines, or minus squared distances).

    Attributes:
        anchor: of the query to the anchor.
        last: of the anchor to the last passage of its list: nothing that is not listed is more similar to the anchor.
        whole: the list holds every passage there is.
    """

    anchor: float
    last: float
    whole: bool = False


def reach(balls: Iterable[Ball], kth: float, *, metric: Metric, margin: float = 0.0) -> float:
    """The largest reach of the lists.

    Args:
        balls: the lists.
        kth: the similarity of the query and the local k-th passage.
        metric: ``"l2"`` for distances; angles else.
        margin: what rounding may have moved a similarity by; the lists are taken to be smaller, and the k-th farther.

    Returns:
        ``EVERYWHERE`` if a list is whole, ``NOWHERE`` if there is none.
    """
    one = _reach_of_distances if metric == "l2" else _reach_of_angles
    return max((EVERYWHERE if ball.whole else one(ball, kth, margin) for ball in balls), default=NOWHERE)


def _reach_of_angles(ball: Ball, kth: float, margin: float) -> float:
    last = min(1.0, ball.last + 2 * margin)
    near = _clipped(kth - 2 * margin)
    to_anchor = _clipped(ball.anchor)
    if last <= -1.0:
        return EVERYWHERE
    sines = math.sqrt((1 - to_anchor) * (1 + to_anchor)) * math.sqrt((1 - near) * (1 + near))
    found = _ratio(to_anchor * near - last, sines)
    # With f + d above a half turn the point opposite the anchor is as near as the k-th: it is in no list's reach.
    return found if to_anchor + near >= 0 else min(found, 1.0)


def _reach_of_distances(ball: Ball, kth: float, margin: float) -> float:
    if ball.last == -math.inf:
        return EVERYWHERE
    last = -ball.last * max(0.0, 1 - 4 * margin)
    near, to_anchor = -kth * (1 + 4 * margin), -ball.anchor
    return _ratio(last - to_anchor - near, 2 * math.sqrt(to_anchor) * math.sqrt(near))


def _ratio(above: float, below: float) -> float:
    """Their quotient where the directions make up a sphere; where they do not, all of it is listed or none."""
    if not math.isfinite(above) or not math.isfinite(below):
        return NOWHERE
    if below > 0:
        return above / below
    return EVERYWHERE if above > 0 else NOWHERE


def _clipped(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine))
