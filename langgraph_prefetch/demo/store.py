"""Passages in a pgvector table: as much of a vector store as the demo needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from pgvector.psycopg import register_vector

from langgraph_prefetch.demo.corpus import Passage
from langgraph_prefetch.demo.embedding import DIMENSIONS, HashingEmbedder

_SCHEMA = f"""
create extension if not exists vector;
create table passages (name text primary key, body text not null, embedding vector({DIMENSIONS}) not null);
"""
_INDEX = "create index on passages using hnsw (embedding vector_cosine_ops)"
_SEARCH = "select name, body from passages order by embedding <=> %s limit %s"


class PassageStore:
    """Finds the passages nearest to a query. Safe for threads, which take turns: a search takes about a millisecond."""

    def __init__(self, connection: psycopg.Connection, embedder: HashingEmbedder) -> None:
        self._connection, self._embedder = connection, embedder
        self._lock = threading.Lock()

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """The ``k`` nearest passages, nearest first."""
        vector = self._embedder.embed(query)
        with self._lock:
            rows = self._connection.execute(_SEARCH, (vector, k)).fetchall()
        return tuple(Passage(name, body) for name, body in rows)


@contextmanager
def filled_store(uri: str, corpus: Sequence[Passage]) -> Iterator[PassageStore]:
    """A store of ``corpus``, with an HNSW index, in an empty database."""
    embedder = HashingEmbedder(passage.text for passage in corpus)
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(_SCHEMA)
        connection.execute("set hnsw.ef_search = 100")
        register_vector(connection)
        with (
            connection.cursor() as cursor,
            cursor.copy("copy passages from stdin with (format binary)") as copy,
        ):
            copy.set_types(["text", "text", "vector"])
            for passage in corpus:
                # The name more often than it stands in the text: a query that names a function means that one.
                vector = embedder.embed(f"{passage.name} {passage.name} {passage.text}")
                copy.write_row((passage.name, passage.text, vector))
        connection.execute(_INDEX)
        connection.execute("analyze passages")
        yield PassageStore(connection, embedder)
