"""Conditions on a passage's metadata, as values. Every condition is true or false of every passage, never unknown.

A condition that cannot be asked raises ``FilterError`` when it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from langgraph_prefetch.errors import FilterError
from langgraph_prefetch.retrieval.filters.checks import (
    MAX_DEPTH,
    Path,
    Scalar,
    checked_path,
    checked_pattern,
    checked_scalar,
    shown,
)

Order = Literal["<", "<=", ">", ">="]
_MOST_AT_ONE_DEPTH = 10_000


@dataclass(frozen=True, slots=True)
class Equals:
    """The field is there and has this value."""

    path: Path
    value: Scalar

    def __post_init__(self) -> None:
        checked_scalar(_checked(self.path), self.value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field is there and has one of these values."""

    path: Path
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        _checked(self.path)
        for each in self.values:
            checked_scalar(self.path, each)


@dataclass(frozen=True, slots=True)
class Compare:
    """The field is there, is of the value's type (number or text), and stands in this order to it.

    Texts are ordered by their characters' code points, so dates written as ``2026-11-29`` are ordered by time.
    """

    path: Path
    order: Order
    value: str | int | float

    def __post_init__(self) -> None:
        _checked(self.path)
        if self.order not in get_args(Order):  # it becomes part of the SQL
            raise FilterError(
                f"{shown(self.path)} is compared by one of {' '.join(get_args(Order))}, not {self.order!r}"
            )
        if checked_scalar(self.path, self.value) is None or isinstance(self.value, bool):
            raise FilterError(
                f"{shown(self.path)} {self.order} {self.value!r}: numbers and texts have an order, "
                f"{self.value!r} has none"
            )


@dataclass(frozen=True, slots=True)
class Contains:
    """The field is a list with this value in it."""

    path: Path
    value: Scalar

    def __post_init__(self) -> None:
        checked_scalar(_checked(self.path), self.value)


@dataclass(frozen=True, slots=True)
class Like:
    """The field is text of this pattern: ``%`` any characters, ``_`` any one."""

    path: Path
    pattern: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        checked_pattern(_checked(self.path), self.pattern)


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is there, whatever its value, null included."""

    path: Path

    def __post_init__(self) -> None:
        _checked(self.path)


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _something(self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _something(self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """Where the other is false."""

    part: Condition


Condition = Equals | OneOf | Compare | Contains | Like | Exists | And | Or | Not


def require_shallow(condition: Condition) -> None:
    """Raise ``FilterError`` where conditions are nested too deep to be asked."""
    level: list[Condition] = [condition]
    for _ in range(2 * MAX_DEPTH):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return
        if len(level) > _MOST_AT_ONE_DEPTH:
            break
    raise FilterError(f"a filter has at most {_MOST_AT_ONE_DEPTH:,} conditions, and is nested at most {MAX_DEPTH} deep")


def _parts(condition: Condition) -> tuple[Condition, ...]:
    match condition:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
    return ()


def _something(parts: tuple[Condition, ...]) -> None:
    if not isinstance(parts, tuple) or not parts or not all(isinstance(each, Condition) for each in parts):
        raise FilterError(f"conditions to combine are a tuple of them, at least one, not {parts!r}")


def _checked(path: Path) -> Path:
    if not isinstance(path, tuple):
        raise FilterError(f"a field of a condition is a tuple of keys, not {path!r}")
    return checked_path(path)
