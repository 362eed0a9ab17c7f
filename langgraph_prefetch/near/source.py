"""An exact store in memory: for tests, for replay, and for corpora that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Matrix, Vector, lengths_of
from langgraph_prefetch.near.nearest import nearest
from langgraph_prefetch.passages import Metric, Neighbourhood


class MemorySource:
    """A :class:`~langgraph_prefetch.ports.NeighbourhoodSource` over arrays, always exact. Safe for threads.

    Args:
        ids: the passages' keys, each once.
        vectors: shape ``(passages, dimensions)``; copied as float32.
        texts: what they say; their ids if None.
        metadatas: their metadata; empty if None.
        metric: what "nearest" means.

    Raises:
        ConfigurationError: shapes that do not go together, a key given twice, or vectors that are no finite numbers.
    """

    def __init__(
        self,
        ids: Sequence[str],
        vectors: Matrix,
        *,
        texts: Sequence[str] | None = None,
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        metric: Metric = "cosine",
    ) -> None:
        self._lock = ForkSafeLock()
        self._metric, self._epoch = metric, 0
        self._set(ids, vectors, texts, metadatas)

    @property
    def metric(self) -> Metric:
        """See the port."""
        return self._metric

    @property
    def dimensions(self) -> int:
        """See the port."""
        return int(self._vectors.shape[1])

    def __len__(self) -> int:
        return len(self._ids)

    def epoch(self) -> int:
        """See the port."""
        with self._lock:
            return self._epoch

    def replace(
        self,
        ids: Sequence[str],
        vectors: Matrix,
        *,
        texts: Sequence[str] | None = None,
        metadatas: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Other contents, and another epoch. Raises as the constructor does."""
        with self._lock:
            self._set(ids, vectors, texts, metadatas)
            self._epoch += 1

    def neighbourhood(self, anchor: Vector, n: int) -> Neighbourhood:
        """See the port."""
        with self._lock:
            ids, texts, metadatas, vectors, lengths = (
                self._ids,
                self._texts,
                self._metadatas,
                self._vectors,
                self._lengths,
            )
            epoch = self._epoch
        anchor = np.asarray(anchor, dtype=np.float32)
        rows, _ = nearest(self._metric, vectors, lengths, ids, anchor, n)
        taken = vectors[list(rows)]
        taken.flags.writeable = False
        return Neighbourhood(
            anchor=anchor,
            ids=tuple(ids[row] for row in rows),
            texts=tuple(texts[row] for row in rows),
            metadatas=tuple(metadatas[row] for row in rows),
            vectors=taken,
            metric=self._metric,
            exact=True,
            whole=len(ids) < n,
            epoch=epoch,
        )

    async def aneighbourhood(self, anchor: Vector, n: int) -> Neighbourhood:
        """See the port. In memory there is nothing to wait for."""
        return self.neighbourhood(anchor, n)

    def search(self, query: Vector, k: int) -> tuple[str, ...]:
        """The ids of the ``k`` nearest passages, nearest first, ties by id: what a local answer has to equal."""
        return self.neighbourhood(query, k).ids

    def _set(
        self,
        ids: Sequence[str],
        vectors: Matrix,
        texts: Sequence[str] | None,
        metadatas: Sequence[Mapping[str, Any]] | None,
    ) -> None:
        held = np.array(vectors, dtype=np.float32, order="C")
        if held.ndim != 2 or held.shape[0] != len(ids) or not np.isfinite(held).all():
            raise ConfigurationError("vectors must be finite numbers of shape (passages, dimensions), one row an id")
        if len(set(ids)) != len(ids):
            raise ConfigurationError("every passage needs an id of its own")
        self._ids, self._vectors = tuple(ids), held
        self._texts = tuple(ids if texts is None else texts)
        self._metadatas = tuple({} for _ in ids) if metadatas is None else tuple(metadatas)
        if len(self._texts) != len(self._ids) or len(self._metadatas) != len(self._ids):
            raise ConfigurationError("texts and metadatas must be as many as the ids")
        self._lengths = lengths_of(held)
