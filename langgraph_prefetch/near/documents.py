"""Neighbourhoods out of LangChain: vector stores, and retrievers of which nothing is known but what they return.

Neither says what its index may have missed, so nothing is proved from them: their answers are served by the likely tier
alone, once checked searches have shown that ranking with the embedder gives what the backend gives. Passages whose
vectors a backend does not hand out are embedded; each text once, as long as it is remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Matrix, Vector
from langgraph_prefetch.passages import Metric, Neighbourhood

MAX_REMEMBERED = 16_384


class TextVectors:
    """The vectors of passages, by their text; the least recently used are forgotten. Safe for threads.

    Args:
        embeddings: the embedder of the real queries.
        most: how many are remembered.
    """

    def __init__(self, embeddings: Embeddings, most: int = MAX_REMEMBERED) -> None:
        self.embeddings, self._most = embeddings, most
        self._lock = ForkSafeLock()
        self._held: OrderedDict[str, Vector] = OrderedDict()

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        known, missing = self._known(texts)
        return self._all(texts, known, missing, self.embeddings.embed_documents(missing) if missing else [])

    async def aof(self, texts: Sequence[str]) -> Matrix:
        """As ``of``, without blocking the event loop."""
        known, missing = self._known(texts)
        return self._all(texts, known, missing, await self.embeddings.aembed_documents(missing) if missing else [])

    def _known(self, texts: Sequence[str]) -> tuple[dict[str, Vector], list[str]]:
        with self._lock:
            known = {text: self._held[text] for text in texts if text in self._held}
            for text in known:
                self._held.move_to_end(text)
        return known, [text for text in dict.fromkeys(texts) if text not in known]

    def _all(
        self, texts: Sequence[str], known: dict[str, Vector], missing: Sequence[str], made: Sequence[Sequence[float]]
    ) -> Matrix:
        new = {text: np.asarray(each, dtype=np.float32) for text, each in zip(missing, made, strict=True)}
        with self._lock:
            self._held.update(new)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        every = known | new
        return np.stack([every[text] for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)


class VectorStoreSource:
    """A :class:`~langgraph_prefetch.ports.NeighbourhoodSource` over any LangChain vector store.

    Args:
        store: searched by vector, synchronously or not.
        vectors: of the passages it returns.
        dimensions: the length of its vectors.
        epoch: a number that moves whenever the store's contents change; a constant where they never do.
        metric: what "nearest" means to the store.
    """

    def __init__(
        self,
        store: VectorStore,
        vectors: TextVectors,
        *,
        dimensions: int,
        epoch: Callable[[], int],
        metric: Metric = "cosine",
    ) -> None:
        self._store, self._vectors, self._epoch = store, vectors, epoch
        self._metric, self._dimensions = metric, dimensions

    @property
    def metric(self) -> Metric:
        """See the port."""
        return self._metric

    @property
    def dimensions(self) -> int:
        """See the port."""
        return self._dimensions

    def epoch(self) -> int:
        """See the port."""
        return self._epoch()

    def neighbourhood(self, anchor: Vector, n: int) -> Neighbourhood:
        """See the port."""
        epoch = self._epoch()  # before the search: what changes meanwhile must make the list an old one
        found = _each_once(self._store.similarity_search_by_vector(anchor.tolist(), k=n))
        return _listed(found, self._vectors.of([each.page_content for each in found]), anchor, self._metric, epoch)

    async def aneighbourhood(self, anchor: Vector, n: int) -> Neighbourhood:
        """See the port."""
        epoch = self._epoch()
        found = _each_once(await self._store.asimilarity_search_by_vector(anchor.tolist(), k=n))
        vectors = await self._vectors.aof([each.page_content for each in found])
        return _listed(found, vectors, anchor, self._metric, epoch)


class RetrieverSource:
    """Neighbourhoods of a retriever that takes texts and can return many results.

    It is asked for the anchor's text, where a store would be asked for its vector: use :meth:`around`.

    Args:
        search: a text and how many, to documents.
        asearch: the same as a coroutine; None where there is none.
        vectors: of anchors and passages.
        epoch: as for :class:`VectorStoreSource`.
    """

    def __init__(
        self,
        search: Callable[[str, int], Sequence[Document]],
        vectors: TextVectors,
        *,
        epoch: Callable[[], int],
        asearch: Callable[[str, int], Awaitable[Sequence[Document]]] | None = None,
    ) -> None:
        self._search, self._asearch, self._vectors, self._epoch = search, asearch, vectors, epoch

    def epoch(self) -> int:
        """See the port."""
        return self._epoch()

    def around(self, text: str, n: int) -> Neighbourhood:
        """The ``n`` documents returned for ``text``, with the embedder's vectors."""
        epoch = self._epoch()
        found = _each_once(self._search(text, n))
        vectors = self._vectors.of([text, *(each.page_content for each in found)])
        return _listed(found, vectors[1:], vectors[0], "cosine", epoch)

    async def aaround(self, text: str, n: int) -> Neighbourhood:
        """As ``around``, without blocking the event loop.

        Raises:
            NotImplementedError: no ``asearch`` was given.
        """
        if self._asearch is None:
            raise NotImplementedError("this retriever has no async form: call around() on a thread of its own")
        epoch = self._epoch()
        found = _each_once(await self._asearch(text, n))
        vectors = await self._vectors.aof([text, *(each.page_content for each in found)])
        return _listed(found, vectors[1:], vectors[0], "cosine", epoch)


def document_id(document: Document) -> str:
    """Its own id, else one made of what it says and of its metadata: equal documents are one passage."""
    if document.id is not None:
        return str(document.id)
    said = json.dumps([document.page_content, document.metadata], sort_keys=True, default=repr)
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _each_once(documents: Sequence[Document]) -> list[Document]:
    return list({document_id(each): each for each in reversed(documents)}.values())[::-1]


def _listed(found: Sequence[Document], vectors: Matrix, anchor: Vector, metric: Metric, epoch: int) -> Neighbourhood:
    rows = vectors.reshape(len(found), len(anchor))
    held = rows.copy()
    held.flags.writeable = False
    return Neighbourhood(
        anchor=np.asarray(anchor, dtype=np.float32),
        ids=tuple(document_id(each) for each in found),
        texts=tuple(each.page_content for each in found),
        metadatas=tuple(each.metadata for each in found),
        vectors=held,
        metric=metric,
        exact=False,
        whole=False,
        epoch=epoch,
    )
