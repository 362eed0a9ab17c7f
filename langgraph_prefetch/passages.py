"""Passages and their vectors, in the shapes that pass between a store, its ingestion and near-miss answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

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
