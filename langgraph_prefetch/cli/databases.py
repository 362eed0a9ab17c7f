"""Whether a database works for passages, and whether the embedded server starts. Imports extras when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_prefetch.cli.findings import Finding
from langgraph_prefetch.errors import ExtensionMissingError, MissingExtraError, StoreError

if TYPE_CHECKING:
    import sqlalchemy as sa

    from langgraph_prefetch.retrieval.database import Abilities, Database

_UPDATE = "alter extension vector update"


def look_at_embedded() -> Finding:
    """Whether a server that is deleted afterwards starts here."""
    name = "embedded server"
    try:
        from langgraph_prefetch.retrieval.database import Database
        from langgraph_prefetch.retrieval.embedded import temporary

        with temporary(durable=False) as server, Database.open(server.url) as database:
            found = database.check()
    except MissingExtraError as error:
        return Finding(name, "absent", "not installed", str(error))
    except StoreError as error:
        return Finding(name, "fault", "does not start", str(error))
    return Finding(name, "ok", f"starts: PostgreSQL {found.server}, pgvector {found.pgvector}")


def look_at_database(url: str) -> list[Finding]:
    """What a database can do. Nothing in it is changed.

    Raises:
        ConfigurationError: the URL names no PostgreSQL.
    """
    try:
        from langgraph_prefetch.retrieval.database import Database

        with Database.open(url) as database:
            return [*what_it_can(database.abilities()), _collections(database)]
    except (StoreError, MissingExtraError) as error:
        return [Finding("server", "fault", "not reachable", str(error))]


def what_it_can(found: Abilities) -> list[Finding]:
    """A finding for each ability; pure."""
    return [Finding("server", "ok", f"PostgreSQL {found.server}"), *_vectors(found), _writes(found)]


def _vectors(found: Abilities) -> list[Finding]:
    if found.pgvector is None:
        sql = "create extension if not exists vector" if found.available else None
        there = f"not in this database; the server has {found.available}" if found.available else "not on the server"
        return [Finding("pgvector", "fault", there, str(ExtensionMissingError("this address", sql)))]
    return [
        Finding("pgvector", "ok", f"{found.pgvector} in schema {found.extension_schema}"),
        _optional("halfvec", f"pgvector 0.7 has it: {_UPDATE}", there=found.halfvec),
        _optional("iterative scan", f"pgvector 0.8 has it: {_UPDATE}", there=found.iterative_scan),
    ]


def _optional(name: str, remedy: str, *, there: bool) -> Finding:
    return Finding(name, "ok", "yes") if there else Finding(name, "absent", "no", remedy)


def _writes(found: Abilities) -> Finding:
    if found.read_only:
        return Finding("writes", "fault", "read-only", "name the primary, or a server that takes writes")
    if not found.may_create_tables:
        remedy = "grant this user the right to create in the schema, or let the owner make the tables"
        return Finding("writes", "fault", "may not create tables", remedy)
    return Finding("writes", "ok", "may create tables")


def _collections(database: Database) -> Finding:
    import sqlalchemy as sa

    from langgraph_prefetch.retrieval.schema import registry

    def work(connection: sa.Connection) -> list[str]:
        return [
            f"{schema}.{row.name} ({row.dimensions} dimensions, {row.metric}, {row.storage})"
            for schema in _schemas(connection)
            for row in connection.execute(_listed(registry(schema)))
        ]

    try:
        return Finding("collections", "ok", ", ".join(database.run(work)) or "none")
    except sa.exc.DBAPIError as error:
        said = str(error.orig).split("\n", 1)[0]
        return Finding(
            "collections", "fault", f"cannot be read: {said}", "was it made by another version of the package?"
        )


def _listed(table: sa.Table) -> sa.Select[tuple[str, int, str, str]]:
    """What every version of the table has: a doctor looks at old ones, too."""
    import sqlalchemy as sa

    columns = table.c
    return sa.select(columns.name, columns.dimensions, columns.metric, columns.storage).order_by(columns.name)


def _schemas(connection: sa.Connection) -> list[str]:
    """Those that have passages this user may read."""
    import sqlalchemy as sa

    readable = """
        select n.nspname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where c.relname = 'prefetch_collections' and c.relkind = 'r'
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        order by 1
    """
    return list(connection.scalars(sa.text(readable)))
