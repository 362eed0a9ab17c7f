"""The SQL of every search. A statement is made once per collection and kept; what varies are its parameters.

Two forms, by one rule each:

- **exact**: ordered by the distance plus zero, which no index can serve, so every passage of the scope is compared;
  equals are ordered by id.
- **through the index**: ordered by the bare distance, ascending, which is the one form that pgvector's index serves.
  pgvector may return rows slightly out of order (``relaxed_order``, which misses fewer), so they are sorted after, by
  the distance plus zero: PostgreSQL would take rows sorted by the bare distance for sorted already.

The index's settings travel in the statement itself, in a condition without columns: PostgreSQL checks it once, before
the first row is read. ``set_config(…, true)`` ends with the transaction. So a search is one round trip, leaves nothing
behind in the session, and works behind a pooler.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import REGCONFIG
from sqlalchemy.types import NullType

from langgraph_prefetch.retrieval.filters.sql import Expression
from langgraph_prefetch.retrieval.schema import Collection, passages, registry
from langgraph_prefetch.retrieval.schema.tables import distance_operator, vector_type

# The parameters: anchor, tenant and k; ef_search and fetch through the index; query for words.
ANCHOR = sa.bindparam("anchor", type_=NullType())
_ZERO = sa.literal_column("0.0::float8", sa.Float)
LIMIT = sa.bindparam("k", type_=sa.Integer)
FETCH = sa.bindparam("fetch", type_=sa.Integer)


def of_tenant(table: sa.Table) -> Expression:
    """The condition that every statement on passages has."""
    return table.c.tenant == sa.bindparam("tenant", type_=sa.Text)


@lru_cache(maxsize=1024)
def nearest(collection: Collection, *, exact: bool, iterative: bool) -> sa.Select[Any]:
    """Ids, texts, metadata and distances of the nearest, without a filter."""
    return filtered_nearest(collection, (), exact=exact, iterative=iterative)


def filtered_nearest(
    collection: Collection, where: Sequence[Expression], *, exact: bool, iterative: bool
) -> sa.Select[Any]:
    """As ``nearest``, of the passages that fit some conditions."""
    if exact:
        return _exact(collection, where)
    found = _through_index(collection, where, iterative=iterative).cte("nearest").prefix_with("materialized")
    listed = sa.select(found.c.id, found.c.text, found.c.metadata, found.c.distance)
    return listed.order_by(found.c.distance + _ZERO, found.c.id).limit(LIMIT)


def neighbourhood(
    collection: Collection, where: Sequence[Expression], *, exact: bool, iterative: bool
) -> sa.Select[Any]:
    """The nearest with their vectors, in one row: epoch, ids, texts, metadata as JSON, bytes of distances and vectors.

    Ids and texts are one value each, in UTF-8 with a NUL, which no text has, between them: an array would be built,
    copied and then sent element by element.

    Without a filter they come as the index gives them, neither sorted nor kept in between: carrying vectors about costs
    more than reading them.
    """
    table, listed = passages(collection), registry(collection.schema)
    inner = _exact(collection, where) if exact else _through_index(collection, where, iterative=iterative)
    inner = inner.add_columns(table.c.embedding)
    if where and not exact:
        some = inner.cte("some").prefix_with("materialized")
        inner = sa.select(some).order_by(some.c.distance + _ZERO, some.c.id).limit(LIMIT)
    found = inner.subquery("nearest")
    # As text, because SQLAlchemy does not quote the schema of a function.
    sent = sa.literal_column(f"{vector_type(collection)}_send(nearest.embedding)", sa.LargeBinary)
    epoch = sa.select(listed.c.epoch).where(listed.c.id == collection.id).scalar_subquery()
    nothing = sa.literal_column("''::bytea", sa.LargeBinary)
    return sa.select(
        epoch.label("epoch"),
        _joined(found.c.id).label("ids"),
        _joined(found.c.text).label("texts"),
        sa.func.string_agg(sa.cast(found.c.metadata, sa.Text), sa.literal_column("','")).label("metadatas"),
        sa.func.string_agg(sa.func.float8send(found.c.distance), nothing).label("distances"),
        sa.func.string_agg(sent, nothing).label("vectors"),
    )


def _joined(column: sa.ColumnElement[str]) -> sa.ColumnElement[bytes]:
    encoded = sa.func.convert_to(column, sa.literal_column("'UTF8'"), type_=sa.LargeBinary)
    return sa.func.string_agg(encoded, sa.literal_column(r"'\x00'::bytea"), type_=sa.LargeBinary)


@lru_cache(maxsize=1024)
def whole_neighbourhood(collection: Collection, *, exact: bool, iterative: bool) -> sa.Select[Any]:
    """As ``neighbourhood``, without a filter."""
    return neighbourhood(collection, (), exact=exact, iterative=iterative)


def hybrid(
    collection: Collection, where: Sequence[Expression], *, exact: bool, iterative: bool
) -> sa.CompoundSelect[Any]:
    """Both rankings in one answer, unordered: the nearest by their distance, and those that say the query's words."""
    near = filtered_nearest(collection, where, exact=exact, iterative=iterative).cte("near")
    said = _words(collection, where).cte("said")
    return sa.union_all(
        sa.select(sa.true().label("near"), near.c.id, near.c.text, near.c.metadata, near.c.distance.label("order")),
        sa.select(sa.false(), said.c.id, said.c.text, said.c.metadata, -said.c.score),
    )


def _words(collection: Collection, where: Sequence[Expression]) -> sa.Select[Any]:
    table = passages(collection)
    configuration = sa.literal(collection.spec.text_search, REGCONFIG)
    query = sa.func.websearch_to_tsquery(configuration, sa.bindparam("query", type_=sa.Text))
    score = sa.func.ts_rank_cd(table.c.words, query)
    return (
        sa.select(table.c.id, table.c.text, table.c.metadata, score.label("score"))
        .where(of_tenant(table), table.c.words.op("@@", is_comparison=True)(query), *where)
        .order_by(score.desc(), table.c.id)
        .limit(LIMIT)
    )


def _distance(collection: Collection) -> sa.ColumnElement[float]:
    embedding = passages(collection).c.embedding
    return embedding.op(distance_operator(collection), return_type=sa.Float())(ANCHOR)


def _exact(collection: Collection, where: Sequence[Expression]) -> sa.Select[Any]:
    table = passages(collection)
    distance = (_distance(collection) + _ZERO).label("distance")
    return (
        sa.select(table.c.id, table.c.text, table.c.metadata, distance)
        .where(of_tenant(table), *where)
        .order_by(distance, table.c.id)
        .limit(LIMIT)
    )


def _through_index(collection: Collection, where: Sequence[Expression], *, iterative: bool) -> sa.Select[Any]:
    table = passages(collection)
    distance = _distance(collection)
    return (
        sa.select(table.c.id, table.c.text, table.c.metadata, distance.label("distance"))
        .where(_settings(iterative=iterative), of_tenant(table), *where)
        .order_by(distance)
        .limit(FETCH)
    )


def _settings(*, iterative: bool) -> Expression:
    setting: Any = sa.func.set_config(
        sa.literal_column("'hnsw.ef_search'"), sa.bindparam("ef_search", type_=sa.Text), sa.true(), type_=sa.Text
    )
    if iterative:
        setting = setting + sa.func.set_config(
            sa.literal_column("'hnsw.iterative_scan'"), sa.literal_column("'relaxed_order'"), sa.true(), type_=sa.Text
        )
    return sa.select(setting).scalar_subquery().is_not(None)
