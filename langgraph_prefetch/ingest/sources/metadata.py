"""Metadata as JSON: one form for equal metadata, which PostgreSQL can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import NUL

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error

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
    column = _written_at_once(metadatas)
    if column is not None:
        return column, {}
    column, faults = [], {}
    for place, each in enumerate(metadatas):
        try:
            column.append(metadata_bytes(each))
        except UnreadableDocumentError as error:
            column.append(b"")
            faults[place] = str(error)
    return column, faults


def _written_at_once(metadatas: Sequence[Mapping[str, Any]]) -> list[bytes] | None:
    """All as one list, taken apart again; None where that cannot be done: a call costs ten times what it writes."""
    if not metadatas or set(map(type, metadatas)) != {dict}:
        return None
    try:
        written = orjson.dumps(metadatas if type(metadatas) is list else list(metadatas), str, _OPTIONS)
    except TypeError:
        return None
    # Between objects stands "},{", and elsewhere hardly ever; where it is found no more often, it was found only there.
    if written.count(b"},{") != len(metadatas) - 1 or holds_nul(written):
        return None
    return written[1:-1].replace(b"},{", b"}\n{").split(b"\n")  # JSON in one line has no other line feed


def holds_nul(json: bytes) -> bool:
    """Whether a string of a JSON text holds a NUL."""
    # Without escaped backslashes, what looks like the escape is it.
    return b"\\u0000" in json and b"\\u0000" in json.replace(rb"\\", b"")
