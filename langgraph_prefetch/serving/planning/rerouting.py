"""Where requests go now, out of what was counted at the pools. Pure.

Pools count who came and who was served, and not which way they went. Of all ways that explain the counts, the one
closest to the routing known before is taken: flows x_ij ≥ 0 along the edges with Σ_j x_ij = γ_i served_i and
Σ_i x_ij = arrived_j, by least squares, with a light pull to γ_i served_i p_ij. Those who wait are in ``arrived``
already, so a stage that cannot keep up does not look like one that few requests go to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.serving.flow.values import START, Edge, FlowValues

try:
    import numpy as np
    from scipy.optimize import nnls
except ImportError as error:
    raise MissingExtraError(error.name or "scipy", "serving") from error

PULL = 1e-3
"""Weight of the routing known before, against that of the counts, where the counts leave a choice."""
KNOWN_VISITS = 5.0
"""Visits that the routing known before counts as, so that no few counts make an edge certain or a loop endless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What one pool counted: requests that came to wait, and visits that it served."""

    arrived: int
    served: int


def rerouted(flow: FlowValues, counted: Mapping[str, Counted]) -> FlowValues:
    """The flow with the probabilities that explain what was counted; stages that nobody counted keep theirs.

    An edge that was never taken may be now.
    """
    gamma = {each.name: each.amplification for each in flow.stages}
    edges = flow.edges
    left = {name: counted[name].served * gamma[name] for name in gamma if name in counted and counted[name].served}
    entries = [edge for edge in edges if _enters(edge, counted)]
    share = sum(edge.probability for edge in entries)
    coming = sum(counted[edge.target].arrived for edge in entries) / share if share else 0.0
    rows: list[list[float]] = []
    right: list[float] = []

    def row(weights: Mapping[int, float], wanted: float, weight: float) -> None:
        rows.append([weight * weights.get(place, 0.0) for place in range(len(edges))])
        right.append(weight * wanted)

    for name, total in left.items():
        row({place: 1.0 for place, edge in enumerate(edges) if edge.source == name}, total, 1 / sqrt(total + 1))
    for name, each in counted.items():
        into = {place: 1.0 for place, edge in enumerate(edges) if edge.target == name}
        known = all(edges[place].source in left or edges[place].source == START for place in into)
        if into and (known or each.arrived):
            row(into, float(each.arrived), 1 / sqrt(each.arrived + 1))
    for place, edge in enumerate(edges):
        before = edge.probability * (coming if edge.source == START else left.get(edge.source, 0.0))
        row({place: 1.0}, before, PULL / sqrt(before + 1))
    if not rows:
        return flow
    found, _ = nnls(np.array(rows), np.array(right))
    return replace(flow, edges=tuple(_changed(edge, place, edges, found, left) for place, edge in enumerate(edges)))


def _changed(edge: Edge, place: int, edges: tuple[Edge, ...], found: np.ndarray, left: Mapping[str, float]) -> Edge:
    beside = [number for number, each in enumerate(edges) if each.source == edge.source]
    total = float(sum(found[number] for number in beside))
    if total <= 0 or (edge.source != START and edge.source not in left):
        return edge
    return replace(edge, probability=(float(found[place]) + KNOWN_VISITS * edge.probability) / (total + KNOWN_VISITS))


def _enters(edge: Edge, counted: Mapping[str, Counted]) -> bool:
    return edge.source == START and edge.target in counted
