"""Conditions as SQL: expressions whose values are all parameters. No text of a filter becomes a part of a statement.

Each is true or false of every row, never null, so that what is negated is what the condition says.
"""

from __future__ import annotations

from typing import Any, assert_never

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from langgraph_prefetch.retrieval.filters.checks import Path, Scalar
from langgraph_prefetch.retrieval.filters.tree import (
    And,
    Compare,
    Condition,
    Contains,
    Equals,
    Exists,
    Like,
    Not,
    OneOf,
    Or,
)

Expression = sa.ColumnElement[bool]


def expression(condition: Condition, metadata: sa.ColumnElement[Any]) -> Expression:
    """A condition on a column of JSON objects that is never null."""
    match condition:
        case Equals(path, value):
            return metadata.op("@>", is_comparison=True)(_nested(path, value))  # an index on the metadata serves it
        case OneOf(path, values):
            return _true(_field(metadata, path).op("=", is_comparison=True)(sa.any_(_list(values))))
        case Compare(path, order, value) if isinstance(value, str):
            said = sa.collate(_text(metadata, path), "C")
            return _typed(metadata, path, "string", said.op(order, is_comparison=True)(sa.literal(value, sa.Text)))
        case Compare(path, order, value):
            number = sa.literal(value, JSONB)
            return _typed(metadata, path, "number", _field(metadata, path).op(order, is_comparison=True)(number))
        case Contains(path, value):
            return metadata.op("@>", is_comparison=True)(_nested(path, [value]))
        case Like(path, pattern, ignore_case):
            text = _text(metadata, path)
            return _typed(metadata, path, "string", text.ilike(pattern) if ignore_case else text.like(pattern))
        case Exists(path):
            return _field(metadata, path).is_not(None)
        case And(parts):
            return sa.and_(*(expression(each, metadata) for each in parts))
        case Or(parts):
            return sa.or_(*(expression(each, metadata) for each in parts))
        case Not(part):
            return sa.not_(expression(part, metadata))
        case _:
            assert_never(condition)


def _field(metadata: sa.ColumnElement[Any], path: Path) -> sa.ColumnElement[Any]:
    for key in path:
        metadata = metadata.op("->", return_type=JSONB())(sa.literal(key, sa.Text))
    return metadata


def _text(metadata: sa.ColumnElement[Any], path: Path) -> sa.ColumnElement[str]:
    return _field(metadata, path[:-1]).op("->>", return_type=sa.Text())(sa.literal(path[-1], sa.Text))


def _typed(metadata: sa.ColumnElement[Any], path: Path, kind: str, condition: Expression) -> Expression:
    return _true(sa.and_(sa.func.jsonb_typeof(_field(metadata, path)) == kind, condition))


def _true(condition: Expression) -> Expression:
    return sa.func.coalesce(condition, sa.false())


def _nested(path: Path, value: Scalar | list[Scalar]) -> sa.ColumnElement[Any]:
    nested: Any = value
    for key in reversed(path):
        nested = {key: nested}
    return sa.literal(nested, JSONB)


def _list(values: tuple[Scalar, ...]) -> sa.ColumnElement[Any]:
    return sa.literal(list(values), ARRAY(JSONB(none_as_null=False)))
