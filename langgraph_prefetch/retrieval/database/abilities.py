"""What a server can do, asked once at the start instead of failing at each query."""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlalchemy as sa

ITERATIVE_SINCE = (0, 8)

_ASK = sa.text(
    """
    select current_setting('server_version') as server,
           current_setting('server_version_num')::int as number,
           current_setting('transaction_read_only')::bool or pg_is_in_recovery() as read_only,
           coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create_tables,
           (select extversion from pg_extension where extname = 'vector') as pgvector,
           (select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace
            where e.extname = 'vector') as schema,
           (select default_version from pg_available_extensions where name = 'vector') as available,
           (select count(*) > 0 from pg_extension as e
            join pg_depend as d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
                and d.classid = 'pg_type'::regclass
            join pg_type as t on t.oid = d.objid where e.extname = 'vector' and t.typname = 'halfvec') as halfvec
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a database can do.

    Attributes:
        server: the version of PostgreSQL, as it says it.
        server_number: the same as a number, ``180006`` for 18.6.
        pgvector: the version of the extension in this database; None where it is not installed in it.
        extension_schema: the schema its types and operators live in; None likewise.
        available: the version that the server could install; None where it has none.
        halfvec: vectors of 16-bit floats.
        iterative_scan: an index scan that goes on until a filter has let enough rows through.
        read_only: it takes no writes: a replica, or set so.
        may_create_tables: the user may create tables in the current schema.
    """

    server: str
    server_number: int
    pgvector: str | None
    extension_schema: str | None
    available: str | None
    halfvec: bool
    iterative_scan: bool
    read_only: bool
    may_create_tables: bool


def ask(connection: sa.Connection) -> Abilities:
    """Ask the server; one round trip."""
    row = connection.execute(_ASK).one()
    return Abilities(
        server=row.server,
        server_number=row.number,
        pgvector=row.pgvector,
        extension_schema=row.schema,
        available=row.available,
        halfvec=row.halfvec,
        iterative_scan=numbers(row.pgvector) >= ITERATIVE_SINCE,
        read_only=row.read_only,
        may_create_tables=row.may_create_tables,
    )


def numbers(version: str | None) -> tuple[int, ...]:
    """``"0.8.2"`` as ``(0, 8, 2)``, to compare; ``()`` for none."""
    return tuple(int(part) for part in re.findall(r"\d+", version or ""))
