"""A LangChain vector store on PostgreSQL and pgvector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import sqlalchemy as sa
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStoreRetriever
from typing_extensions import Unpack

from langgraph_prefetch.errors import ConfigurationError, UnknownOptionError
from langgraph_prefetch.ports import PassageWriter, SourceLedger
from langgraph_prefetch.retrieval.driver import surviving
from langgraph_prefetch.retrieval.filters import Condition, parse
from langgraph_prefetch.retrieval.records import PgSourceLedger
from langgraph_prefetch.retrieval.search.query import checked_k
from langgraph_prefetch.retrieval.store import adding, reading
from langgraph_prefetch.retrieval.store.adding import Batch, batch
from langgraph_prefetch.retrieval.store.retriever import PgVectorRetriever
from langgraph_prefetch.retrieval.store.searching import SearchableStore
from langgraph_prefetch.retrieval.store.setup import StoreOptions

_AT_ONCE = 1_000


class PgVectorStore(SearchableStore):
    """One tenant's part of a collection of passages, as LangChain knows vector stores, sync and async.

    What it writes it writes completely or not at all: passages that cannot be stored are named, and nothing of their
    call is written.
    """

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str | None] | None = None,  # type: ignore[override]  # those without one get one
        **kwargs: Any,
    ) -> list[str]:
        """Embed texts and write them, in one transaction. One whose id is there replaces it.

        Args:
            texts: what the passages say.
            metadatas: a JSON object for each, or none.
            ids: a key for each; those that are None, or all without ``ids``, get one.
            **kwargs: ``batch_size``: how many texts the embedder is given at once, 1,000 unless said otherwise.

        Returns:
            The key of each.

        Raises:
            ConfigurationError: there are not as many metadatas or ids as texts.
            RefusedPassagesError: some cannot be stored; ``refused`` says of each why. None was written.
            WrongVectorsError: the embedder gave the wrong number of vectors, or vectors of the wrong length.
            ReadOnlyServerError: the server takes no writes.
        """
        wanted, size = batch(list(texts), metadatas, ids), _batch_size(kwargs)
        embedder, vectors = self._embedder(), []
        for start in range(0, len(wanted.texts), size):
            some = list(wanted.texts[start : start + size])
            vectors.extend(adding.counted(embedder.embed_documents(some), len(some)))
        if wanted.rows:
            self._database.run(self._writing(wanted, vectors))
            self._searcher.forget()
        return list(wanted.ids)

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str | None] | None = None,  # type: ignore[override]
        **kwargs: Any,
    ) -> list[str]:
        """As :meth:`add_texts`."""
        # Checking thousands of passages takes a while, in which the event loop has others to serve.
        wanted = await asyncio.to_thread(batch, list(texts), metadatas, ids)
        embedder, vectors, size = self._embedder(), list[Any](), _batch_size(kwargs)
        for start in range(0, len(wanted.texts), size):
            some = list(wanted.texts[start : start + size])
            vectors.extend(adding.counted(await embedder.aembed_documents(some), len(some)))
        if wanted.rows:
            await self._database.arun(await asyncio.to_thread(self._writing, wanted, vectors))
            self._searcher.forget()
        return list(wanted.ids)

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """As :meth:`add_texts`; ``ids`` count for more than the documents' own."""
        return self.add_texts(*_columns(documents), **_with_ids(documents, kwargs))

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """As :meth:`add_documents`."""
        return await self.aadd_texts(*_columns(documents), **_with_ids(documents, kwargs))

    def delete(
        self,
        ids: list[str] | None = None,
        *,
        filter: Mapping[Any, Any] | Condition | None = None,  # noqa: A002 - LangChain's word for it
        everything: bool = False,
        **kwargs: Any,
    ) -> bool:
        """Delete this tenant's passages: of those ids (whichever exist), those that fit a filter, or all.

        Raises:
            ConfigurationError: none of the three is given. All go only by ``everything=True``, never by a forgotten id.
        """
        self._database.run(self._deleting(ids, filter, everything, kwargs))
        self._searcher.forget()
        return True

    async def adelete(
        self,
        ids: list[str] | None = None,
        *,
        filter: Mapping[Any, Any] | Condition | None = None,  # noqa: A002
        everything: bool = False,
        **kwargs: Any,
    ) -> bool:
        """As :meth:`delete`."""
        await self._database.arun(self._deleting(ids, filter, everything, kwargs))
        self._searcher.forget()
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents of those ids that exist, in this order, each once."""
        return [_document(*each) for each in self._run(self._reading(ids))]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """As :meth:`get_by_ids`."""
        return [_document(*each) for each in await self._arun(self._reading(ids))]

    @classmethod
    def from_texts(  # type: ignore[override]
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Unpack[StoreOptions],
    ) -> Self:
        """Open a store, with the options of the constructor, and add texts."""
        store = cls(embedding, **kwargs)
        try:
            store.add_texts(texts, metadatas, ids=ids)  # type: ignore[arg-type]
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    async def afrom_texts(  # type: ignore[override]
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Unpack[StoreOptions],
    ) -> Self:
        """As :meth:`from_texts`."""
        store = await cls.aopen(embedding, **kwargs)
        try:
            await store.aadd_texts(texts, metadatas, ids=ids)  # type: ignore[arg-type]
        except BaseException:
            await store.aclose()
            raise
        return store

    @contextmanager
    def writer(self) -> Iterator[PassageWriter]:
        """A writer of whole batches, each with a connection of its own. Needs the extra ``ingest``.

        What it has written is on disk once the ledger's ``finish`` has returned.
        """
        from langgraph_prefetch.retrieval.writing import CopyWriter

        yield CopyWriter(self._database, self.collection, tenant=self._searcher.tenant, durable=False)
        self._searcher.forget()

    def ledger(self) -> SourceLedger:
        """Which documents of this tenant have been ingested, and in which state."""
        return PgSourceLedger(self._database, self.collection, tenant=self._searcher.tenant)

    def as_retriever(self, **kwargs: Any) -> VectorStoreRetriever:
        """A retriever on this store; ``search_type`` may also be ``"hybrid"``, and ``k`` be given directly."""
        tags = kwargs.pop("tags", None) or self._get_retriever_tags()
        return PgVectorRetriever(vectorstore=self, tags=tags, **kwargs)

    def _writing(self, wanted: Batch, vectors: list[Any]) -> Callable[[sa.Connection], None]:
        checked = adding.checked_vectors(vectors, wanted, self.collection.spec)
        return surviving(
            partial(
                adding.upsert, collection=self.collection, tenant=self._searcher.tenant, wanted=wanted, vectors=checked
            )
        )

    def _deleting(
        self, ids: Any, fits: Any, everything: bool, unknown: Mapping[str, Any]
    ) -> Callable[[sa.Connection], int]:
        for name in unknown:
            raise UnknownOptionError(name, ("ids", "filter", "everything"))
        condition = parse(fits)
        if ids is None and condition is None and not everything:
            raise ConfigurationError("delete needs ids= or filter=; all of the tenant's go by everything=True")
        return surviving(
            partial(
                reading.delete,
                collection=self.collection,
                tenant=self._searcher.tenant,
                ids=None if ids is None else reading.checked_ids(ids),
                condition=condition,
            )
        )

    def _reading(self, ids: Sequence[str]) -> Callable[[sa.Connection], list[tuple[str, str, dict[str, Any]]]]:
        return partial(
            reading.by_ids,
            collection=self.collection,
            tenant=self._searcher.tenant,
            ids=reading.checked_ids(ids),
        )


def _document(key: str, text: str, metadata: dict[str, Any]) -> Document:
    return Document(id=key, page_content=text, metadata=metadata)


def _columns(documents: list[Document]) -> tuple[list[str], list[dict[str, Any]]]:
    return [each.page_content for each in documents], [each.metadata for each in documents]


def _with_ids(documents: list[Document], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"ids": [each.id for each in documents]} | kwargs


def _batch_size(kwargs: Mapping[str, Any]) -> int:
    for name in kwargs:
        if name != "batch_size":
            raise UnknownOptionError(name, ("ids", "metadatas", "batch_size"))
    return checked_k("batch_size", kwargs.get("batch_size", _AT_ONCE), 100_000)
