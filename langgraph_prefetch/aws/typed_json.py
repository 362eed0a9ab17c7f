"""Values as JSON that keeps their types, and nothing else: what is read back is equal, or it is refused. Pure.

JSON's own values stand for themselves. The others are objects with the one key ``$`` that names the type; a mapping
that has that key itself is written as a list of pairs. There is no type whose reading runs code.
"""

from __future__ import annotations

import json
import math
from typing import Any

from langchain_core.documents import Document

from langgraph_prefetch.errors import UnportableError, UnreadableItemError

TAG = "$"
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dumps(value: Any) -> bytes:
    """UTF-8 JSON.

    Raises:
        UnportableError: something that is no string, number, boolean, None, list, tuple, mapping with string keys or
            ``Document``; a subclass of one of these counts as something else.
    """
    try:
        text = json.dumps(_marked(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise UnportableError(value, "it is nested too deeply") from None
    return text.encode("utf-8", "surrogatepass")


def loads(data: bytes) -> Any:
    """What :func:`dumps` was given.

    Raises:
        UnreadableItemError: bytes that :func:`dumps` does not write.
    """
    try:
        return _plain(json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_refuse))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UnreadableItemError(f"no typed JSON ({type(error).__name__})") from error


def _marked(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {TAG: "float", "of": repr(value)}
    if kind is list:
        return [_marked(each) for each in value]
    if kind is tuple:
        return {TAG: "tuple", "of": [_marked(each) for each in value]}
    if kind is dict:
        return _marked_mapping(value)
    if kind is Document:
        return {TAG: "document", "id": value.id, "text": value.page_content, "of": _marked(value.metadata)}
    raise UnportableError(value)


def _marked_mapping(value: dict[Any, Any]) -> Any:
    if any(type(name) is not str for name in value):
        raise UnportableError(value, "its keys are not all strings")
    if TAG in value:
        return {TAG: "mapping", "of": [[name, _marked(each)] for name, each in value.items()]}
    return {name: _marked(each) for name, each in value.items()}


def _plain(marked: Any) -> Any:
    if isinstance(marked, list):
        return [_plain(each) for each in marked]
    if not isinstance(marked, dict):
        return marked
    if TAG not in marked:
        return {name: _plain(each) for name, each in marked.items()}
    match marked:
        case {"$": "float", "of": str(text)}:
            return _FLOATS[text]
        case {"$": "tuple", "of": list(parts)}:
            return tuple(map(_plain, parts))
        case {"$": "mapping", "of": list(pairs)}:
            return {_text(name): _plain(each) for name, each in pairs}
        case {"$": "document", "id": id_, "text": str(text), "of": dict(metadata)} if id_ is None or type(id_) is str:
            return Document(page_content=text, metadata=_mapping(_plain(metadata)), id=id_)
    raise ValueError("an unknown type")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a key that is no string")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError("metadata that are no mapping")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
