"""Indexes on a collection: made, looked at, and checked that a search will use them."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.schema import Collection, passages
from langgraph_prefetch.retrieval.schema.collections import INDEXABLE
from langgraph_prefetch.retrieval.schema.tables import operator_class, qualified, quoted
from langgraph_prefetch.retrieval.search.paths import SMALL_SCOPE, Facts
from langgraph_prefetch.retrieval.search.statements import of_tenant

_FIRST_ITERATIVE = (0, 8)

_INDEXES = sa.text("""
select i.relname as name, am.amname as method, oc.opcname as operator_class, x.indisvalid as valid
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_am am on am.oid = i.relam
join pg_class t on t.oid = x.indrelid
join pg_namespace n on n.oid = t.relnamespace
join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[0] and a.attname = 'embedding'
join pg_opclass oc on oc.oid = x.indclass[0]
where n.nspname = :schema and t.relname = :table and x.indpred is null
order by i.relname
""")

_BEING_MADE = sa.text("""
select count(*) from pg_stat_progress_create_index as making
join pg_class t on t.oid = making.relid join pg_namespace n on n.oid = t.relnamespace
where making.datname = current_database() and n.nspname = :schema and t.relname = :table
""")
_MAX_MEMORY_MB = 2_097_151
_LOCK = 0x696E6478
"""Any number that no other program locks by."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """An index on a collection's vectors, whoever made it."""

    name: str
    method: str
    operator_class: str
    valid: bool


def facts(connection: sa.Connection, collection: Collection, tenant: str) -> Facts:
    """What a search has to know, as it is now."""
    table = passages(collection)
    some = sa.select(sa.literal(1)).select_from(table).where(of_tenant(table)).limit(SMALL_SCOPE + 1).subquery()
    rows = connection.scalar(sa.select(sa.func.count()).select_from(some), {"tenant": tenant}) or 0
    version = connection.scalar(sa.text("select extversion from pg_extension where extname = 'vector'")) or "0"
    return Facts(
        indexed=any(serves(each, collection) for each in vector_indexes(connection, collection)),
        small=rows <= SMALL_SCOPE,
        iterative=tuple(int(part) for part in version.split(".")[:2]) >= _FIRST_ITERATIVE,
    )


def vector_indexes(connection: sa.Connection, collection: Collection) -> list[VectorIndex]:
    """The indexes on the vectors, by name."""
    names = {"schema": collection.schema, "table": collection.table_name}
    return [VectorIndex(*row) for row in connection.execute(_INDEXES, names)]


def serves(index: VectorIndex, collection: Collection) -> bool:
    """Whether a search of the collection can use it."""
    return index.valid and index.method == "hnsw" and index.operator_class == operator_class(collection)


def check(connection: sa.Connection, collection: Collection) -> None:
    """Raise ``ConfigurationError`` where all there is on the vectors is an index that no search will ever use."""
    there = vector_indexes(connection, collection)
    if not there or any(serves(each, collection) for each in there) or _being_made(connection, collection):
        return
    listed = ", ".join(
        f"{each.name} ({each.method}, {each.operator_class}{'' if each.valid else ', not finished'})" for each in there
    )
    drops = "; ".join(f"drop index {quoted(collection.schema)}.{quoted(each.name)}" for each in there)
    raise ConfigurationError(
        f"collection {collection.spec.name!r} searches by {collection.spec.metric} in {collection.spec.storage}, which "
        f"takes an hnsw index with {operator_class(collection)}. It has {listed}, which no search would use: "
        f"run `{drops}`, then create_index()"
    )


def create(
    connection: sa.Connection, collection: Collection, *, m: int, ef_construction: int, memory_mb: int | None
) -> None:
    """Make the HNSW index of a collection if there is none, in the caller's transaction; writes wait meanwhile.

    Raises:
        ConfigurationError: the vectors are too long for one, or ``m`` and ``ef_construction`` are out of range.
    """
    statement = _create(collection, m=m, ef_construction=ef_construction, concurrently=False)
    if memory_mb is not None:
        _require("memory_mb", memory_mb, 1, _MAX_MEMORY_MB)
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(_name(collection)), _LOCK)))
    if any(serves(each, collection) for each in vector_indexes(connection, collection)):
        return
    if memory_mb is not None:
        connection.execute(sa.select(sa.func.set_config("maintenance_work_mem", f"{memory_mb}MB", True)))
    connection.exec_driver_sql(statement)
    _tell_planner(connection, collection)


def create_concurrently(connection: sa.Connection, collection: Collection, *, m: int, ef_construction: int) -> None:
    """As ``create``, on a connection outside any transaction: writes go on. What a crash left half made goes.

    Raises:
        ConfigurationError: as ``create``, and where somebody else is making one: to wait would stop both.
    """
    statement = _create(collection, m=m, ef_construction=ef_construction, concurrently=True)
    there = vector_indexes(connection, collection)
    if any(serves(each, collection) for each in there):
        return
    if _being_made(connection, collection):
        raise ConfigurationError(
            f"somebody makes an index of collection {collection.spec.name!r} at this moment: wait until it is there"
        )
    for each in there:
        if not each.valid and each.name == _name(collection):
            connection.exec_driver_sql(f"drop index concurrently {quoted(collection.schema)}.{quoted(each.name)}")
    connection.exec_driver_sql(statement)
    _tell_planner(connection, collection)


def create_on_metadata(connection: sa.Connection, collection: Collection) -> None:
    """Make an index that serves filters of equality, ``$in`` left out, and of ``$contains``, if there is none."""
    name = f"{collection.table_name}_metadata"
    connection.exec_driver_sql(
        f"create index if not exists {quoted(name)} on {qualified(collection)} using gin (metadata jsonb_path_ops)"
    )


def drop(connection: sa.Connection, collection: Collection) -> None:
    """Remove the HNSW index that ``create`` made; searches are exact then."""
    connection.exec_driver_sql(f"drop index if exists {quoted(collection.schema)}.{quoted(_name(collection))}")


def _being_made(connection: sa.Connection, collection: Collection) -> bool:
    names = {"schema": collection.schema, "table": collection.table_name}
    return bool(connection.scalar(_BEING_MADE, names))


def _tell_planner(connection: sa.Connection, collection: Collection) -> None:
    """Without statistics, which autovacuum gathers a minute later, it passes the index by for a tenant's few rows."""
    connection.exec_driver_sql(f"analyze {qualified(collection)}")


def _require(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigurationError(f"{name} must be a whole number from {least} to {most:,}, not {value!r}")


def _name(collection: Collection) -> str:
    return f"{collection.table_name}_hnsw"


def _create(collection: Collection, *, m: int, ef_construction: int, concurrently: bool) -> str:
    spec = collection.spec
    if spec.dimensions > INDEXABLE[spec.storage]:
        other = " storage='halfvec' takes up to 4,000." if spec.storage == "vector" and spec.dimensions <= 4_000 else ""
        raise ConfigurationError(
            f"an index takes {spec.storage} of up to {INDEXABLE[spec.storage]:,} numbers, not {spec.dimensions:,}."
            f"{other} Searches without an index are exact"
        )
    for name, value, least, most in (("m", m, 2, 100), ("ef_construction", ef_construction, max(4, 2 * m), 1_000)):
        _require(name, value, least, most)
    opclass = f"{quoted(collection.extension_schema)}.{operator_class(collection)}"
    return (
        f"create index {'concurrently ' if concurrently else ''}{quoted(_name(collection))} on {qualified(collection)} "
        f"using hnsw (embedding {opclass}) with (m = {m}, ef_construction = {ef_construction})"
    )
