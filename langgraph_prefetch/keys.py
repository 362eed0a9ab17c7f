"""From a tool call to the key under which a speculation may answer it.

Two calls have equal keys only if the tool would be given the same thing: same tool object (or declared identity), same
arguments *and types* (``1``, ``True``, ``1.0`` and ``"1"`` are four arguments), same caller configuration, same scope.
Keys are nested tuples compared by value, never joined or hashed strings, so no two inputs can collide.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.errors import UnkeyableError

Encoded = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """Equal to another ``Same`` only if both hold the very same object; keeps it alive, so its id cannot be reused."""

    held: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


@dataclass(frozen=True, slots=True)
class RunScope:
    """Results stay within one run."""

    run_id: str


@dataclass(frozen=True, slots=True)
class SharedScope:
    """Results may cross runs whose trusted configuration yields an equal value (a tenant, a user, an index epoch)."""

    value: Hashable


Scope = RunScope | SharedScope


@dataclass(frozen=True, slots=True)
class SearchKey:
    """What must be equal for a speculation to answer a call. Built by :func:`search_key`."""

    tool: Hashable
    arguments: Encoded
    caller: Encoded
    scope: Scope
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Asked for a dozen times in the life of a speculation, and as deep as the arguments and the caller are.
        object.__setattr__(self, "_hash", hash((self.tool, self.arguments, self.caller, self.scope)))

    def __hash__(self) -> int:
        return self._hash


def encode_arguments(value: Any) -> Encoded:
    """Encode a JSON value, keeping its types.

    Raises:
        UnkeyableError: a value that JSON has no form for.
    """
    match value:
        case None:
            return ("null",)
        case bool():
            return ("bool", value)
        case int():
            return ("int", int(value))
        case float():
            # repr tells -0.0 from 0.0 and makes NaN equal to itself.
            return ("float", repr(value))
        case str():
            return ("str", str(value))
        case list() | tuple():
            return ("list", *(encode_arguments(item) for item in value))
        case Mapping() if all(isinstance(name, str) for name in value):
            return ("map", *((name, encode_arguments(value[name])) for name in sorted(value)))
    raise UnkeyableError(value)


def encode_caller(value: Any) -> Encoded:
    """Encode trusted configuration: JSON values, dataclasses and pydantic models by value, all else by identity."""
    match value:
        case None | bool() | int() | float() | str() if type(value).__module__ == "builtins":
            return encode_arguments(value)
        case enum.Enum():
            return ("enum", type(value), value.name)
    if type(value) in (list, tuple):
        return (type(value), *(encode_caller(item) for item in value))
    if type(value) is dict and all(isinstance(name, str) for name in value):
        return ("map", *((name, encode_caller(value[name])) for name in sorted(value)))
    fields = _fields(value)
    if fields is None:
        return ("object", Same(value))
    return ("record", type(value), *((name, encode_caller(part)) for name, part in fields))


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """The named parts of a record, or None where fields do not tell the whole of it."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(type(value), "model_fields") and not getattr(value, "__pydantic_private__", None):
        names = [*type(value).model_fields, *(getattr(value, "model_extra", None) or ())]
    else:
        return None
    if not set(getattr(value, "__dict__", ())) <= set(names):
        return None
    return [(name, getattr(value, name)) for name in sorted(names)]


def search_key(tool: Hashable, arguments: Mapping[str, Any], caller: Encoded, scope: Scope) -> SearchKey:
    """The key of a call.

    Args:
        tool: identity of the tool: the tool object wrapped in :class:`Same`, or a declared identity.
        arguments: what the model wrote, with schema defaults filled in and injected arguments left out.
        caller: :func:`encode_caller` of the configurable values and the runtime context the tool could read.
        scope: whose results these are.

    Raises:
        UnkeyableError: an argument without a canonical form; such a call is never speculated or answered.
    """
    try:
        return SearchKey(tool, encode_arguments(arguments), caller, scope)
    except RecursionError:  # arguments that hold themselves
        raise UnkeyableError(arguments) from None


def shared_scope(value: Hashable) -> SharedScope:
    """The scope named by ``value``, types told apart: the tenants ``1``, ``True`` and ``"1"`` are three."""
    return SharedScope(_typed(value))


def _typed(value: Hashable) -> Hashable:
    return (type(value), tuple(map(_typed, value)) if isinstance(value, tuple) else value)
