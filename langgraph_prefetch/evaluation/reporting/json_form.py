"""A report as JSON, and back.

Each block says what it is under ``kind``; events are those of `observe.event_lines`. Readers skip fields they do not
know.
"""

from __future__ import annotations

import dataclasses
import json
import numbers
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from langgraph_prefetch.errors import ReportError
from langgraph_prefetch.evaluation.reporting.values import Block, SuiteReport
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.event_lines import of_line, to_line

VERSION = 1

_KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in get_args(Block)}
_EVENTS = get_args(Event)


def to_json(report: SuiteReport) -> str:
    """The report as an object; its figures have to be finite."""
    return json.dumps({"v": VERSION, **_written(report)}, indent=1, allow_nan=False) + "\n"


def of_json(text: str) -> SuiteReport:
    """The report of an object.

    Raises:
        ReportError: the text is no such object, or one of a newer format; it says where.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError("report", f"not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("v"), int):
        raise ReportError("report", "no report: it has no format version ('v')")
    if found["v"] > VERSION:
        raise ReportError("report", f"format version {found['v']}: this release reads up to {VERSION}")
    return cast("SuiteReport", _read(SuiteReport, found, "report"))


def read_report(path: str | Path) -> SuiteReport:
    """Read a ``report.json`` back.

    Raises:
        ReportError: the file cannot be opened, or is no report.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return of_json(text)


def _written(value: Any) -> Any:
    if isinstance(value, _EVENTS):
        return json.loads(to_line(value))
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _written(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value):
        kind = type(value).__name__
        fields = {field.name: _written(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": kind, **fields} if kind in _KINDS else fields
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)  # of whichever library
    return value


def _read(hint: Any, found: Any, where: str) -> Any:
    if hint == Event:
        return _event(found, where)
    if hint == Block:
        kind = str(found.get("kind")) if isinstance(found, dict) else "none"
        if kind not in _KINDS:
            raise ReportError(where, f"no block of a known kind: {kind[:60]!r}")
        return _read(_KINDS[kind], found, where)
    if dataclasses.is_dataclass(hint):
        return _dataclass(cast("type[Any]", hint), found, where)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (wanted,) = (each for each in parts if each is not types.NoneType)
        return None if found is None else _read(wanted, found, where)
    if origin is tuple and isinstance(found, list):
        hints = parts[:1] * len(found) if parts[-1] is Ellipsis else parts
        if len(hints) == len(found):
            return tuple(
                _read(each, one, f"{where}[{at}]") for at, (each, one) in enumerate(zip(hints, found, strict=True))
            )
    elif origin is Mapping and isinstance(found, dict):
        return {key: _read(parts[1], each, f"{where}[{key[:60]!r}]") for key, each in found.items()}
    elif hint is float and type(found) in (int, float):
        return float(found)
    elif type(found) is hint:
        return found
    raise ReportError(where, f"{str(found)[:60]!r} is not what belongs there")


def _dataclass(kind: type[Any], found: Any, where: str) -> Any:
    if not isinstance(found, dict):
        raise ReportError(where, f"{str(found)[:60]!r} is no {kind.__name__}")
    read = {name: _read(hint, found[name], f"{where}.{name}") for name, hint in _hints(kind).items() if name in found}
    try:
        return kind(**read)
    except TypeError as error:
        raise ReportError(where, f"no {kind.__name__}: {error}") from None


def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _event(found: Any, where: str) -> Event:
    try:
        return of_line(json.dumps(found))
    except ValueError as error:
        raise ReportError(where, f"no event: {error}") from None
