"""Passages by their keys: read, deleted. Functions of a connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.filters import Condition
from langgraph_prefetch.retrieval.filters.sql import expression
from langgraph_prefetch.retrieval.schema import Collection, passages
from langgraph_prefetch.retrieval.schema.collections import is_storable
from langgraph_prefetch.retrieval.search.statements import of_tenant


def checked_ids(ids: Any) -> list[str]:
    """Keys of passages.

    Raises:
        ConfigurationError: they are no list of texts.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise ConfigurationError(f"ids are a list of texts, not {ids!r}")
    listed = list(ids)
    if not all(isinstance(each, str) for each in listed):
        raise ConfigurationError(f"ids are a list of texts, not {listed!r}")
    return listed


def by_ids(
    connection: sa.Connection, collection: Collection, tenant: str, ids: Sequence[str]
) -> list[tuple[str, str, dict[str, Any]]]:
    """Ids, texts and metadata of those that exist, in the order they were asked for, each once."""
    table = passages(collection)
    statement = sa.select(table.c.id, table.c.text, table.c.metadata).where(of_tenant(table), _among(table, ids))
    found = {row.id: (row.id, row.text, row.metadata) for row in connection.execute(statement, {"tenant": tenant})}
    return [found[key] for key in dict.fromkeys(ids) if key in found]


def delete(
    connection: sa.Connection,
    collection: Collection,
    tenant: str,
    *,
    ids: Sequence[str] | None,
    condition: Condition | None,
) -> int:
    """Delete a tenant's passages, those of the ids and those that fit; with neither, all. Returns how many."""
    table = passages(collection)
    where = [of_tenant(table)]
    if ids is not None:
        where.append(_among(table, ids))
    if condition is not None:
        where.append(expression(condition, table.c.metadata))
    return connection.execute(table.delete().where(*where), {"tenant": tenant}).rowcount


def count(connection: sa.Connection, collection: Collection, tenant: str, condition: Condition | None) -> int:
    """How many passages a tenant has, or how many of them fit."""
    table = passages(collection)
    where = [of_tenant(table)]
    if condition is not None:
        where.append(expression(condition, table.c.metadata))
    statement = sa.select(sa.func.count()).select_from(table).where(*where)
    return connection.scalar(statement, {"tenant": tenant}) or 0


def _among(table: sa.Table, ids: Sequence[str]) -> sa.ColumnElement[bool]:
    storable = [each for each in ids if is_storable(each)]  # no other can exist
    return table.c.id == sa.any_(sa.literal(storable, ARRAY(sa.Text)))
