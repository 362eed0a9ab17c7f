"""Events as lines of JSON, and back. Pure.

A line is ``{"v": "1.1", "event": "StepStarted", …}``: the version of the format, the event's type, and its fields, of
which those without a value are left out. A new field or type raises the minor version: readers skip what they do not
know and fill in what they miss. A change of meaning raises the major version: older readers refuse.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from langgraph_prefetch.events import Event

VERSION = (1, 1)

KINDS: Mapping[str, type[Any]] = types.MappingProxyType({kind.__name__: kind for kind in get_args(Event)})

_VERSION_TEXT = ".".join(map(str, VERSION))
_PLACING = frozenset({"at", "run_id", "step", "speculation_id", "next_call_id"})
_NEUTRAL: Mapping[Any, Any] = {str: "", int: 0, float: 0.0, bool: False}


class NewerVersionError(ValueError):
    """The line was written in a format whose major version is above ours."""


class UnknownKindError(ValueError):
    """The line holds an event of a type that is not known here."""


def to_line(event: Event) -> str:
    """The event as one line of ASCII, with its line break.

    Raises:
        ValueError: a number that JSON has no word for (NaN, infinity).
    """
    kind = type(event)
    fields = {name: value for name in _names(kind.__name__) if (value := getattr(event, name)) is not None}
    return json.dumps({"v": _VERSION_TEXT, "event": kind.__name__, **fields}, default=str, allow_nan=False) + "\n"


def of_line(line: str) -> Event:
    """The event of a line.

    Missing numbers are 0 and missing texts empty, but for those that say when and where the event belongs.

    Raises:
        NewerVersionError: the major version is above ours.
        UnknownKindError: a type of event that is not known here.
        ValueError: no event; the message is the reason.
    """
    try:
        found = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("not an object")  # noqa: TRY004 - a line like any other that holds no event
    _check_version(found.get("v"))
    kind = KINDS.get(str(found.get("event")))
    if kind is None:
        raise UnknownKindError(str(found.get("event"))[:100])
    return cast("Event", kind(**{name: read(found) for name, read in _readers(kind.__name__).items()}))


def _check_version(version: object) -> None:
    parts = version.split(".") if isinstance(version, str) else []
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError("no format version ('v')")
    if int(parts[0]) > VERSION[0]:
        raise NewerVersionError(
            f"format version {version}: this release reads up to {VERSION[0]}.x; update langgraph-prefetch to read it"
        )


@cache
def _names(kind: str) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(KINDS[kind]))


@cache
def _readers(kind: str) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
    hints = get_type_hints(KINDS[kind])
    return {field.name: _reader(field, hints[field.name]) for field in dataclasses.fields(KINDS[kind])}


def _reader(field: dataclasses.Field[Any], hint: Any) -> Callable[[Mapping[str, Any]], Any]:
    name = field.name
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    default = field.default
    if default is dataclasses.MISSING:
        default = None if type(None) in options else _NEUTRAL.get(hint, dataclasses.MISSING)
    if name in _PLACING and type(None) not in options:
        default = dataclasses.MISSING
    (wanted,) = (each for each in options if each is not type(None))

    def read(found: Mapping[str, Any]) -> Any:
        value = found.get(name)
        if value is not None:
            return _converted(name, value, wanted)
        if default is dataclasses.MISSING:
            raise ValueError(f"no {name!r}")
        return default

    return read


def _converted(name: str, value: Any, wanted: Any) -> Any:
    if get_origin(wanted) is tuple and isinstance(value, list):
        return tuple(_converted(name, each, get_args(wanted)[0]) for each in value)
    if wanted is float and type(value) in (int, float):
        value = float(value) if abs(value) < 1e15 else math.nan
        if math.isfinite(value):
            return value
    elif isinstance(wanted, type) and type(value) is wanted:
        return value
    elif isinstance(wanted, type) and issubclass(wanted, str) and isinstance(value, str):
        return wanted(value)  # a member of an enumeration, or an error that names it
    raise ValueError(f"{name!r} is {str(value)[:40]!r}")
