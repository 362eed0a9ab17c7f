"""From the form that LangChain's users write, ``{"year": {"$gte": 2020}}``, to conditions; nothing is guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_prefetch.errors import FilterError, did_you_mean
from langgraph_prefetch.retrieval.filters.checks import MAX_DEPTH, Path, checked_path, shown
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
    Order,
    require_shallow,
)

MAX_CONDITIONS = 1_000
MAX_VALUES = 10_000

_ORDERS: dict[str, Order] = {"$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}


def parse(written: Mapping[Any, Any] | Condition | None) -> Condition | None:
    """The condition that a filter means; None where it asks for nothing.

    Args:
        written: a mapping of fields to values or to operators (``$eq $ne $lt $lte $gt $gte $in $nin $between $like
            $ilike $contains $exists $not``), and of ``$and``, ``$or`` and ``$not`` to filters; or a condition. Several
            keys of one mapping must all hold. A field is a key, or a tuple of keys that leads into objects.

    Raises:
        FilterError: an operator that there is not, a value of a type that metadata cannot have, nothing to combine,
            or a filter out of all proportion.
    """
    if written is None:
        return None
    if isinstance(written, Condition):
        require_shallow(written)
        return written
    if not isinstance(written, Mapping):
        raise FilterError(f'a filter is a mapping such as {{"year": {{"$gte": 2020}}}}, not {type(written).__name__}')
    return _Parser().all_of(written, 0) if written else None


class _Parser:
    def __init__(self) -> None:
        self._left = MAX_CONDITIONS

    def all_of(self, written: Any, depth: int) -> Condition:
        """What a mapping means: all that it says."""
        if not isinstance(written, Mapping) or not written:
            raise FilterError(f"a filter to combine is a mapping that says something, not {written!r}")
        if depth > MAX_DEPTH:
            raise FilterError(f"a filter is nested at most {MAX_DEPTH} deep")
        return _one(And, [part for key, value in written.items() for part in self._entry(key, value, depth + 1)])

    def _entry(self, key: Any, value: Any, depth: int) -> list[Condition]:
        if isinstance(key, str) and key.startswith("$"):
            return [self._combined(key, value, depth)]
        path = checked_path(key)
        if isinstance(value, Mapping):
            if not value:
                raise FilterError(f"{shown(path)} is compared with nothing: give a value or an operator")
            return [self._applied(path, operator, operand, depth) for operator, operand in value.items()]
        return [self._count(Equals(path, value))]

    def _combined(self, key: str, value: Any, depth: int) -> Condition:
        if key == "$not":
            return Not(self.all_of(value, depth))
        if key not in ("$and", "$or"):
            hint = did_you_mean(key, ("$and", "$or", "$not"))
            raise FilterError(
                f"{key} combines no filters: $and, $or and $not do; other operators follow a field.{hint}"
            )
        if not isinstance(value, list | tuple) or not value:
            raise FilterError(f"{key} takes a list of filters, at least one, not {value!r}")
        return _one(And if key == "$and" else Or, [self.all_of(each, depth) for each in value])

    def _applied(self, path: Path, operator: Any, operand: Any, depth: int) -> Condition:
        if operator == "$not":
            if not isinstance(operand, Mapping) or not operand or depth > MAX_DEPTH:
                raise FilterError(f"$not of {shown(path)} takes operators, such as {{'$not': {{'$gte': 2020}}}}")
            return Not(_one(And, [self._applied(path, *each, depth + 1) for each in operand.items()]))
        if operator not in OPERATORS:
            hint = did_you_mean(str(operator), OPERATORS)
            raise FilterError(
                f"{shown(path)}: no operator {operator!r}. Operators: {' '.join(OPERATORS)} $not.{hint} "
                "A field in an object is named by a tuple of keys"
            )
        return self._count(OPERATORS[operator](path, operand))

    def _count(self, condition: Condition) -> Condition:
        self._left -= 1
        if self._left < 0:
            raise FilterError(f"a filter has at most {MAX_CONDITIONS:,} conditions; for many values there is $in")
        return condition


def _compare(order: Order) -> Callable[[Path, Any], Condition]:
    return lambda path, value: Compare(path, order, value)


def _between(path: Path, bounds: Any) -> Condition:
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise FilterError(f"$between of {shown(path)} takes two values, both of them included, not {bounds!r}")
    return And((Compare(path, ">=", bounds[0]), Compare(path, "<=", bounds[1])))


def _one_of(path: Path, values: Any) -> OneOf:
    if not isinstance(values, list | tuple | set | frozenset):
        raise FilterError(f"$in of {shown(path)} takes a list of values, not {values!r}")
    if len(values) > MAX_VALUES:
        raise FilterError(f"$in of {shown(path)} takes at most {MAX_VALUES:,} values, not {len(values):,}")
    return OneOf(path, tuple(values))


def _exists(path: Path, wanted: Any) -> Condition:
    if not isinstance(wanted, bool):
        raise FilterError(f"$exists of {shown(path)} is True or False, not {wanted!r}")
    return Exists(path) if wanted else Not(Exists(path))


OPERATORS: dict[str, Callable[[Path, Any], Condition]] = {
    "$eq": Equals,
    "$ne": lambda path, value: Not(Equals(path, value)),
    **{name: _compare(order) for name, order in _ORDERS.items()},
    "$in": _one_of,
    "$nin": lambda path, values: Not(_one_of(path, values)),
    "$between": _between,
    "$like": Like,
    "$ilike": lambda path, pattern: Like(path, pattern, ignore_case=True),
    "$contains": Contains,
    "$exists": _exists,
}


def _one(kind: type[And] | type[Or], parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else kind(tuple(parts))
