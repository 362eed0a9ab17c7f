"""PartiQL statements for DynamoDB, each one conditional write of one item. Pure.

``INSERT`` fails with ``DuplicateItem`` where there is such an item, ``UPDATE`` with ``ConditionalCheckFailed`` where
there is none or its ``WHERE`` is not true (developer guide of DynamoDB, PartiQL reference). Every name is quoted, so
that none is taken for a reserved word, and every value is a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.aws.faults import CONDITION
from langgraph_prefetch.aws.items import KEY, Item

MOST_STATEMENTS = 25
"""A batch takes so many; each stands for itself, and costs what it would cost alone."""

Value = Mapping[str, Any]


def insert(table: str, item: Item) -> dict[str, Any]:
    """Put an item where there is none."""
    names = ", ".join(f"'{name}': ?" for name in item)
    return {"Statement": f'INSERT INTO "{table}" VALUE {{{names}}}', "Parameters": list(item.values())}


def update(table: str, key: Value, values: Item, equal: Item, missing: str = "") -> dict[str, Any]:
    """Set attributes of an item.

    Args:
        table: its table's name.
        key: of the item.
        values: what is set.
        equal: attributes that must have these values.
        missing: one that it must not have.
    """
    sets = " ".join(f'SET "{name}" = ?' for name in values)
    conditions = [f'"{name}" = ?' for name in (KEY, *equal)]
    if missing:
        conditions.append(f'"{missing}" IS MISSING')
    return {
        "Statement": f'UPDATE "{table}" {sets} WHERE {" AND ".join(conditions)}',
        "Parameters": [*values.values(), key, *equal.values()],
    }


def code_of(response: Mapping[str, Any]) -> str:
    """What went wrong with one statement of a batch, as the exceptions of single calls are named; empty if nothing."""
    code = str(response.get("Error", {}).get("Code", ""))
    return CONDITION if code == "ConditionalCheckFailed" else code
