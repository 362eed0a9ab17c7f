"""What a run has fetched around its anchors: the union of the lists, each passage once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Floats, Matrix, Vector, degrees_between, exact, lengths_of
from langgraph_prefetch.passages import Metric, Neighbourhood

MAX_LISTS = 48
"""Of one run and view; beyond it the oldest is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Listed:
    """One list that is part of the union.

    ``last``: similarity of the anchor and the last passage. ``exact`` and ``whole``: as in
    :class:`~langgraph_prefetch.passages.Neighbourhood`, an inexact list never being whole.
    """

    anchor: Vector
    last: float
    exact: bool
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Union:
    """The union of lists of one epoch, ready to be ranked.

    Attributes:
        lists: what it is the union of.
        ids, texts, metadatas: of the passages.
        vectors: shape ``(passages, dimensions)``, float32.
        lengths: of the vectors.
        metric: what "nearest" means.
        epoch: of all the lists.
        longest: the length of the longest vector.
    """

    lists: tuple[Listed, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    metadatas: tuple[Mapping[str, Any], ...]
    vectors: Matrix
    lengths: Floats
    metric: Metric
    epoch: int

    @property
    def longest(self) -> float:
        """The length of the longest vector."""
        return float(self.lengths.max(initial=0.0))


class Surroundings:
    """Collects the lists of one run for one view of a store: one tool, filter and scope. Not safe for threads.

    Lists of another epoch than the latest are forgotten: passages may have been added or changed since. Anchors at
    most ``min_degrees`` from one that is held are not worth a fetch (:meth:`moves`).
    """

    def __init__(self) -> None:
        self._held: list[Neighbourhood] = []
        self._union: Union | None = None

    def add(self, fetched: Neighbourhood) -> None:
        """Take in one list.

        Raises:
            ValueError: its shapes do not fit each other or what is held; a store that answers so cannot be used.
        """
        _check(fetched)
        if self._held and self._held[-1].epoch != fetched.epoch:
            self._held.clear()
        if self._held and _kind(self._held[-1]) != _kind(fetched):
            raise ValueError("lists of another metric or length of vectors do not go together")
        self._held.append(fetched)
        del self._held[:-MAX_LISTS]
        self._union = None

    def moves(self, anchor: Vector, min_degrees: float) -> bool:
        """Whether ``anchor`` is farther than ``min_degrees`` from every anchor that is held."""
        return all(degrees_between(anchor, each.anchor) > min_degrees for each in self._held)

    @property
    def bytes(self) -> int:
        """What the vectors take."""
        return sum(each.vectors.nbytes for each in self._held)

    def union(self) -> Union | None:
        """All that is held; None if nothing is."""
        if self._union is None and self._held:
            self._union = _united(tuple(self._held))
        return self._union


def _united(held: tuple[Neighbourhood, ...]) -> Union:
    first: dict[str, tuple[int, int]] = {}
    for at, fetched in enumerate(held):
        for row, name in enumerate(fetched.ids):
            first.setdefault(name, (at, row))
    rows: list[list[int]] = [[] for _ in held]
    for at, row in first.values():  # in the order of the lists
        rows[at].append(row)
    vectors = np.concatenate([fetched.vectors[rows[at]] for at, fetched in enumerate(held)])
    return Union(
        lists=tuple(_listed(each) for each in held),
        ids=tuple(first),
        texts=tuple(held[at].texts[row] for at, row in first.values()),
        metadatas=tuple(held[at].metadatas[row] for at, row in first.values()),
        vectors=np.ascontiguousarray(vectors, dtype=np.float32),
        lengths=lengths_of(vectors),
        metric=held[0].metric,
        epoch=held[0].epoch,
    )


def _listed(fetched: Neighbourhood) -> Listed:
    last = exact(fetched.metric, fetched.vectors[-1:], fetched.anchor) if fetched.ids else np.array([math.inf])
    return Listed(
        anchor=fetched.anchor, last=float(last[0]), exact=fetched.exact, whole=fetched.whole and fetched.exact
    )


def _kind(fetched: Neighbourhood) -> tuple[Metric, int]:
    return fetched.metric, fetched.vectors.shape[1]


def _check(fetched: Neighbourhood) -> None:
    count = len(fetched.ids)
    shaped = fetched.vectors.ndim == 2 and fetched.vectors.shape == (count, len(fetched.anchor))
    if not shaped or len(fetched.texts) != count or len(fetched.metadatas) != count or len(set(fetched.ids)) != count:
        raise ValueError("a list of passages whose ids, texts, metadata and vectors do not go together")
    if not (np.isfinite(fetched.vectors).all() and np.isfinite(fetched.anchor).all()):
        raise ValueError("a list of passages with vectors that are no finite numbers")
