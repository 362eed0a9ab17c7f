"""Outputs of searches as bytes: typed JSON, compressed where that helps. Pure.

A result is content and artifact alone. What a search said meanwhile (custom writes, custom events) belongs to a run
that no other process has, so an output that said something is refused, as is one with values that JSON cannot keep.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from langgraph_prefetch.aws import typed_json
from langgraph_prefetch.errors import UnportableError, UnreadableItemError
from langgraph_prefetch.values import Output

VERSION = 1
COMPRESS_FROM_BYTES = 4_096
"""Smaller outputs stay as they are, to be read by people and to save the time."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An output as bytes. ``encoding``: ``json`` or ``zlib``."""

    encoding: str
    data: bytes


def is_short(output: Output) -> bool:
    """Whether it is a text that is packed in no time; another one is nothing for an event loop."""
    return type(output.content) is str and len(output.content) < COMPRESS_FROM_BYTES and output.artifact is None


def pack(output: Output, most: int) -> Packed:
    """An output as at most ``most`` bytes, before and after compression.

    Raises:
        UnportableError: it holds what JSON cannot keep, said something, or is too large.
    """
    if output.said:
        raise UnportableError(output, "it said something to its run")
    data = typed_json.dumps({"v": VERSION, "content": output.content, "artifact": output.artifact})
    if len(data) > most:
        raise UnportableError(output, f"it has {len(data)} bytes, and {most} are allowed")
    if len(data) < COMPRESS_FROM_BYTES:
        return Packed("json", data)
    packed = zlib.compress(data, 1)
    return Packed("zlib", packed) if len(packed) < len(data) else Packed("json", data)


def unpack(packed: Packed, most: int) -> Output:
    """The output.

    Raises:
        UnreadableItemError: bytes of another version, no typed JSON, or more of them than ``most``.
    """
    match typed_json.loads(_plain_bytes(packed, most)):
        case {"v": 1, "content": content, "artifact": artifact, **rest} if not rest:
            return Output(content, artifact)
    raise UnreadableItemError("an output of another version")


def _plain_bytes(packed: Packed, most: int) -> bytes:
    match packed.encoding:
        case "json":
            data = packed.data
        case "zlib":
            data = _inflated(packed.data, most)
        case _:
            raise UnreadableItemError("an encoding of another version")
    if len(data) > most:
        raise UnreadableItemError(f"more than {most} bytes")
    return data


def _inflated(data: bytes, most: int) -> bytes:
    """At most one byte more than ``most``, however little it was compressed from."""
    try:
        return zlib.decompressobj().decompress(data, most + 1)
    except zlib.error as error:
        raise UnreadableItemError("bytes that cannot be decompressed") from error
