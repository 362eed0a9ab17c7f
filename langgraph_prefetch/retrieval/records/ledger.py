"""Which documents were ingested completely, in which state."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from psycopg.errors import UniqueViolation

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import ListedSources, SourceDone, SourcesDone
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.driver import VICTIM, Cursor, copy_in, execute, fetch_one, in_transaction
from langgraph_prefetch.retrieval.records import ledger_sql
from langgraph_prefetch.retrieval.records.binary import copy_rows, integers, texts
from langgraph_prefetch.retrieval.schema.collections import Collection
from langgraph_prefetch.retrieval.schema.sizes import MAX_ENTRY_BYTES, require_fits
from langgraph_prefetch.retrieval.schema.tables import qualified, quoted
from langgraph_prefetch.retrieval.schema.vectors import Binary

_FIELDS = ("collection", "tenant", "source", "fingerprint")


class PgSourceLedger:
    """A :class:`~langgraph_prefetch.ports.SourceLedger` in the database, for one tenant of a collection.

    A document that was cut off has no fingerprint: ``CopyWriter`` takes it away when it writes one of the document's
    rows, and a trigger when a row is changed or deleted by whatever hand. Two ingestions of *different* states of one
    document at the same time are the exception: where one of them ends, and the other crashes afterwards, the document
    passes for the state that ended, whatever the other wrote since.

    Args:
        database: where.
        collection: of what.
        tenant: whose documents.
    """

    def __init__(self, database: Database, collection: Collection, *, tenant: str = "") -> None:
        self._database, self._collection, self._tenant = database, collection, tenant
        self._table = f"{quoted(collection.schema)}.prefetch_sources"
        self._sql = ledger_sql.statements(qualified(collection), quoted(collection.schema))

    def fingerprints(self, sources: Several[str] | None = None) -> Mapping[str, bytes]:
        """The fingerprints of completely ingested documents, in one round trip.

        They come as three values, not as rows: 18,000 take about as long as one row takes a thousand times. All of
        them must fit into memory, and below PostgreSQL's limit of one gigabyte a value; above some millions of
        documents ask for one block of them at a time.

        Args:
            sources: ask only for these.
        """
        keys: tuple[Any, ...] = (self._collection.id, self._tenant)
        query = self._sql.all_fingerprints
        if sources is not None:
            query, keys = self._sql.some_fingerprints, (*keys, texts(sources))
        return _decoded(*in_transaction(self._database, lambda cursor: fetch_one(cursor, query, keys)))

    def listed(self, first: str, last: str, most: int) -> ListedSources | None:
        """The completely ingested documents from ``first`` to ``last``, as a read of the primary key gives them.

        As fast as the server reads; to be asked for each by name takes several times as long. None where there are more
        than ``most``, of which no more are read, or one of the fingerprints has not 16 bytes.
        """
        keys = (self._collection.id, self._tenant, first, last, most + 1)
        count, even, sources, fingerprints = in_transaction(
            self._database, lambda cursor: fetch_one(cursor, self._sql.listed, keys)
        )
        return ListedSources(sources=sources, fingerprints=fingerprints) if even and count <= most else None

    def finish(self, done: Sequence[SourceDone], *, prune: bool) -> int:
        """Remember the fingerprints, in one transaction; call it when all writers have written these documents' rows.

        On return everything that was written before the call is on disk: the server's log is one, and is written up to
        this transaction. (Unless ``synchronous_commit`` is off on the server; then its owner decided so.)

        Args:
            done: each document once; may be empty. Columns, a ``SourcesDone``, are used as they are.
            prune: also delete the documents' rows that are not among their ``ids``.

        Returns:
            How many rows were deleted.

        Raises:
            ConfigurationError: a document is there twice, or its name is too long.
        """
        columns = SourcesDone.of(done).sorted()  # by code point, which is the order of UTF-8's bytes
        sources, whose = columns.sources, (self._collection.id, self._tenant)
        if len(set(sources)) < len(sources):
            raise ConfigurationError("a document can be finished once; one is there twice")
        surely = (MAX_ENTRY_BYTES - len(self._tenant.encode())) // 4  # characters that never take more bytes
        for source in sources if max(map(len, sources), default=0) > surely else ():
            require_fits("the tenant and the name of a document", self._tenant, source)
        names = texts(sources)
        rows = memoryview(copy_rows(whose, sources, columns.fingerprints))

        def work(cursor: Cursor) -> int:
            if not sources:
                execute(cursor, self._sql.touch, (self._collection.id,))
                return 0
            older = self._with_older_rows(cursor, columns, names) if prune else []
            # Whoever wrote a row of them has taken their fingerprints away, so that nearly always none is there.
            if not older and self._remembered(cursor, rows):
                return 0
            execute(cursor, self._sql.forget, (*whose, names))
            deleted = self._prune(cursor, columns, older) if older else 0
            copy_in(cursor, self._table, _FIELDS, [rows])
            return deleted

        # Another ingestion may have finished one of them since it was looked for.
        return in_transaction(self._database, work, again=(*VICTIM, UniqueViolation))

    def _remembered(self, cursor: Cursor, rows: memoryview) -> bool:
        """Whether the fingerprints could be added: there were none of these documents."""
        execute(cursor, "savepoint prefetch_new_sources")
        try:
            copy_in(cursor, self._table, _FIELDS, [rows])
        except UniqueViolation:
            execute(cursor, "rollback to savepoint prefetch_new_sources")
            return False
        return True

    def keep_only(self, sources: Several[str]) -> int:
        """Delete the rows and fingerprints of all other documents; returns how many rows went.

        Where there are no others, nothing is written, and the collection's epoch stays.
        """
        kept = texts(sources)

        def work(cursor: Cursor) -> int:
            (known,) = fetch_one(cursor, self._sql.others, (self._tenant, self._collection.id, self._tenant, kept))
            if not known:
                return 0
            others = texts(sorted(known))
            execute(cursor, self._sql.forget, (self._collection.id, self._tenant, others))
            return execute(cursor, self._sql.delete_sources, (self._tenant, others))

        return in_transaction(self._database, work)

    def _with_older_rows(self, cursor: Cursor, done: SourcesDone, names: Binary) -> list[int]:
        """The places of the documents that have another number of rows than they should have."""
        (numbers,) = fetch_one(cursor, self._sql.other_counts, (names, integers(done.counts), self._tenant))
        return [number - 1 for number in numbers or ()]

    def _prune(self, cursor: Cursor, done: SourcesDone, places: Sequence[int]) -> int:
        kept = [key for place in places for key in done.ids_of(place)]
        sources = texts([done.sources[place] for place in places])
        return execute(cursor, self._sql.delete_rows, (self._tenant, sources, texts(kept)))


def _decoded(sources: bytes | None, fingerprints: bytes | None, lengths: bytes | None) -> dict[str, bytes]:
    if sources is None or fingerprints is None or lengths is None:
        return {}
    ends = np.cumsum(np.frombuffer(lengths, ">i4")).tolist()
    cut = [fingerprints[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return dict(zip(sources.decode().split("\0"), cut, strict=True))
