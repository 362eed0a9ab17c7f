"""Metadata as JSON: one form for equal metadata, which PostgreSQL can keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import NUL

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error

_ESCAPED = rb"\u0000"
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def metadata_json(metadata: Mapping[str, Any]) -> str:
    """As ``metadata_bytes``, as a string."""
    return metadata_bytes(metadata).decode()


def metadata_bytes(metadata: Mapping[str, Any]) -> bytes:
    """A JSON object, its keys sorted. What JSON has no form for is written as ``str`` shows it, not-a-number as null.

    Raises:
        UnreadableDocumentError: it holds a NUL, half a surrogate pair, or goes round in a circle.
    """
    try:
        text = orjson.dumps(metadata if type(metadata) is dict else dict(metadata), str, _OPTIONS)
    except TypeError as error:
        raise UnreadableDocumentError(f"metadata that JSON cannot hold: {error}") from error
    if holds_nul(text):
        raise UnreadableDocumentError(f"its metadata {NUL}")
    return text


def metadata_column(metadatas: Sequence[Mapping[str, Any]]) -> tuple[list[bytes], dict[int, str]]:
    """As ``metadata_bytes`` of each, many times as fast; by place what is wrong with those that have no such form."""
    if set(map(type, metadatas)) == {dict}:
        column = written_at_once(list(metadatas), str, _OPTIONS)
        if column is not None and not any(map(holds_nul, column if _ESCAPED in b"".join(column) else ())):
            return column, {}
    column, faults = [], {}
    for place, each in enumerate(metadatas):
        try:
            column.append(metadata_bytes(each))
        except UnreadableDocumentError as error:
            column.append(b"")
            faults[place] = str(error)
    return column, faults


def written_at_once(objects: list[Any], default: Callable[[Any], Any] | None, options: int) -> list[bytes] | None:
    """As ``orjson.dumps`` of each dictionary: all as one list, taken apart again, since it is calls that cost.

    Returns:
        None where that cannot be done, or one of them has no such form.
    """
    try:
        written = orjson.dumps(objects, default, options)
    except TypeError:
        return None
    # Between objects stands "},{", and elsewhere hardly ever; where it is found no more often, it was found only there.
    if not objects or written.count(b"},{") != len(objects) - 1:
        return None
    return written[1:-1].replace(b"},{", b"}\n{").split(b"\n")  # JSON in one line has no other line feed


def holds_nul(json: bytes) -> bool:
    """Whether a string of a JSON text holds a NUL."""
    # Without escaped backslashes, what looks like the escape is it.
    return _ESCAPED in json and b"\\u0000" in json.replace(rb"\\", b"")
