"""What a reader of one format is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph_prefetch.evaluation.importers.records import Record, Skipped, records
from langgraph_prefetch.evaluation.importers.values import Format, TracedRun
from langgraph_prefetch.events import Event

WRITTEN_AS_TEXT = "a message was written with str(), which cannot be read back; write it with langchain_core.load.dumpd"


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and where to note what cannot be read in it."""

    path: str
    skipped: Skipped

    def records(self) -> Iterator[Record]:
        """Its JSON records, read as they are asked for."""
        return records(self.path, self.skipped)


class Reads(Protocol):
    """Reads a whole file."""

    def __call__(self, source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
        """Its runs, and our own events.

        Raises:
            TraceFileError: the file cannot be read at all.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format.

    Attributes:
        name: for ``--format``.
        looks_like: what a record of it looks like, for people.
        recognises: whether a record is one.
        read: reads a file of them.
    """

    name: Format
    looks_like: str
    recognises: Callable[[Any], bool]
    read: Reads
