"""Which texts PostgreSQL takes as ``jsonb`` objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from langgraph_prefetch.retrieval.writing.columns import kernels

if TYPE_CHECKING:
    from langgraph_prefetch.retrieval.writing.columns import Column

_HEX = "[0-9a-fA-F]"
# Any four hexadecimal digits but 0000 and the surrogates, which stand for a character in pairs only.
_UNIT = (
    f"(?:0(?:0(?:0[1-9a-fA-F]|[1-9a-fA-F]{_HEX})|[1-9a-fA-F]{_HEX}{{2}})"
    f"|[1-9a-cA-CeEfF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}})"
)
_PAIR = rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_STRING = rf'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u{_UNIT}|{_PAIR})*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_GAP = r"[ \t\n\r]*"


def _listed(item: str) -> str:
    return rf"{_GAP}(?:{item}{_GAP}(?:,{_GAP}{item}{_GAP})*)?"


def _list_of(item: str) -> str:
    return rf"\[{_listed(item)}\]"


def _object_of(value: str) -> str:
    pair = rf"{_STRING}{_GAP}:{_GAP}{value}"
    return rf"\{{{_listed(pair)}\}}"


_PLAIN_STRING = r'"[^"\\\x00-\x1f]*"'
_PLAIN_PAIR = rf"{_PLAIN_STRING}:(?:{_PLAIN_STRING}|-?(?:0|[1-9][0-9]{{0,15}})|true|false|null)"
_PLAIN = rf"\A\{{(?:{_PLAIN_PAIR}(?:,{_PLAIN_PAIR})*)?\}}\z"
"""An object as serializers write it, of strings without escapes and of whole numbers. Arrow compiles a pattern at each
call: this one in a sixteenth of the time that the next one takes."""
_VALUE = f"(?:{_SCALAR}|{_list_of(_SCALAR)}|{_object_of(_SCALAR)})"
_SHALLOW = rf"\A{_GAP}{_object_of(_VALUE)}{_GAP}\z"
"""An object of scalars, and of lists and objects of scalars: nearly all metadata, known to be well at C++ speed."""


def faulty_objects(texts: Column) -> Iterator[tuple[int, str]]:
    """The place of each text that is no JSON object that ``jsonb`` can hold, and what is wrong with it; not of nulls.

    Numbers beyond what PostgreSQL's ``numeric`` holds, and objects nested deeper than its stack, are left to the
    server, which refuses them.
    """
    others = _unmatched(texts, _PLAIN)
    if len(others):
        others = others[_unmatched(texts.take(others), _SHALLOW)]
    for place in others.tolist():
        reason = _fault(texts[place].as_py())
        if reason is not None:
            yield place, reason


def _unmatched(texts: Column, pattern: str) -> NDArray[np.intp]:
    matched = kernels.fill_null(kernels.match_substring_regex(texts, pattern), True)
    return np.flatnonzero(~matched.to_numpy(zero_copy_only=False))


def _fault(text: str) -> str | None:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "metadata is no JSON"
    if not isinstance(value, dict):
        return "metadata is no JSON object"
    if any(map(_unstorable, _strings(value))):
        return "metadata has a NUL character or half a surrogate pair, which PostgreSQL cannot store"
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unstorable(text: str) -> bool:
    return "\0" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text))


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
