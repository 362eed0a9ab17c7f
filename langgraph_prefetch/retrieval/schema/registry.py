"""Making, finding and dropping collections: functions of a connection, within the caller's transaction."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from langgraph_prefetch.errors import (
    CollectionMismatchError,
    ConfigurationError,
    ExtensionMissingError,
    did_you_mean,
)
from langgraph_prefetch.retrieval.database.address import where
from langgraph_prefetch.retrieval.schema.collections import Collection, CollectionSpec
from langgraph_prefetch.retrieval.schema.tables import passages, qualified, quoted, registry

_EXTENSION = """
select n.nspname as schema, e.extversion as version, t.typname as type, t.oid::bigint as oid
from pg_extension e join pg_namespace n on n.oid = e.extnamespace
left join pg_type t on t.typnamespace = n.oid and t.typname in ('vector', 'halfvec')
where e.extname = 'vector'
"""

# when, and which function of the migrations
_TRIGGERS = (
    ("insert or update or delete", "epoch_moves"),
    ("truncate", "epoch_moves"),
    ("update", "forget_sources"),
    ("delete", "forget_sources"),
    ("truncate", "forget_sources"),
)

_CREATE, _UPDATE = "create extension if not exists vector", "alter extension vector update"


def find(connection: sa.Connection, name: str, schema: str) -> Collection | None:
    """The collection of that name, or None."""
    table = registry(schema)
    row = connection.execute(sa.select(table).where(table.c.name == name)).one_or_none()
    return None if row is None else _collection(connection, row, schema)


def names(connection: sa.Connection, schema: str) -> list[str]:
    """All collections of a schema, sorted."""
    table = registry(schema)
    return sorted(connection.scalars(sa.select(table.c.name)))


def epoch(connection: sa.Connection, collection: Collection) -> int:
    """A number that is another one after every change of the collection's contents, whoever made it.

    It may move where nothing changed (a write of what stood there already); it never stays where something did.
    """
    table = registry(collection.schema)
    found: int | None = connection.scalar(sa.select(table.c.epoch).where(table.c.id == collection.id))
    if found is None:
        raise ConfigurationError(f"collection {collection.spec.name!r} was dropped; open the store again")
    return found


def make(connection: sa.Connection, spec: CollectionSpec, schema: str) -> Collection:
    """The collection of that name: the one there is if it fits, else a new one, empty.

    Raises:
        CollectionMismatchError: there is one, and it differs in what cannot be changed.
        ExtensionMissingError: pgvector is not in the database and cannot be put there.
        ConfigurationError: the server does not know the text search configuration.
    """
    there = find(connection, spec.name, schema)
    if there is None:
        _require_extension(connection)
        _require_text_search(connection, spec)
        there = _insert(connection, spec, schema) or find(connection, spec.name, schema)
        assert there is not None  # the other process's insert was waited for
    check_fits(there.spec, spec)
    return there


def drop(connection: sa.Connection, collection: Collection) -> None:
    """Remove a collection with all its passages, of all tenants."""
    passages(collection).drop(connection, checkfirst=True)
    sources = sa.table("prefetch_sources", sa.column("collection"), schema=collection.schema)
    connection.execute(sources.delete().where(sources.c.collection == collection.id))
    table = registry(collection.schema)
    connection.execute(table.delete().where(table.c.id == collection.id))


def check_fits(there: CollectionSpec, wanted: CollectionSpec) -> None:
    """Raise ``CollectionMismatchError`` where a collection is not what was asked for."""
    for what in ("dimensions", "metric", "storage"):
        if getattr(there, what) != getattr(wanted, what):
            raise CollectionMismatchError(there.name, what, getattr(there, what), getattr(wanted, what))
    for what in ("text_search", "embedder"):
        has, asked = getattr(there, what), getattr(wanted, what)
        if asked is not None and asked != has and not (what == "embedder" and has is None):
            raise CollectionMismatchError(there.name, what, has, asked)


def _insert(connection: sa.Connection, spec: CollectionSpec, schema: str) -> Collection | None:
    table = registry(schema)
    values = {field: getattr(spec, field) for field in CollectionSpec.__slots__}
    row = connection.execute(
        postgresql.insert(table).values(values).on_conflict_do_nothing(index_elements=["name"]).returning(table)
    ).one_or_none()
    if row is None:
        return None
    made = _collection(connection, row, schema)
    passages(made).create(connection, checkfirst=False)
    for moment, function in _TRIGGERS:
        name = f"prefetch_{function}_{moment.split(' ', 1)[0]}"
        connection.exec_driver_sql(
            f"create trigger {quoted(name)} after {moment} on {qualified(made)} "
            f"{'referencing old table as gone ' if moment in ('update', 'delete') else ''}for each statement "
            f"execute function {quoted(schema)}.prefetch_{function}({made.id})"
        )
    return made


def _collection(connection: sa.Connection, row: sa.Row[Any], schema: str) -> Collection:
    fields = row._mapping
    spec = CollectionSpec(**{field: fields[field] for field in CollectionSpec.__slots__})
    for extension in connection.execute(sa.text(_EXTENSION)):
        if extension.type == spec.storage:
            return Collection(
                id=fields["id"],
                spec=spec,
                schema=schema,
                extension_schema=extension.schema,
                vector_oid=extension.oid,
            )
    raise ExtensionMissingError(where(connection.engine.url), _UPDATE, f"its type {spec.storage!r} is not there")


def _require_extension(connection: sa.Connection) -> None:
    if connection.execute(sa.text(_EXTENSION)).first() is not None:
        return
    connection.execute(sa.text("select pg_advisory_xact_lock(hashtext('langgraph_prefetch.extension'))"))
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(_CREATE)
    except sa.exc.DBAPIError as error:
        raise ExtensionMissingError(
            where(connection.engine.url), _CREATE, str(error.orig).strip().splitlines()[0]
        ) from error


def _require_text_search(connection: sa.Connection, spec: CollectionSpec) -> None:
    if spec.text_search is None:
        return
    known = sorted(connection.scalars(sa.text("select cfgname::text from pg_ts_config")))
    if spec.text_search not in known:
        raise ConfigurationError(
            f"the server has no text search configuration {spec.text_search!r}. It has: {', '.join(known)}."
            f"{did_you_mean(spec.text_search, known)}"
        )
