"""AWS event-stream framing, the encoding half (``application/vnd.amazon.eventstream``)."""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Mapping
from typing import Any

_STRING = b"\x07"


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame: total and header length, their CRC-32, string headers, payload, CRC-32 of everything before it."""
    encoded = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(encoded) + len(payload), len(encoded))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + encoded + payload
    return body + struct.pack(">I", binascii.crc32(body))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + _STRING + struct.pack(">H", len(text)) + text


def event(kind: str, value: Mapping[str, Any]) -> bytes:
    """A JSON event of type ``kind``."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return message(headers, json.dumps(value).encode())


def exception(kind: str, text: str) -> bytes:
    """A modelled exception in the middle of a stream (``throttlingException``, ``modelStreamErrorException`` …)."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return message(headers, json.dumps({"message": text}).encode())
