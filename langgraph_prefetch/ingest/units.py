"""What an ingestion remembers as one: the documents of one source, and where each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.passages import SourcesDone

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("numpy", "ingest") from error

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
        ids: those of its rows, in order; dictionaries keep that, and tell duplicates. None before there are any: there
            may be as many sources as rows.
    """

    source: str
    fingerprint: bytes | None = None
    present: bool = False
    groups: int = 0
    whole: bool = True
    read: bool = False
    written: int = 0
    ids: dict[str, None] | None = None

    @property
    def finished(self) -> bool:
        """Every row of it has been written."""
        return self.read and self.written == self.groups


@dataclass(slots=True, eq=False)
class Alone:
    """Sources of one document each, which went to one group: columns, for there may be as many as there are rows.

    Attributes:
        sources: their names.
        fingerprints: one each.
        failed: those of which something was skipped, among other names.
        counts: how many rows each has; known when they are split.
        ids: those of the rows, source after source.
    """

    sources: list[str] = field(default_factory=list)
    fingerprints: list[bytes] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    counts: Sequence[int] = ()
    ids: Sequence[str] = ()

    def finished(self) -> SourcesDone:
        """Those of which nothing was skipped, with their fingerprints as they are."""
        done = SourcesDone(self.sources, self.fingerprints, self.counts, self.ids)
        if self.failed.isdisjoint(self.sources):
            return done
        return SourcesDone.of([each for each in done if each.source not in self.failed])


def done_of(units: Sequence[Unit]) -> SourcesDone:
    """Units as columns; all of them have been read to their end."""
    marks = [each.fingerprint for each in units if each.fingerprint is not None]
    assert len(marks) == len(units), "a source is finished when all of it was read"
    ids = [each.ids or () for each in units]
    return SourcesDone([each.source for each in units], marks, list(map(len, ids)), list(chain.from_iterable(ids)))


class Marks:
    """Turns a source's fingerprint into what the ledger is told: it also depends on how rows are made of documents.

    Args:
        splitter: the splitter's identity.
        embedder: the embedder's identity.
    """

    def __init__(self, splitter: str, embedder: str) -> None:
        made = f"{_FORMAT} {len(splitter)} {splitter}{embedder}".encode()
        self._clean = blake2b(made, digest_size=16, person=b"clean").digest()
        self._unpruned = blake2b(made, digest_size=16, person=b"unpruned").digest()

    def clean(self, fingerprints: Sequence[bytes]) -> list[bytes]:
        """What stands for sources of which nothing but their present rows is in the store; 16 bytes each, as given."""
        return _changed(fingerprints, self._clean)

    def clean_joined(self, fingerprints: bytes) -> bytes:
        """As ``clean``, of fingerprints of 16 bytes each, one after the other."""
        return _xor(fingerprints, self._clean).tobytes()

    def unpruned(self, fingerprints: Sequence[bytes]) -> list[bytes]:
        """What stands for those of which older rows may be left."""
        return _changed(fingerprints, self._unpruned)


def _changed(fingerprints: Sequence[bytes], by: bytes) -> list[bytes]:
    if set(map(len, fingerprints)) - {len(by)}:  # a user's own, that is no hash
        fingerprints = [each[: len(by)].rjust(len(by), b"\0") for each in fingerprints]
    changed: list[bytes] = _xor(b"".join(fingerprints), by).view(f"V{len(by)}").reshape(-1).tolist()
    return changed


def _xor(fingerprints: bytes, by: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(fingerprints, np.uint8).reshape(-1, len(by)) ^ np.frombuffer(by, np.uint8)


def joined(fingerprints: list[bytes]) -> bytes:
    """The fingerprint of documents in their order; 16 bytes."""
    return blake2b(b"".join(fingerprints), digest_size=16).digest()
