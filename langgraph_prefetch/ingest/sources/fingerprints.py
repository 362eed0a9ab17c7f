"""Fingerprints: 16 bytes that tell whether something is as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import IO

SIZE = 16
PERSON = b"prefetch-source"
_BLOCK = 1 << 18
_blake2b = hashlib.blake2b
_BEGUN = _blake2b(digest_size=SIZE, person=PERSON)


def fingerprint(content: bytes | str, *more: str) -> bytes:
    """The fingerprint of some content, and of ``more`` that it depends on; no two such lists are confused."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    if not more:
        return _blake2b(content, digest_size=SIZE).digest()
    made = _begun(more)
    made.update(content)
    return made.digest()


def fingerprint_of_two(content: bytes, other: bytes) -> bytes:
    """As ``fingerprint(content, other)``, both encoded, in two thirds of the time."""
    made = _BEGUN.copy()
    made.update(b"".join((b"\1", len(other).to_bytes(8), other, content)))
    return made.digest()


def fingerprints_of_two(contents: Iterable[str], others: Iterable[bytes]) -> list[bytes]:
    """As ``fingerprint_of_two`` of each pair, the contents in UTF-8, and what is no character as it would be."""
    begun, lengths, found = _BEGUN.copy, _Lengths(), []
    # Two short updates, and a text encoded just before it is read: nothing is joined, and the bytes are still at hand.
    for content, other in zip(contents, others, strict=True):
        made = begun()
        made.update(lengths[len(other)] + other)
        try:
            made.update(content.encode())
        except UnicodeEncodeError:
            made.update(content.encode("utf-8", "surrogatepass"))
        found.append(made.digest())
    return found


class _Lengths(dict[int, bytes]):
    """What stands before another content of some length."""

    def __missing__(self, length: int) -> bytes:
        found = self[length] = b"\1" + length.to_bytes(8)
        return found


def file_fingerprint(file: IO[bytes], *more: str) -> bytes:
    """As ``fingerprint`` of what is in the file, in bounded memory."""
    made = _begun(more)
    while block := file.read(_BLOCK):
        made.update(block)
    return made.digest()


def _begun(more: tuple[str, ...]) -> hashlib.blake2b:
    return _blake2b(_prefix(more), digest_size=SIZE, person=PERSON)


def _prefix(more: tuple[str, ...]) -> bytes:
    """What stands before the content in what is hashed: their number and each behind its length; no two are alike."""
    parts = [each.encode("utf-8", "surrogatepass") for each in more]
    return len(parts).to_bytes(1) + b"".join([len(each).to_bytes(8) + each for each in parts])
