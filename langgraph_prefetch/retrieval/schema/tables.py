"""The tables as SQLAlchemy knows them, and the words of pgvector's SQL."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BYTEA, JSONB, TSVECTOR
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.types import UserDefinedType

from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.schema.collections import Collection

OPERATORS: dict[Metric, str] = {"cosine": "<=>", "l2": "<->", "inner_product": "<#>"}
"""A distance that is smaller the nearer; ``<#>`` is the product with its sign turned."""
_OPERATOR_CLASSES: dict[Metric, str] = {"cosine": "cosine_ops", "l2": "l2_ops", "inner_product": "ip_ops"}
SEARCHED_CHARACTERS = 100_000
"""Words of a passage beyond these are not searched: more may not fit PostgreSQL's ``tsvector``."""
WHOLE_ROW_BYTES = 8_160
"""What fits into one page."""

_PREPARER = PGDialect().identifier_preparer  # type: ignore[no-untyped-call]


class Embedding(UserDefinedType[Any]):
    """The column type of a collection's vectors."""

    cache_ok = True

    def __init__(self, spelled: str) -> None:
        self.spelled = spelled

    def get_col_spec(self, **_: Any) -> str:
        """As it is written in SQL, with its schema and length."""
        return self.spelled


def quoted(name: str) -> str:
    """A name as it is written in SQL."""
    return _PREPARER.quote(name)


def vector_type(collection: Collection) -> str:
    """The type of its vectors as it is written in SQL, without their length."""
    return f"{quoted(collection.extension_schema)}.{collection.spec.storage}"


def distance_operator(collection: Collection) -> str:
    """The operator of its metric as it is written in SQL, found whatever the search path."""
    return f"operator({quoted(collection.extension_schema)}.{OPERATORS[collection.spec.metric]})"


def operator_class(collection: Collection) -> str:
    """The operator class an index must have for the metric and storage, without its schema."""
    return f"{collection.spec.storage}_{_OPERATOR_CLASSES[collection.spec.metric]}"


def qualified(collection: Collection) -> str:
    """Its table as it is written in SQL."""
    return f"{quoted(collection.schema)}.{quoted(collection.table_name)}"


@lru_cache(maxsize=64)
def registry(schema: str) -> sa.Table:
    """All collections of a schema."""
    return sa.Table(
        "prefetch_collections",
        sa.MetaData(schema=schema),
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text),
        sa.Column("dimensions", sa.Integer),
        sa.Column("metric", sa.Text),
        sa.Column("storage", sa.Text),
        sa.Column("text_search", sa.Text),
        sa.Column("embedder", sa.Text),
        sa.Column("epoch", sa.BigInteger),
    )


@lru_cache(maxsize=1024)
def passages(collection: Collection) -> sa.Table:
    """The passages of a collection, of all tenants: every query names one.

    Texts that are keys compare by their bytes, as Python compares them, so that ties come out alike everywhere.
    """
    spec = collection.spec
    key = sa.Text(collation="C")
    table = sa.Table(
        collection.table_name,
        sa.MetaData(schema=collection.schema),
        sa.Column("tenant", key, primary_key=True, server_default=""),
        sa.Column("id", key, primary_key=True),
        sa.Column("source", key, nullable=False, server_default=""),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("metadata", JSONB, nullable=False, server_default="{}"),
        sa.Column("content_hash", BYTEA),
        sa.Column("embedding", Embedding(f"{vector_type(collection)}({spec.dimensions})"), nullable=False),
        sa.CheckConstraint("jsonb_typeof(metadata) = 'object'"),
        sa.Index(f"{collection.table_name}_source", "tenant", "source"),
        # By default PostgreSQL moves the longest value of a row above 2 kB elsewhere: the vector, which every exact
        # search and every neighbourhood would then look up one by one. Rows stay whole up to a page.
        postgresql_with={"toast_tuple_target": WHOLE_ROW_BYTES},
    )
    if spec.text_search is not None:
        configuration = spec.text_search.replace("'", "''")
        words = f"to_tsvector('{configuration}'::regconfig, left(text, {SEARCHED_CHARACTERS}))"
        table.append_column(sa.Column("words", TSVECTOR, sa.Computed(words, persisted=True)))
        sa.Index(f"{collection.table_name}_words", table.c.words, postgresql_using="gin")
    return table
