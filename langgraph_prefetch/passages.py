"""Passages and their vectors, in the shapes that pass between a store, its ingestion and near-miss answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Metric = Literal["cosine", "l2", "inner_product"]
"""How near two vectors are: the angle between them, their distance, or their product (larger is nearer)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbourhood:
    """The passages nearest to an anchor, nearest first, with their vectors.

    Attributes:
        anchor: the vector they were searched with, shape ``(dimensions,)``, float32.
        ids: the passages' keys, ``n`` of them, each once.
        texts: what they say.
        metadatas: their metadata, as the store would hand it out with a document.
        vectors: shape ``(n, dimensions)``, float32, read-only; row ``i`` is the vector of ``ids[i]``.
        metric: what "nearest" means.
        exact: no passage that is not listed is nearer than the last one listed; False where an index may have
            missed some.
        whole: there are no passages but these: fewer than were asked for exist.
        epoch: the state of the index they were read from; equal epochs, equal contents.
    """

    anchor: NDArray[np.float32]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    metadatas: tuple[Mapping[str, Any], ...]
    vectors: NDArray[np.float32]
    metric: Metric
    exact: bool
    whole: bool
    epoch: int


@runtime_checkable
class NeighbourhoodSource(Protocol):
    """A store that can give the passages around a vector together with their vectors."""

    @property
    def metric(self) -> Metric:
        """What "nearest" means there."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        ...

    def epoch(self) -> int:
        """A number that moves whenever the contents that are searched change, by whatever process."""
        ...

    def neighbourhood(self, anchor: NDArray[np.float32], n: int) -> Neighbourhood:
        """The ``n`` passages nearest to ``anchor``, in one round trip."""
        ...

    async def aneighbourhood(self, anchor: NDArray[np.float32], n: int) -> Neighbourhood:
        """As ``neighbourhood``, without blocking the event loop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What writing passages changed: rows that are new, rows whose content differed, rows that stood there already."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(
            added=self.added + other.added,
            updated=self.updated + other.updated,
            unchanged=self.unchanged + other.unchanged,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRow:
    """A row of a batch that cannot be stored.

    Attributes:
        row: its place in the batch, from 0.
        id: its key; None where that is missing or is no text.
        reason: what is wrong with it.
    """

    row: int
    id: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDone:
    """A document of which every row has been written.

    Attributes:
        source: its name, as in the rows' ``source``.
        fingerprint: equal for two states of it only if they give the same rows: what it says, and how it was split and
            embedded.
        ids: the ids of all its rows; empty for a document that gives none.
    """

    source: str
    fingerprint: bytes
    ids: tuple[str, ...]


class SourcesDone(Sequence[SourceDone]):
    """Many documents of which every row has been written, as columns: an object for each would cost more than its row.

    Attributes:
        sources: their names.
        fingerprints: one each.
        counts: how many rows each has.
        ids: those of all rows, document after document.
    """

    __slots__ = ("_starts", "counts", "fingerprints", "ids", "sources")

    def __init__(
        self, sources: Sequence[str], fingerprints: Sequence[bytes], counts: Sequence[int], ids: Sequence[str]
    ) -> None:
        self.sources, self.fingerprints, self.counts, self.ids = sources, fingerprints, counts, ids
        self._starts: list[int] | None = None

    @classmethod
    def of(cls, done: Sequence[SourceDone]) -> SourcesDone:
        """The same as columns; as they are, if they are that already."""
        if isinstance(done, SourcesDone):
            return done
        return cls(
            [each.source for each in done],
            [each.fingerprint for each in done],
            [len(each.ids) for each in done],
            [key for each in done for key in each.ids],
        )

    @classmethod
    def joined(cls, several: Sequence[SourcesDone]) -> SourcesDone:
        """All of them, one after the other."""
        columns = zip(*((each.sources, each.fingerprints, each.counts, each.ids) for each in several), strict=True)
        return several[0] if len(several) == 1 else cls(*map(list, map(chain.from_iterable, columns)))

    def sorted(self) -> SourcesDone:
        """In the order of their names, by code points."""
        if all(before <= after for before, after in pairwise(self.sources)):
            return self
        places = sorted(range(len(self)), key=self.sources.__getitem__)
        return SourcesDone(
            [self.sources[place] for place in places],
            [self.fingerprints[place] for place in places],
            [self.counts[place] for place in places],
            [key for place in places for key in self.ids_of(place)],
        )

    def ids_of(self, place: int) -> Sequence[str]:
        """The ids of one document's rows."""
        if self._starts is None:
            self._starts = list(accumulate(self.counts, initial=0))
        return self.ids[self._starts[place] : self._starts[place + 1]]

    def __len__(self) -> int:
        return len(self.sources)

    @overload
    def __getitem__(self, place: int) -> SourceDone: ...
    @overload
    def __getitem__(self, place: slice) -> list[SourceDone]: ...
    def __getitem__(self, place: int | slice) -> SourceDone | list[SourceDone]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return SourceDone(
            source=self.sources[place], fingerprint=self.fingerprints[place], ids=tuple(self.ids_of(place))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSources:
    """Documents that are known, in the order of their names, by code points.

    Attributes:
        sources: their names in UTF-8, with a NUL, which no name has, between them.
        fingerprints: 16 bytes each.
    """

    sources: bytes
    fingerprints: bytes

    def by_source(self) -> dict[str, bytes]:
        """The fingerprints by name."""
        if not self.fingerprints:
            return {}
        starts = range(0, len(self.fingerprints), 16)
        marks = (self.fingerprints[start : start + 16] for start in starts)
        return dict(zip(self.sources.decode().split("\0"), marks, strict=True))
