"""Python lists as PostgreSQL arrays in binary form (``array_recv``), without a call of the driver for each element."""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.schema.vectors import Binary

_TEXT, _BYTEA, _INT4 = 25, 17, 23
_LENGTH = struct.Struct(">i").pack


def texts(values: Collection[str | None]) -> Binary:
    """An array of the type ``text[]``.

    Raises:
        ConfigurationError: a text that PostgreSQL cannot store.
    """
    try:
        encoded = [None if value is None else value.encode() for value in values]
    except UnicodeEncodeError:
        raise ConfigurationError("half a surrogate pair is no character, and cannot be stored") from None
    made = _array(encoded, _TEXT)
    if any(value is not None and b"\0" in value for value in encoded):
        raise ConfigurationError("PostgreSQL cannot store NUL characters")
    return made


def byte_strings(values: Collection[bytes]) -> Binary:
    """An array of the type ``bytea[]``."""
    return _array(values, _BYTEA)


def integers(values: Sequence[int]) -> Binary:
    """An array of the type ``int4[]``."""
    return _array([_LENGTH(value) for value in values], _INT4)


def _array(elements: Collection[bytes | None], oid: int) -> Binary:
    if not elements:
        return Binary(struct.pack(">iii", 0, 0, oid))
    pieces = [struct.pack(">iiiii", 1, int(None in elements), oid, len(elements), 1)]
    for element in elements:
        pieces += (_LENGTH(-1),) if element is None else (_LENGTH(len(element)), element)
    return Binary(b"".join(pieces))
