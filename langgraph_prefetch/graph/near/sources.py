"""Where passages are fetched, seen alike: stores that give vectors, LangChain's vector stores, retrievers."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langgraph_prefetch.errors import EmbedderMismatchError
from langgraph_prefetch.handing import has_own_async as retrieves_async
from langgraph_prefetch.handing import sole
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.documents import RetrieverSource, TextVectors, VectorStoreSource, document_id
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.near.run import LocalAnswer
from langgraph_prefetch.near_miss import NearMiss, Searched
from langgraph_prefetch.passages import Neighbourhood, NeighbourhoodSource

T = TypeVar("T")
Loop = asyncio.AbstractEventLoop | None


AsyncFetch = Callable[[str, Vector, int], Coroutine[Any, Any, Neighbourhood]]


class Fetcher(Protocol):
    """A source. Its methods block."""

    @property
    def tells_epoch(self) -> bool:
        """False where nothing tells whether the contents have changed."""
        ...

    @property
    def afetch(self) -> AsyncFetch | None:
        """``fetch`` as a coroutine; None where the source, or the embedder, has no async form of its own."""
        ...

    def fetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        """The ``n`` passages nearest to a text, of which ``vector`` is the vector."""
        ...

    def epoch(self) -> int:
        """Moves when the contents change."""
        ...


class _Vectors:
    """A store that gives vectors."""

    tells_epoch = True

    def __init__(self, source: NeighbourhoodSource, kwargs: Mapping[str, Any]) -> None:
        self._source, self._kwargs = source, dict(kwargs)
        self.afetch: AsyncFetch | None = self._afetch

    def fetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return self._source.neighbourhood(vector, n, **self._kwargs)

    async def _afetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return await self._source.aneighbourhood(vector, n, **self._kwargs)

    def epoch(self) -> int:
        return self._source.epoch()


class _Store:
    """A LangChain vector store, whose passages are embedded again."""

    def __init__(self, store: VectorStore, embeddings: Embeddings, near: NearMiss, kwargs: Mapping[str, Any]) -> None:
        self.tells_epoch = near.epoch is not None
        searched: Any = _With(store, kwargs)
        self._source = VectorStoreSource(
            searched, TextVectors(embeddings), dimensions=0, epoch=near.epoch or _never, metric=near.metric
        )
        own = type(store).asimilarity_search_by_vector is not VectorStore.asimilarity_search_by_vector
        self.afetch: AsyncFetch | None = self._afetch if own and has_own_async(embeddings) else None

    def fetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return self._source.neighbourhood(vector, n)

    async def _afetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return await self._source.aneighbourhood(vector, n)

    def epoch(self) -> int:
        return self._source.epoch()


class _Retriever:
    """A retriever of which nothing is known but what it returns."""

    def __init__(self, retriever: BaseRetriever, embeddings: Embeddings, near: NearMiss) -> None:
        kwargs = dict(near.search_kwargs)
        self.tells_epoch = near.epoch is not None

        async def asearch(text: str, n: int) -> list[Document]:
            return (await retriever.ainvoke(text, **kwargs))[:n]

        self._source = RetrieverSource(
            lambda text, n: retriever.invoke(text, **kwargs)[:n],
            TextVectors(embeddings),
            epoch=near.epoch or _never,
            asearch=asearch,
        )
        own = retrieves_async(retriever)
        self.afetch: AsyncFetch | None = self._afetch if own and has_own_async(embeddings) else None

    def fetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return self._source.around(text, n)

    async def _afetch(self, text: str, vector: Vector, n: int) -> Neighbourhood:
        return await self._source.aaround(text, n)

    def epoch(self) -> int:
        return self._source.epoch()


class _With:
    """A vector store that is always searched with certain arguments."""

    def __init__(self, store: VectorStore, kwargs: Mapping[str, Any]) -> None:
        self._store, self._kwargs = store, dict(kwargs)

    def similarity_search_by_vector(self, vector: list[float], k: int) -> list[Document]:
        return self._store.similarity_search_by_vector(vector, k=k, **self._kwargs)

    async def asimilarity_search_by_vector(self, vector: list[float], k: int) -> list[Document]:
        return await self._store.asimilarity_search_by_vector(vector, k=k, **self._kwargs)


def fetcher_of(source: Searched, near: NearMiss, embeddings: Embeddings) -> Fetcher:
    """The source as a fetcher. A plain retriever of a vector store is its store, with its search arguments.

    What stands before one retriever, such as a gateway, is that retriever: it could not hand on such a search.
    """
    kwargs, source = dict(near.search_kwargs), sole(source)
    if isinstance(source, VectorStoreRetriever) and source.search_type == "similarity":
        kwargs = {**source.search_kwargs, **kwargs}
        source = source.vectorstore
    kwargs.pop("k", None)
    if isinstance(source, NeighbourhoodSource):
        return _Vectors(source, kwargs)
    if isinstance(source, VectorStore):
        return _Store(source, embeddings, near, kwargs)
    return _Retriever(source, embeddings, near)


def documents_of(answered: LocalAnswer | Neighbourhood) -> list[Document]:
    """The passages as the source would hand them out; nothing in them is shared with what is kept."""
    found = []
    for name, text, metadata in zip(answered.ids, answered.texts, answered.metadatas, strict=True):
        bare = Document(page_content=text, metadata=copy.deepcopy(dict(metadata)))
        # A document without an id goes by one that was made of it.
        found.append(
            bare if document_id(bare) == name else Document(id=name, **bare.model_dump(exclude={"id", "type"}))
        )
    return found


def has_own_async(embeddings: Embeddings) -> bool:
    """Whether its coroutines are its own, rather than its plain methods on the loop's thread pool."""
    return type(embeddings).aembed_query is not Embeddings.aembed_query


def embed(embeddings: Embeddings, text: str, loop: Loop) -> Vector:
    """The vector of a query. Blocks; an async embedder works on ``loop``, to which its client belongs."""
    if loop is not None and has_own_async(embeddings):
        return as_vector(asyncio.run_coroutine_threadsafe(embeddings.aembed_query(text), loop).result())
    return as_vector(embeddings.embed_query(text))


def as_vector(made: Any) -> Vector:
    """What an embedder gave, as an array.

    Raises:
        EmbedderMismatchError: it is no vector of finite numbers.
    """
    vector = np.asarray(made, dtype=np.float32)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise EmbedderMismatchError("the embedder gave no vector of finite numbers")
    return vector


def _never() -> int:
    return 0
