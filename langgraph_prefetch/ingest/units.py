"""What an ingestion remembers as one: the documents of one source, and where each of them is."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

_FORMAT = "1"
"""Changes when the same input would give other rows, so that everything is written anew."""


@dataclass(slots=True, eq=False)
class Unit:
    """The documents of one source, from the first that is read until the last of their rows is written.

    Attributes:
        source: its name.
        fingerprint: of the documents; None until all of them have been read.
        present: its rows are all in the store already; only older ones remain to be deleted.
        groups: how many groups its documents went to; final once ``read``.
        whole: nothing of it was skipped.
        read: all of its documents were handed on.
        written: of how many groups all rows were written.
        ids: those of its rows, in order; dictionaries keep that, and tell duplicates.
    """

    source: str
    fingerprint: bytes | None = None
    present: bool = False
    groups: int = 0
    whole: bool = True
    read: bool = False
    written: int = 0
    ids: dict[str, None] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Every row of it has been written."""
        return self.read and self.written == self.groups


class Marks:
    """Turns a source's fingerprint into what the ledger is told: it also depends on how rows are made of documents.

    Args:
        splitter: the splitter's identity.
        embedder: the embedder's identity.
    """

    def __init__(self, splitter: str, embedder: str) -> None:
        made = f"{_FORMAT} {len(splitter)} {splitter}{embedder}".encode()
        self._clean = int.from_bytes(blake2b(made, digest_size=16, person=b"clean").digest())
        self._unpruned = int.from_bytes(blake2b(made, digest_size=16, person=b"unpruned").digest())

    def clean(self, fingerprint: bytes) -> bytes:
        """What stands for a source of which nothing but its present rows is in the store; 16 bytes, as given."""
        return (int.from_bytes(fingerprint) ^ self._clean).to_bytes(16)

    def unpruned(self, fingerprint: bytes) -> bytes:
        """What stands for one of which older rows may be left."""
        return (int.from_bytes(fingerprint) ^ self._unpruned).to_bytes(16)


def joined(fingerprints: list[bytes]) -> bytes:
    """The fingerprint of documents in their order; 16 bytes."""
    return blake2b(b"".join(fingerprints), digest_size=16).digest()
