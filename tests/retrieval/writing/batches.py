"""Batches of passages for the tests of writing, and what stands in the table afterwards."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.schema import Collection, CollectionSpec, epoch, make, migrate
from langgraph_prefetch.retrieval.schema.collections import Storage
from langgraph_prefetch.retrieval.schema.tables import qualified
from langgraph_prefetch.retrieval.writing import schema

DIMENSIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One row, in Python's words."""

    id: str
    text: str = "what it says"
    source: str = "a.md"
    metadata: str = "{}"
    vector: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)

    @property
    def content_hash(self) -> bytes:
        said = f"{self.text}\0{''.join(self.metadata.split())}"
        return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=16).digest()


def batch(rows: Sequence[Passage], *, large: bool = False) -> pa.RecordBatch:
    text = pa.large_string() if large else pa.string()
    dimensions = len(rows[0].vector) if rows else DIMENSIONS
    numbers: Any = pa.array(np.array([row.vector for row in rows], np.float32).reshape(-1))
    arrays: list[Any] = [
        pa.array([row.id for row in rows], text),
        pa.array([row.source for row in rows], text),
        pa.array([row.text for row in rows], text),
        pa.array([row.metadata for row in rows], text),
        pa.array([row.content_hash for row in rows], pa.binary(16)),
        pa.FixedSizeListArray.from_arrays(numbers, dimensions),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=schema(dimensions).names)


def replaced(of: pa.RecordBatch, column: str, values: Any) -> pa.RecordBatch:
    """The batch with other values in one column."""
    place = of.schema.get_field_index(column)
    return of.set_column(place, column, values)


def many(count: int, *, first: int = 0, dimensions: int = DIMENSIONS, per_source: int = 10) -> list[Passage]:
    """Passages that differ in everything; their ids are in no order."""
    rng = np.random.default_rng(first)
    return [
        Passage(
            id=hashlib.blake2b(str(number).encode(), digest_size=8).hexdigest(),
            source=f"{number // per_source:05}.md",
            text=f"passage {number} é\U0001f40d",
            metadata=json.dumps({"number": number}),
            vector=tuple(rng.standard_normal(dimensions).round(3).tolist()),
        )
        for number in range(first, first + count)
    ]


@dataclass(frozen=True, slots=True)
class Table:
    """A collection of its own in a database."""

    database: Database
    collection: Collection

    def epoch(self) -> int:
        return self.database.run(lambda connection: epoch(connection, self.collection))

    def rows(self, tenant: str = "") -> dict[str, tuple[Any, ...]]:
        """Everything that one tenant has, by id, as the server prints it."""
        query = (
            "select id, source, text, metadata::text, content_hash, embedding::text"
            f" from {qualified(self.collection)} where tenant = %s order by id"
        )
        found = self.database.run(lambda connection: connection.exec_driver_sql(query, (tenant,)).all())
        return {row[0]: tuple(row[1:]) for row in found}

    @contextmanager
    def with_settings(self, **settings: str) -> Iterator[Database]:
        """The database with other settings of the server's, in connections of its own."""
        address = self.database._joined().address
        assert isinstance(address, sa.URL)
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        with Database.open(address.update_query_dict({"options": options})) as opened:
            yield opened

    def execute(self, query: str) -> Any:
        """Run a statement in which ``{table}`` stands for the collection's table."""
        filled = query.format(table=qualified(self.collection))
        return self.database.run(lambda connection: connection.exec_driver_sql(filled).rowcount)

    def versions(self) -> dict[str, str]:
        """Where each row stands, and who locked it last: other values tell that it was written or locked."""
        query = f"select id, ctid::text || ' ' || xmin::text || ' ' || xmax::text from {qualified(self.collection)}"
        return dict(self.database.run(lambda connection: connection.exec_driver_sql(query).all()))


@contextmanager
def table(
    database: Database, *, dimensions: int = DIMENSIONS, metric: Metric = "cosine", storage: Storage = "vector"
) -> Iterator[Table]:
    spec = CollectionSpec(name=uuid.uuid4().hex, dimensions=dimensions, metric=metric, storage=storage)

    def prepare(connection: Any) -> Collection:
        migrate(connection, "public")
        return make(connection, spec, "public")

    yield Table(database, database.run(prepare))
