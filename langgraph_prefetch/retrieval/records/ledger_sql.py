"""The SQL of the ledger."""

from __future__ import annotations

from dataclasses import dataclass, fields

from langgraph_prefetch.retrieval.schema.sources import FORGET_SOURCES


@dataclass(frozen=True, slots=True)
class Statements:
    """What is said to the server; each in the place of ``%s`` a parameter, in the order named.

    Rows are locked in the order that writers lock them in: a ledger's by source, then a table's by id.

    Attributes:
        all_fingerprints: as three values, sources by NUL, which no text has: (collection, tenant).
        some_fingerprints: likewise: (collection, tenant, sources).
        listed: how many, whether all fingerprints have 16 bytes, sources by NUL, fingerprints one after the other, in
            the order of the sources, which is that of the primary key: (collection, tenant, first, last, most).
        other_counts: the numbers, from 1, of the sources that have another count of rows: (sources, counts, tenant).
        delete_rows: the sources' rows with other ids: (tenant, sources, ids).
        touch: write something to the log, so that there is something to wait for: (collection).
        others: sources that are known but not among these: (tenant, collection, tenant, sources).
        forget: (collection, tenant, sources).
        delete_sources: all rows of the sources: (tenant, sources).
    """

    all_fingerprints: str
    some_fingerprints: str
    listed: str
    other_counts: str
    delete_rows: str
    touch: str
    others: str
    forget: str
    delete_sources: str


_FINGERPRINTS = r"""
select string_agg(convert_to(source, 'UTF8'), '\x00'::bytea), string_agg(fingerprint, ''::bytea),
  string_agg(int4send(octet_length(fingerprint)), ''::bytea)
from {schema}.prefetch_sources where collection = %s and tenant = %s"""

_TEMPLATES = Statements(
    all_fingerprints=_FINGERPRINTS,
    some_fingerprints=f"{_FINGERPRINTS} and source = any(%s::text[])",
    listed=r"""
select count(*), coalesce(bool_and(octet_length(fingerprint) = 16), true),
  coalesce(string_agg(convert_to(source, 'UTF8'), '\x00'::bytea), ''::bytea),
  coalesce(string_agg(fingerprint, ''::bytea), ''::bytea)
from (
  select source, fingerprint from {schema}.prefetch_sources
  where collection = %s and tenant = %s and source >= %s and source <= %s order by source limit %s
) as known
""",
    other_counts="""
select array_agg(asked.number::int4) from unnest(%s::text[], %s::int4[]) with ordinality as asked (source, rows, number)
cross join lateral (select count(*) as rows from {table} where tenant = %s and source = asked.source) as found
where found.rows <> asked.rows
""",
    delete_rows="""
delete from {table} as there using (
  select tenant, id from {table} as old
  where tenant = %s and source = any(%s::text[])
    and not exists (select from unnest(%s::text[]) as kept (id) where kept.id = old.id)
  order by id for update
) as locked where there.tenant = locked.tenant and there.id = locked.id
""",
    touch="update {schema}.prefetch_collections set name = name where id = %s",
    others="""
select array_agg(known.source) from (
  select source from {table} where tenant = %s
  union select source from {schema}.prefetch_sources where collection = %s and tenant = %s
) as known
where not exists (select from unnest(%s::text[]) as kept (source) where kept.source = known.source)
""",
    forget=FORGET_SOURCES,
    delete_sources="""
delete from {table} as there using (
  select tenant, id from {table} where tenant = %s and source = any(%s::text[]) order by id for update
) as locked where there.tenant = locked.tenant and there.id = locked.id
""",
)


def statements(table: str, schema: str) -> Statements:
    """The statements for a collection's table, both names as they are written in SQL."""
    names = {"table": table, "schema": schema}
    return Statements(**{each.name: getattr(_TEMPLATES, each.name).format_map(names) for each in fields(_TEMPLATES)})
