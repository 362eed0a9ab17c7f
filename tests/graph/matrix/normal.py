"""Values in a form that compares: generated ids named in order of appearance, times left out, objects taken apart."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel

_VERSION = re.compile(r"\b(\d{32})\.[\d.e-]+")  # of a channel: a count and a random part
_ID = re.compile(r"(?:lc_run--)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:-0)?|\b[0-9a-f]{32}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)?")
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")
_GENERATED = re.compile(r"[0-9a-f]{8}|\d{4}-\d\d-|0x")  # what all of the above have some of
_TIMES = frozenset({"timestamp", "ts", "first_attempt_time", "node_first_attempt_time"})


class Normaliser:
    """Makes two runs of the same graph comparable. One object per run, since it names the ids it meets.

    Args:
        ordered: False where the order of events is left to chance: then ids are not told apart, nor places counted.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._names: dict[str, str] = {}

    def __call__(self, value: Any) -> Any:
        """``value`` as tuples, lists, dicts and plain values."""
        match value:
            case None | bool() | int() | float():
                return value
            case Enum():
                return value
            case str():
                return self._text(value)
            case bytes():
                return self._text(value.decode(errors="replace"))
            case BaseException():
                return ("raised", type(value).__name__, self(list(value.args)))
            case Mapping():
                return {self._text(str(name)): self._entry(name, each) for name, each in value.items() if _kept(name)}
            case BaseTool():
                return ("tool", value.name)
            case BaseModel():
                return (type(value).__name__, self(dict(value)), self(value.model_extra or {}))
            case set() | frozenset():
                return sorted(repr(self(each)) for each in value)
            case tuple() if hasattr(value, "_fields"):
                return (type(value).__name__, self(dict(zip(value._fields, value, strict=True))))
            case list() | tuple():
                return [self(each) for each in value]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields: Iterable[str] = (each.name for each in dataclasses.fields(value))
        else:
            fields = getattr(type(value), "__slots__", ())
        names = [fields] if isinstance(fields, str) else [name for name in fields if hasattr(value, name)]
        if type(value).__module__.startswith(("langgraph.types", "tests.")) and names:
            return (type(value).__name__, {name: self(getattr(value, name)) for name in names})
        return f"<{getattr(value, '__qualname__', type(value).__name__)}>"

    def _entry(self, name: Any, value: Any) -> Any:
        if name in _TIMES:
            return "<time>"
        return "<place>" if name == "seq" and not self._ordered else self(value)

    def _text(self, text: str) -> str:
        if not _GENERATED.search(text):
            return text
        text = _ADDRESS.sub("<address>", text)
        text = _TIME.sub("<time>", _VERSION.sub(lambda found: f"<version {int(found[1])}>", text))
        return _ID.sub(lambda found: self._name(found.group()), text)

    def _name(self, found: str) -> str:
        if not self._ordered:
            return "<id>"
        return self._names.setdefault(found.replace("-", ""), f"<id {len(self._names) + 1}>")


def _kept(name: Any) -> bool:
    return not str(name).startswith("__pregel_")


def differences(wrapped: Any, bare: Any, path: str = "") -> list[str]:
    """Where two normalised values differ, one line for each place."""
    if type(wrapped) is not type(bare):
        return [f"{path}: {wrapped!r} instead of {bare!r}"]
    if isinstance(wrapped, dict):
        found = [f"{path}: keys {list(wrapped)} instead of {list(bare)}"] if wrapped.keys() != bare.keys() else []
        shared = [name for name in wrapped if name in bare]
        return found + [each for name in shared for each in differences(wrapped[name], bare[name], f"{path}.{name}")]
    if isinstance(wrapped, list | tuple):
        found = [f"{path}: {len(wrapped)} parts instead of {len(bare)}"] if len(wrapped) != len(bare) else []
        pairs = enumerate(zip(wrapped, bare, strict=False))
        return found + [each for place, (one, other) in pairs for each in differences(one, other, f"{path}[{place}]")]
    return [] if wrapped == bare else [f"{path}: {wrapped!r} instead of {bare!r}"]
