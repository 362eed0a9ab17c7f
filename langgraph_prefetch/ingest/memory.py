"""What the load stage asks of earlier runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Protocol

MARK_BYTES = 16
"""The length of what is remembered of a source."""

Recalled = bytes | Mapping[str, bytes]
"""Of sources in their order: their marks, one after the other, where all of them have one; else those there are, by
name."""


class State(Enum):
    """How a source stands to what an earlier run remembered of it."""

    WANTED = "wanted"
    UNCHANGED = "unchanged"
    PRESENT = "present"
    """Unchanged, but older rows may be left that are to go."""


class Memory(Protocol):
    """What earlier runs left. Its methods block, and are called by one thread at a time."""

    def lookup(self, sources: Collection[str]) -> Mapping[str, bytes]:
        """What is remembered of some sources."""
        ...

    def recall(self, sources: Sequence[str]) -> Recalled:
        """The same of very many, each of them there once."""
        ...

    def judge(self, stored: Sequence[bytes | None], fingerprints: Sequence[bytes | None]) -> list[State]:
        """Which sources have changed."""
        ...

    def all_unchanged(self, stored: bytes, fingerprints: bytes) -> bool:
        """Whether none has: what was recalled of them, and their fingerprints, one after the other."""
        ...


class NoMemory:
    """Nothing is remembered by source, so that each is gone through."""

    def lookup(self, sources: Collection[str]) -> Mapping[str, bytes]:
        """Nothing."""
        return {}

    def recall(self, sources: Sequence[str]) -> Recalled:
        """Nothing."""
        return {}

    def judge(self, stored: Sequence[bytes | None], fingerprints: Sequence[bytes | None]) -> list[State]:
        """Every one is wanted."""
        return [State.WANTED] * len(fingerprints)

    def all_unchanged(self, stored: bytes, fingerprints: bytes) -> bool:
        """No."""
        return False
