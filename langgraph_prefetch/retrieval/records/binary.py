"""Python lists in PostgreSQL's binary forms, without a call of the driver for each element."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import cast

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.driver import COPY_HEADER, COPY_TRAILER
from langgraph_prefetch.retrieval.schema.vectors import Binary

_TEXT, _INT4 = 25, 23
_LENGTH, _COUNT = struct.Struct(">i").pack, struct.Struct(">h").pack


def texts(values: Collection[str | None]) -> Binary:
    """An array of the type ``text[]`` (``array_recv``).

    Raises:
        ConfigurationError: a text that PostgreSQL cannot store.
    """
    try:
        encoded: list[bytes | None] = (
            [None if value is None else value.encode() for value in values]
            if None in values
            else list(map(str.encode, cast("Collection[str]", values)))
        )
    except UnicodeEncodeError:
        raise ConfigurationError("half a surrogate pair is no character, and cannot be stored") from None
    if b"\0" in b"".join(filter(None, encoded)):
        raise ConfigurationError("PostgreSQL cannot store NUL characters")
    return _array(encoded, _TEXT)


def integers(values: Sequence[int]) -> Binary:
    """An array of the type ``int4[]``."""
    return _array(list(map(_LENGTH, values)), _INT4)


def copy_rows(same: tuple[int, str], names: Sequence[str], data: Sequence[bytes]) -> bytes:
    """A binary COPY stream of rows of a ``bigint``, a ``text``, another ``text`` and a ``bytea``.

    Args:
        same: the first two fields, the same in all rows.
        names: the third of each; texts that :func:`texts` would take.
        data: the fourth.
    """
    number, text = same[0].to_bytes(8, "big", signed=True), same[1].encode()
    opening = b"".join((_COUNT(4), _LENGTH(8), number, _LENGTH(len(text)), text))
    encoded = list(map(str.encode, names))
    columns = (repeat(opening), _lengths(encoded), encoded, _lengths(data), data)
    return b"".join((COPY_HEADER, *chain.from_iterable(zip(*columns, strict=False)), COPY_TRAILER))


def _lengths(values: Iterable[bytes]) -> Iterator[bytes]:
    return map(_LENGTH, map(len, values))


def _array(elements: Collection[bytes | None], oid: int) -> Binary:
    if not elements:
        return Binary(struct.pack(">iii", 0, 0, oid))
    some = [element for element in elements if element is not None]
    header = struct.pack(">iiiii", 1, int(len(some) < len(elements)), oid, len(elements), 1)
    if len(some) == len(elements):
        return Binary(b"".join((header, *chain.from_iterable(zip(_lengths(some), some, strict=True)))))
    lengths = [_LENGTH(-1 if element is None else len(element)) for element in elements]
    values = (element or b"" for element in elements)
    return Binary(b"".join([header, *chain.from_iterable(zip(lengths, values, strict=True))]))
