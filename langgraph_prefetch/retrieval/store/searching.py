"""LangChain's ways to search, and ours. Each pair is one search, run on this thread or awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from langchain_core.documents import Document
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.retrieval.filters import Condition
from langgraph_prefetch.retrieval.search.paths import MAX_NEIGHBOURS
from langgraph_prefetch.retrieval.search.query import checked_k, checked_query, checked_vector, relevance
from langgraph_prefetch.retrieval.search.results import Hit, Nearest
from langgraph_prefetch.retrieval.search.searcher import SearchOptions
from langgraph_prefetch.retrieval.store.lifecycle import OpenStore

Vector = Sequence[float] | NDArray[Any]
"""``(dimensions,)`` numbers."""


class SearchableStore(OpenStore):
    """Searches, always of the store's tenant.

    Every search takes the options of :class:`SearchOptions` as keyword arguments: ``filter``, ``exact``, ``ef_search``.
    A distance is smaller the nearer: 1 - cosine, Euclidean, or the inner product with its sign turned.

    Every search raises:
        ConfigurationError: the query is empty, ``k`` is out of range, or an option has no meaning.
        FilterError: the filter has none.
        WrongVectorsError: the vector has another length, is not finite, or has no direction.
        StoreError: what :meth:`Database.run` raises.
    """

    def nearest(self, query: str | Vector, k: int = 4, **options: Any) -> Nearest:
        """The passages nearest to a text or a vector, and how far the list can be relied on."""
        return self._run(self._nearest(self._vector(query), k, options))

    async def anearest(self, query: str | Vector, k: int = 4, **options: Any) -> Nearest:
        """As :meth:`nearest`."""
        return await self._arun(self._nearest(await self._avector(query), k, options))

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The documents nearest to a text."""
        return as_documents(self.nearest(query, k, **kwargs).hits)

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """As :meth:`similarity_search`."""
        return as_documents((await self.anearest(query, k, **kwargs)).hits)

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """The documents nearest to a text, with their distances."""
        return _scored(self.nearest(query, k, **kwargs).hits)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """As :meth:`similarity_search_with_score`."""
        return _scored((await self.anearest(query, k, **kwargs)).hits)

    def similarity_search_by_vector(self, embedding: Vector, k: int = 4, **kwargs: Any) -> list[Document]:
        """The documents nearest to a vector."""
        return as_documents(self.nearest(embedding, k, **kwargs).hits)

    async def asimilarity_search_by_vector(self, embedding: Vector, k: int = 4, **kwargs: Any) -> list[Document]:
        """As :meth:`similarity_search_by_vector`."""
        return as_documents((await self.anearest(embedding, k, **kwargs)).hits)

    def similarity_search_with_score_by_vector(
        self, embedding: Vector, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The documents nearest to a vector, with their distances."""
        return _scored(self.nearest(embedding, k, **kwargs).hits)

    async def asimilarity_search_with_score_by_vector(
        self, embedding: Vector, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """As :meth:`similarity_search_with_score_by_vector`."""
        return _scored((await self.anearest(embedding, k, **kwargs)).hits)

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Documents near to a text and unlike each other; see :meth:`max_marginal_relevance_search_by_vector`."""
        return self._diverse(self._vector(query), k, fetch_k, lambda_mult, kwargs)

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """As :meth:`max_marginal_relevance_search`."""
        return await self._adiverse(await self._avector(query), k, fetch_k, lambda_mult, kwargs)

    def max_marginal_relevance_search_by_vector(
        self, embedding: Vector, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Documents near to a vector and unlike each other.

        Args:
            embedding: what to be near to.
            k: how many.
            fetch_k: of how many nearest they are chosen, 1 to 2,000.
            lambda_mult: 1 for nearness alone, 0 for difference alone.
            **kwargs: the options of a search.
        """
        return self._diverse(self._vector(embedding), k, fetch_k, lambda_mult, kwargs)

    async def amax_marginal_relevance_search_by_vector(
        self, embedding: Vector, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """As :meth:`max_marginal_relevance_search_by_vector`."""
        return await self._adiverse(await self._avector(embedding), k, fetch_k, lambda_mult, kwargs)

    def hybrid_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The documents that are best by meaning and by words together (reciprocal rank fusion).

        Raises:
            TextSearchOffError: the collection was made without ``text_search``.
        """
        return as_documents(self._run(self._hybrid(query, self._vector(query), k, kwargs)))

    async def ahybrid_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """As :meth:`hybrid_search`."""
        return as_documents(await self._arun(self._hybrid(query, await self._avector(query), k, kwargs)))

    def neighbourhood(
        self,
        anchor: Vector,
        n: int = 500,
        filter: Mapping[Any, Any] | Condition | None = None,  # noqa: A002 - LangChain's word for it
        exact: bool | None = None,
        ef_search: int | None = None,
    ) -> Neighbourhood:
        """The passages nearest to a vector with their own vectors, in one round trip.

        Args:
            anchor: ``(dimensions,)`` numbers.
            n: how many, 1 to 2,000.
            filter: a condition on the metadata.
            exact: compare every passage, or go through the index; None: as the store does it.
            ef_search: candidates of an index search; never fewer than ``n``, up to 1,000.
        """
        return self._run(self._around(anchor, n, SearchOptions(filter=filter, exact=exact, ef_search=ef_search)))

    async def aneighbourhood(
        self,
        anchor: Vector,
        n: int = 500,
        filter: Mapping[Any, Any] | Condition | None = None,  # noqa: A002
        exact: bool | None = None,
        ef_search: int | None = None,
    ) -> Neighbourhood:
        """As :meth:`neighbourhood`."""
        return await self._arun(self._around(anchor, n, SearchOptions(filter=filter, exact=exact, ef_search=ef_search)))

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        metric = self.metric
        return lambda distance: relevance(distance, metric)

    def _vector(self, query: str | Vector) -> NDArray[np.float32]:
        if not isinstance(query, str):
            return checked_vector(query, self.collection.spec, "the vector to search with")
        return checked_vector(self._embedder().embed_query(checked_query(query)), self.collection.spec)

    async def _avector(self, query: str | Vector) -> NDArray[np.float32]:
        if not isinstance(query, str):
            return checked_vector(query, self.collection.spec, "the vector to search with")
        return checked_vector(await self._embedder().aembed_query(checked_query(query)), self.collection.spec)

    def _embedder(self) -> Any:
        if self._embeddings is None:
            raise ConfigurationError("this store was opened without embeddings: search by vector, or give it some")
        return self._embeddings

    def _nearest(
        self, vector: NDArray[np.float32], k: int, options: Mapping[str, Any]
    ) -> Callable[[sa.Connection], Nearest]:
        return self._searcher.nearest(vector, k, SearchOptions.of(options))

    def _hybrid(
        self, query: str, vector: NDArray[np.float32], k: int, options: Mapping[str, Any]
    ) -> Callable[[sa.Connection], list[Hit]]:
        return self._searcher.hybrid(query, vector, k, SearchOptions.of(options))

    def _around(self, anchor: Any, n: int, options: SearchOptions) -> Callable[[sa.Connection], Neighbourhood]:
        vector = checked_vector(anchor, self.collection.spec, "the anchor")
        return self._searcher.neighbourhood(vector, n, options)

    def _diverse(
        self, vector: NDArray[np.float32], k: int, fetch_k: int, lambda_mult: float, options: Mapping[str, Any]
    ) -> list[Document]:
        checked_k("k", k, MAX_NEIGHBOURS)
        found = self._run(self._around(vector, max(k, checked_k("fetch_k", fetch_k)), SearchOptions.of(options)))
        return _chosen(found, k, lambda_mult)

    async def _adiverse(
        self, vector: NDArray[np.float32], k: int, fetch_k: int, lambda_mult: float, options: Mapping[str, Any]
    ) -> list[Document]:
        checked_k("k", k, MAX_NEIGHBOURS)
        found = await self._arun(self._around(vector, max(k, checked_k("fetch_k", fetch_k)), SearchOptions.of(options)))
        return await asyncio.to_thread(_chosen, found, k, lambda_mult)


def as_documents(hits: Sequence[Hit]) -> list[Document]:
    """As LangChain knows them."""
    return [Document(id=hit.id, page_content=hit.text, metadata=dict(hit.metadata)) for hit in hits]


def _scored(hits: Sequence[Hit]) -> list[tuple[Document, float]]:
    return list(zip(as_documents(hits), (hit.distance for hit in hits), strict=True))


def _chosen(found: Neighbourhood, k: int, lambda_mult: float) -> list[Document]:
    if not 0 <= lambda_mult <= 1:
        raise ConfigurationError(f"lambda_mult must be from 0 to 1, not {lambda_mult!r}")
    if not found.ids:
        return []
    picked = maximal_marginal_relevance(found.anchor, list(found.vectors), lambda_mult=lambda_mult, k=k)
    return [
        Document(id=found.ids[at], page_content=found.texts[at], metadata=dict(found.metadatas[at])) for at in picked
    ]
