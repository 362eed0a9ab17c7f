"""Writes batches of passages into a collection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import psycopg
import pyarrow as pa
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.errors import RefusedPassagesError
from langgraph_prefetch.passages import RefusedRow, Written
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.driver import Cursor, copy_in, execute, fetch_one, in_transaction
from langgraph_prefetch.retrieval.schema.collections import Collection
from langgraph_prefetch.retrieval.schema.vectors import Binary
from langgraph_prefetch.retrieval.writing import sifting
from langgraph_prefetch.retrieval.writing.columns import check_schema, columns, kernels
from langgraph_prefetch.retrieval.writing.copy_format import FIELDS, copy_stream, text_array
from langgraph_prefetch.retrieval.writing.statements import statements_for

_REFUSALS = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded)


class CopyWriter:
    """A :class:`~langgraph_prefetch.ports.PassageWriter` for one tenant of a collection: each batch a transaction.

    New rows go by binary COPY straight into the table, which takes half the time of the other way. Where the tenant has
    one of the ids already, or another writer is about to, the batch goes into a staging table and from there by one
    upsert: rows that stand there just so are neither written nor locked, and where all do, the collection's epoch
    stays. It asks first whether ids are known, until a batch was all new; then it tries, until one was not.

    Rows are written in the order of their ids, by bytes, so that writers of the same rows wait for each other instead
    of locking each other out; should another program do so, the batch is written again.

    Each write takes a connection of the pool; the writer is for one thread at a time, and several may write at once.
    An HNSW index makes each row many times as expensive: build it after a first load.

    Args:
        database: where.
        collection: what into.
        tenant: whose rows they are.
        durable: False returns before the rows are on disk, which is then the work of the next ordinary commit, such as
            ``SourceLedger.finish``. Until then a crash of the server, not of this process, may lose whole batches.
    """

    def __init__(self, database: Database, collection: Collection, *, tenant: str = "", durable: bool = True) -> None:
        self._database, self._collection, self._tenant, self._durable = database, collection, tenant, durable
        self._says = statements_for(collection)
        self._all_new = False

    @property
    def dimensions(self) -> int:
        """The length of the vectors it takes."""
        return self._collection.spec.dimensions

    def sift(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, tuple[RefusedRow, ...]]:
        """The rows that can be written, and those that cannot, with the reasons. Nothing is sent.

        A batch without fault is handed back as it is. Of rows with one id the first is kept.

        Raises:
            ConfigurationError: the columns are others, or of other types.
        """
        check_schema(batch, self.dimensions)
        spec = self._collection.spec
        refused = sifting.faults(batch, tenant=self._tenant, metric=spec.metric, storage=spec.storage)
        return sifting.without(batch, refused), refused

    def write(self, batch: pa.RecordBatch) -> Written:
        """Insert or update the rows by ``id``: all of the batch, or none of it and an error.

        Raises:
            ConfigurationError: the columns are others, or of other types.
            RefusedPassagesError: rows that cannot be stored; says which, and why.
            StoreError: the server cannot be reached, or takes no writes.
        """
        refused = self.sift(batch)[1]
        if refused:
            raise RefusedPassagesError({each.row: f"{each.id!r}: {each.reason}" for each in refused})
        if not batch.num_rows:
            return Written()
        sending = _Sending(batch, self._order(batch), self._tenant, self._collection.spec.storage)
        try:
            return in_transaction(self._database, lambda cursor: self._write(cursor, sending))
        except DBAPIError as error:
            if isinstance(error.orig, _REFUSALS):
                raise sending.refusal(error.orig) from None  # the driver's error quotes the row
            raise

    def _order(self, batch: pa.RecordBatch) -> NDArray[np.int64] | None:
        ids = batch.column("id")
        if sifting.strictly_increasing(ids):
            return None
        order: NDArray[np.int64] = kernels.sort_indices(ids).to_numpy().astype(np.int64)
        return order

    def _write(self, cursor: Cursor, sending: _Sending) -> Written:
        says, sources = self._says, Binary(text_array(kernels.unique(sending.batch.column("source"))))
        if not self._durable:
            execute(cursor, "set local synchronous_commit = off")
        execute(cursor, says.forget, (self._collection.id, self._tenant, sources))
        if not self._any_known(cursor, sending) and self._inserted(cursor, sending):
            return Written(added=len(sending))
        execute(cursor, says.make_staging)
        copy_in(cursor, says.staging, FIELDS, sending.stream())
        (unchanged,) = fetch_one(cursor, says.unchanged)
        if unchanged == len(sending):
            return Written(unchanged=unchanged)
        added, changed = fetch_one(cursor, says.upsert)
        return Written(added=added, updated=changed - added, unchanged=len(sending) - changed)

    def _any_known(self, cursor: Cursor, sending: _Sending) -> bool:
        """Whether one of the ids is there already; not asked while batch after batch was new, and no harm if wrong."""
        if self._all_new:
            return False
        ids = Binary(text_array(sending.batch.column("id")))
        (known,) = fetch_one(cursor, self._says.any_known, (ids, self._tenant))
        return bool(known)

    def _inserted(self, cursor: Cursor, sending: _Sending) -> bool:
        """Whether the rows could go straight into the table: none was there, nor about to be by another writer."""
        execute(cursor, "savepoint prefetch_new_rows")
        try:
            copy_in(cursor, self._says.table, FIELDS, sending.stream())
        except psycopg.errors.UniqueViolation:
            execute(cursor, "rollback to savepoint prefetch_new_rows")
            self._all_new = False
        else:
            self._all_new = True
        return self._all_new


@dataclass(frozen=True, slots=True, eq=False)
class _Sending:
    """A batch on its way, with the order in which its rows go; as they are if None."""

    batch: pa.RecordBatch
    order: NDArray[np.int64] | None
    tenant: str
    storage: str

    def __len__(self) -> int:
        rows: int = self.batch.num_rows
        return rows

    def stream(self) -> Iterator[memoryview]:
        return copy_stream(columns(self.batch), tenant=self.tenant, storage=self.storage, order=self.order)

    def refusal(self, error: psycopg.Error) -> RefusedPassagesError:
        """What the server said of a row, without what it quotes of it."""
        line = re.match(r"COPY \S+, line (\d+)", error.diag.context or "")
        said = error.diag.message_primary or type(error).__name__
        if line is None:
            return RefusedPassagesError(dict.fromkeys(range(len(self)), said))
        row = int(line[1]) - 1
        row = row if self.order is None else int(self.order[row])
        return RefusedPassagesError({row: f"{self.batch.column('id')[row].as_py()!r}: {said}"})
