"""The SQL of the record manager."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Statements:
    """What is said to the server; each in the place of ``%s`` a parameter, in the order named.

    Attributes:
        now: seconds since 1970.
        update: (namespace, keys in order, groups).
        known: those of the keys that are recorded, as one array: (namespace, keys).
        listed: keys, as one array, the oldest first: (namespace, those of the conditions, limit); see :func:`listing`.
        delete: (namespace, keys).
    """

    now: str
    update: str
    known: str
    listed: str
    delete: str


_TEMPLATES = Statements(
    now="select extract(epoch from clock_timestamp())::float8",
    update="""
insert into {schema}.prefetch_records (namespace, key, group_id, updated_at)
select %s::text, given.key, given.group_id, moment.now
from (select extract(epoch from clock_timestamp())::float8 as now) as moment,
  unnest(%s::text[], %s::text[]) as given (key, group_id)
on conflict (namespace, key) do update set group_id = excluded.group_id, updated_at = excluded.updated_at
""",
    known="""
select array_agg(key) from {schema}.prefetch_records where namespace = %s and key = any(%s::text[])
""",
    listed="""
select array_agg(key) from (
  select key from {schema}.prefetch_records where namespace = %s{conditions}
  order by updated_at, key limit %s::bigint
) as found
""",
    delete="""
delete from {schema}.prefetch_records as there using (
  select namespace, key from {schema}.prefetch_records where namespace = %s and key = any(%s::text[])
  order by key for update
) as locked where there.namespace = locked.namespace and there.key = locked.key
""",
)

# By the number in the index (see the schema's step 3), and then by the text, since two texts may have one number.
_OF_GROUPS = """
and hashtextextended(group_id, 0) = any(array(select hashtextextended(asked, 0) from unnest(%s::text[]) as asked))
and group_id = any(%s::text[])"""
_CONDITIONS = (" and updated_at < %s", " and updated_at > %s", _OF_GROUPS)


def listing(
    listed: str, before: float | None, after: float | None, groups: bytes | None
) -> tuple[str, tuple[Any, ...]]:
    """The query of ``Statements.listed`` with the conditions that are given, and their parameters."""
    given = [(words, value) for words, value in zip(_CONDITIONS, (before, after, groups), strict=True) if value]
    conditions = "".join(words for words, _ in given)
    values = tuple(value for words, value in given for _ in range(words.count("%s")))
    return listed.replace("{conditions}", conditions), values


def statements(schema: str) -> Statements:
    """The statements for a schema, its name as it is written in SQL."""
    return Statements(
        **{each.name: getattr(_TEMPLATES, each.name).replace("{schema}", schema) for each in fields(_TEMPLATES)}
    )
