"""What a run has fetched around its anchors: the union of the lists, each passage once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Floats, Matrix, Vector, exact, lengths_of, may_be_halves
from langgraph_prefetch.passages import Metric, Neighbourhood

MAX_LISTS = 24
"""Of one run and view; beyond it the older half is forgotten."""


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
        halves: the store may keep 16-bit numbers, and round queries to them.
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
    halves: bool

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
        self._lists: list[Listed] = []
        self._anchors: Matrix | None = None
        self._rows = _Rows()
        self._union: Union | None = None

    def add(self, fetched: Neighbourhood) -> None:
        """Take in one list.

        Raises:
            ValueError: its shapes do not fit each other or what is held; a store that answers so cannot be used.
        """
        _check(fetched)
        if self._held and self._held[-1].epoch != fetched.epoch:
            self._held, self._lists, self._rows = [], [], _Rows()
        if self._held and _kind(self._held[-1]) != _kind(fetched):
            raise ValueError("lists of another metric or length of vectors do not go together")
        self._held.append(fetched)
        self._lists.append(_listed(fetched))
        if len(self._held) > MAX_LISTS:
            self._rows = _Rows()
            del self._held[: MAX_LISTS // 2], self._lists[: MAX_LISTS // 2]
            for each in self._held[:-1]:
                self._rows.add(each)
        self._rows.add(fetched)
        self._anchors = np.stack([each.anchor for each in self._held])
        self._union = None

    def moves(self, anchor: Vector, min_degrees: float) -> bool:
        """Whether ``anchor`` is farther than ``min_degrees`` from every anchor that is held."""
        if self._anchors is None or self._anchors.shape[1:] != anchor.shape:
            return True
        nearest = float(exact("cosine", self._anchors, anchor).max())
        return bool(np.degrees(np.arccos(max(-1.0, nearest))) > min_degrees)

    def union(self) -> Union | None:
        """All that is held; None if nothing is."""
        if self._union is None and self._held:
            latest = self._held[-1]
            self._union = self._rows.union(tuple(self._lists), latest.metric, latest.epoch)
        return self._union


class _Rows:
    """Passages, each once, in the order in which they came; a union that was handed out is never changed."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        self._texts: list[str] = []
        self._metadatas: list[Mapping[str, Any]] = []
        self._vectors: Matrix | None = None
        self._lengths: Floats = np.zeros(0)
        self._halves = True

    def add(self, fetched: Neighbourhood) -> None:
        new = [row for row, name in enumerate(fetched.ids) if name not in self._row]
        start = len(self._row)
        self._row.update((fetched.ids[row], start + at) for at, row in enumerate(new))
        self._texts.extend(fetched.texts[row] for row in new)
        self._metadatas.extend(fetched.metadatas[row] for row in new)
        vectors = self._grown(len(self._row), fetched.vectors.shape[1])
        vectors[start : len(self._row)] = fetched.vectors[new]
        self._lengths = np.concatenate([self._lengths, lengths_of(fetched.vectors[new])])
        self._halves = self._halves and may_be_halves(fetched.vectors[new])

    def union(self, lists: tuple[Listed, ...], metric: Metric, epoch: int) -> Union:
        assert self._vectors is not None
        vectors = self._vectors[: len(self._row)]
        vectors.flags.writeable = False
        return Union(
            lists=lists,
            ids=tuple(self._row),
            texts=tuple(self._texts),
            metadatas=tuple(self._metadatas),
            vectors=vectors,
            lengths=self._lengths,
            metric=metric,
            epoch=epoch,
            halves=self._halves,
        )

    def _grown(self, rows: int, dimensions: int) -> Matrix:
        """Room for ``rows``, doubled when it is used up."""
        if self._vectors is None or len(self._vectors) < rows:
            larger = np.zeros((max(1, 2 * rows), dimensions), dtype=np.float32)
            if self._vectors is not None:
                larger[: len(self._vectors)] = self._vectors
            self._vectors = larger
        return self._vectors


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
