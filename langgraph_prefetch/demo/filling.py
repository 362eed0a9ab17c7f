"""The corpus in a passage store: as anybody would fill one, but for the weight of a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document

from langgraph_prefetch.ingest import ingest_sync
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings

EF_SEARCH = 100


@contextmanager
def filled_store(url: str, corpus: Sequence[Document]) -> Iterator[PgVectorStore]:
    """A store of ``corpus``, with an HNSW index, in an empty database. Not for an event loop.

    Raises:
        StoreError: the database failed.
    """
    embeddings = embedder_of(corpus)

    def embed(texts: Sequence[str]) -> Any:
        # The name more often than it stands in the text: a query that names a function means that one.
        return embeddings.embed_matrix([f"{_name(text)} {_name(text)} {text}" for text in texts])

    with PgVectorStore(embeddings, url=url, ef_search=EF_SEARCH) as store:
        ingest_sync(corpus, None, embed, store)
        store.create_index()
        yield store


def opened_store(url: str, corpus: Sequence[Document]) -> PgVectorStore:
    """The store of ``corpus`` that another process has filled."""
    return PgVectorStore(embedder_of(corpus), url=url, ef_search=EF_SEARCH)


def embedder_of(corpus: Sequence[Document]) -> HashingEmbeddings:
    """The same vectors in every process."""
    return HashingEmbeddings(corpus=(passage.page_content for passage in corpus))


def _name(text: str) -> str:
    return text.partition(": ")[0]
