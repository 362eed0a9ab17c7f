"""The SQL of writing passages into one collection's table."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_prefetch.retrieval.schema.collections import Collection
from langgraph_prefetch.retrieval.schema.sources import FORGET_SOURCES
from langgraph_prefetch.retrieval.schema.tables import qualified, quoted, vector_type
from langgraph_prefetch.retrieval.writing.copy_format import FIELDS

# The cheap ones first: the comparison ends at the first that differs.
_CONTENT = ("content_hash", "source", "metadata", "text", "embedding")


@dataclass(frozen=True, slots=True)
class Statements:
    """What is said to the server; each in the place of ``%s`` a parameter, in the order named.

    Attributes:
        table: where passages go.
        staging: where they wait: a table of the connection's own, unlogged, empty at the start of each transaction.
        make_staging: makes it, where this connection has none yet. Rows stay whole there, without a detour by TOAST.
        any_known: whether a tenant has any of these ids: (ids, tenant).
        forget: the sources' fingerprints: (collection, tenant, sources).
        unchanged: how many staged rows stand in the table just so.
        upsert: the others, in the order they were staged; gives how many were added and how many changed at all.
            Rows that stand there just so are not even locked. Where another writer came between, the row is compared
            again. ``xmax`` is 0 in a row that this statement inserted, and not in one that it updated.
    """

    table: str
    staging: str
    make_staging: str
    any_known: str
    forget: str
    unchanged: str
    upsert: str


def statements_for(collection: Collection) -> Statements:
    """The statements of a collection."""
    staging = f"prefetch_staging_{collection.spec.storage}_{collection.spec.dimensions}"
    names = {
        "table": qualified(collection),
        "schema": quoted(collection.schema),
        "staging": f"pg_temp.{staging}",
        "fields": ", ".join(FIELDS),
        "new": ", ".join(f"{each} = excluded.{each}" for each in _CONTENT),
        "there": _row("there"),
        "staged": _row("staged"),
        "excluded": _row("excluded"),
        "vector": f"{vector_type(collection)}({collection.spec.dimensions})",
    }
    same = _SAME.format_map(names)
    return Statements(
        table=names["table"],
        staging=names["staging"],
        make_staging=_MAKE_STAGING.format_map({**names, "staging": staging}),
        any_known=_ANY_KNOWN.format_map(names),
        forget=FORGET_SOURCES.format_map(names),
        unchanged=_UNCHANGED.format_map({**names, "same": same}),
        upsert=_UPSERT.format_map({**names, "same": same}),
    )


def _row(of: str) -> str:
    return f"({', '.join(f'{of}.{each}' for each in _CONTENT)})"


_MAKE_STAGING = """
create temporary table if not exists {staging} (
  tenant text collate "C", id text collate "C", source text collate "C", text text, metadata jsonb,
  content_hash bytea, embedding {vector}
) with (toast_tuple_target = 8160) on commit delete rows
"""
_ANY_KNOWN = """
select exists (
  select from unnest(%s::text[]) as asked (id)
  cross join lateral (select from {table} as there where tenant = %s and there.id = asked.id limit 1) as found
)
"""
# A subquery with a limit is one that the planner cannot turn into a scan of the whole table.
_SAME = """lateral (
  select from {table} as there
  where there.tenant = staged.tenant and there.id = staged.id and {there} is not distinct from {staged} limit 1
) as same"""
_UNCHANGED = "select count(*) from {staging} as staged cross join {same}"
_UPSERT = """
with written as (
  insert into {table} as there ({fields})
  select {fields} from {staging} as staged where not exists (select from {same})
  on conflict (tenant, id) do update set {new} where {there} is distinct from {excluded}
  returning xmax = 0 as added
)
select count(*) filter (where added), count(*) from written
"""
