"""Documents in groups of fixed size, each of which goes through the pipeline as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.units import Alone, Unit

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

FIRST_ROWS = 256
"""Most documents in the first group; each has up to twice as many as the one before, until ``batch_rows``."""


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring documents, and whose they are.

    Attributes:
        documents: in order, those of a source side by side.
        units: the sources in that order.
        ends: for each of them, the place where its documents end.
        goes_on: the last source has more documents, in the next block.
        alone: instead of units: each document is a source, new or changed, and has its fingerprint.
    """

    documents: Documents
    units: Sequence[Unit] = ()
    ends: Sequence[int] = ()
    goes_on: bool = False
    alone: bool = False


@dataclass(slots=True, eq=False)
class Group:
    """Documents that are split together, or rows that are split already.

    Attributes:
        documents: in order.
        units: the sources that they belong to, by name.
        ended: sources whose documents have all been handed on.
        alone: instead of both, where each document is a source of its own; None in all other groups.
        chars: how much text it is.
        rows: set instead of ``documents`` for what came as record batches.
    """

    documents: Documents = field(default_factory=Documents)
    units: dict[str, Unit] = field(default_factory=dict)
    ended: list[Unit] = field(default_factory=list)
    alone: Alone | None = None
    chars: int = 0
    rows: pa.RecordBatch | None = None

    def add(self, unit: Unit) -> None:
        """Documents of this source are in it."""
        if unit.source not in self.units:
            self.units[unit.source] = unit
            unit.groups += 1

    def add_alone(self, block: Block, start: int, end: int) -> None:
        """Documents of a block, each of which is a source."""
        sources, marks = block.documents.sources[start:end], block.documents.fingerprints[start:end]
        if not self.units and not self.ended:
            self.alone = self.alone or Alone()
            self.alone.sources += sources
            self.alone.fingerprints += [mark for mark in marks if mark is not None]
        else:
            self._add_whole(sources, marks)

    def apart(self) -> None:
        """Make a unit of each source, where there are none yet: something is to be remembered of it by itself."""
        alone, self.alone = self.alone, None
        if alone is not None:
            self._add_whole(alone.sources, alone.fingerprints)
            for source in alone.failed & self.units.keys():
                self.units[source].whole = False

    def _add_whole(self, sources: Sequence[str], marks: Sequence[bytes | None]) -> None:
        for source, mark in zip(sources, marks, strict=True):
            unit = Unit(source, mark)
            self.add(unit)
            self.ended.append(unit)


class Grouping:
    """Cuts blocks of documents into groups.

    The first groups are small, so that the stages that follow soon have something to do; where they are cut depends on
    the documents and the settings alone.
    """

    def __init__(self, settings: IngestSettings) -> None:
        self._settings = settings
        self._open = Group()
        self._most_rows = min(FIRST_ROWS, settings.batch_rows)

    def add(self, block: Block) -> Iterator[Group]:
        """One more block; gives the groups that are full with it."""
        sizes = list(map(len, block.documents.texts))
        ends = list(accumulate(sizes, initial=0))
        owner = start = 0
        while True:
            group = self._open
            end = min(start + self._most_rows - len(group.documents), len(sizes))
            room = self._settings.batch_chars - group.chars
            end = max(min(end, bisect_right(ends, ends[start] + room) - 1), start)
            if end == start < len(sizes):
                if group.documents:
                    yield self.take()
                    continue
                end = start + 1  # alone it is too much already
            if end > start:
                group.documents.extend(block.documents, start, end)
                group.chars += ends[end] - ends[start]
            if block.alone:
                group.add_alone(block, start, end)
            else:
                group.apart()
                owner = self._owned(block, owner, start, end)
            start = end
            if start >= len(sizes):
                return

    def _owned(self, block: Block, owner: int, start: int, end: int) -> int:
        """Tell the open group whose documents from ``start`` to ``end`` are; returns the first owner that goes on."""
        group, units = self._open, block.units
        while owner < len(units):
            unit, last = units[owner], block.ends[owner]
            if end > start:
                group.add(unit)
            if last > end or (block.goes_on and owner == len(units) - 1):
                return owner
            group.ended.append(unit)
            start = max(start, last)
            owner += 1
        return owner

    def take(self) -> Group:
        """The group that is open, full or not."""
        group, self._open = self._open, Group()
        self._most_rows = min(2 * self._most_rows, self._settings.batch_rows)
        return group
