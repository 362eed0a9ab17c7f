"""What a source gives: parts that can be told unchanged before anything in them is read, and documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Markup = Literal["plain", "markdown"]
"""How the text of a document is written, for splitters that look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text before it is split.

    Attributes:
        source: a name that stays the same from run to run; rows are deleted and replaced by it. Several documents may
            share one, as the lines of a file do.
        text: what it says; never blank, and free of NUL, which PostgreSQL cannot store.
        metadata: handed out with every passage; anything JSON can hold. Nothing that moves when another document is
            added or removed, such as a line number, or an unchanged document would be embedded anew.
        fingerprint: 16 bytes, equal for two documents of one source only if they are equal; of the raw content where
            there is one, so that it is known before parsing.
        markup: how the text is written.
    """

    source: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: bytes
    markup: Markup = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that was left out, and why.

    Attributes:
        where: the file, with the line where it is one line of it: ``docs/pages.jsonl:17``.
        reason: what is wrong, and what to do where that is known.
    """

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@runtime_checkable
class Part(Protocol):
    """What a source reads at once and a ledger remembers as one: a file, with all of its documents."""

    @property
    def source(self) -> str:
        """The ``source`` of all its documents, unless ``fingerprint`` is None: then each has its own."""
        ...

    @property
    def fingerprint(self) -> bytes | None:
        """16 bytes, equal for two states of the part only if they give the same documents; None if that is unknown.

        Known without parsing: a part whose fingerprint was recorded needs no call of ``documents``. A part that gave a
        ``Skipped`` should not be recorded, or the next run would not mention it again.
        """
        ...

    def documents(self) -> Iterator[Document | Skipped]:
        """Its documents, in order; may be called once. What cannot be read is skipped, and the rest goes on."""
        ...


@runtime_checkable
class Source(Protocol):
    """Where documents come from. Used by one thread at a time, which may block on it."""

    def parts(self) -> Iterator[Part | Skipped]:
        """Its parts, each once, in the same order on every run; a part may be forgotten when the next is asked for."""
        ...
