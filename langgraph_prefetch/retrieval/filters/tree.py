"""Conditions on a passage's metadata, as values. Every condition is true or false of every passage, never unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scalar = str | int | float | bool | None
"""What a field is compared with. Numbers equal numbers whatever their type, and nothing else: ``True`` is not 1."""
Path = tuple[str, ...]
"""Where a field is: its key, or the keys that lead to it through objects in objects."""
Order = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Equals:
    """The field is there and has this value."""

    path: Path
    value: Scalar


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field is there and has one of these values."""

    path: Path
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """The field is there, is of the value's type (number or text), and stands in this order to it.

    Texts are ordered by their characters' code points, so dates written as ``2026-11-29`` are ordered by time.
    """

    path: Path
    order: Order
    value: str | int | float


@dataclass(frozen=True, slots=True)
class Contains:
    """The field is a list with this value in it."""

    path: Path
    value: Scalar


@dataclass(frozen=True, slots=True)
class Like:
    """The field is text of this pattern: ``%`` any characters, ``_`` any one."""

    path: Path
    pattern: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is there, whatever its value, null included."""

    path: Path


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Where the other is false."""

    part: Condition


Condition = Equals | OneOf | Compare | Contains | Like | Exists | And | Or | Not
