"""The load stage: documents read in order, unchanged sources passed over, the others in groups of fixed size."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate, chain, groupby, islice
from operator import attrgetter

from langgraph_prefetch.errors import DocumentOrderError, MissingExtraError
from langgraph_prefetch.ingest.in_memory import Gathered
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.columns import Documents, collected, columns_of
from langgraph_prefetch.ingest.sources.langchain import DocumentSource
from langgraph_prefetch.ingest.sources.shapes import Document, Part, Skipped, Source
from langgraph_prefetch.ingest.units import Unit, joined

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

FIRST_ROWS = 256
"""Most documents in the first group; each has twice as many as the one before, up to ``batch_rows``."""
_ASKED_AT_FIRST, _ASKED_AT_ONCE = 64, 4_096
_HELD_DOCUMENTS, _HELD_CHARS = 4_096, 8_388_608
_PART_CHARS = _HELD_CHARS // 256  # a part may hold the bytes of its file

Lookup = Callable[[Collection[str]], Mapping[str, bytes]]
"""The ledger's fingerprints of some sources."""


@dataclass(slots=True, eq=False)
class Group:
    """Documents that are split together, or rows that are split already.

    Attributes:
        documents: in order.
        units: the sources that they belong to, by name.
        ended: sources whose documents have all been handed on.
        chars: how much text it is.
        rows: set instead of ``documents`` for what came as record batches.
    """

    documents: Documents = field(default_factory=Documents)
    units: dict[str, Unit] = field(default_factory=dict)
    ended: list[Unit] = field(default_factory=list)
    chars: int = 0
    rows: pa.RecordBatch | None = None

    def add(self, unit: Unit) -> None:
        """Documents of this source are in it."""
        if unit.source not in self.units:
            self.units[unit.source] = unit
            unit.groups += 1


@dataclass(slots=True, eq=False)
class Loaded:
    """What the load stage has come by.

    Attributes:
        documents: read and handed on.
        chars: how much text they had.
        unchanged: sources that an earlier run finished as they are.
        sources: the names of all sources that were seen, also of those that could not be read, and their fingerprints.
    """

    documents: int = 0
    chars: int = 0
    unchanged: int = 0
    sources: dict[str, bytes | None] = field(default_factory=dict)

    def see(self, source: str, fingerprint: bytes | None) -> bool:
        """Whether a source is new to this run.

        Raises:
            DocumentOrderError: it is not, and comes with other documents than before.
        """
        if source not in self.sources:
            self.sources[source] = fingerprint
            return True
        if fingerprint is None or fingerprint != self.sources[source]:
            raise DocumentOrderError(source)
        return False


class State(Enum):
    """How a source stands to what an earlier run remembered of it."""

    WANTED = "wanted"
    UNCHANGED = "unchanged"
    PRESENT = "present"
    """Unchanged, but older rows may be left that are to go."""


Judge = Callable[[Sequence[bytes | None], Sequence[bytes | None]], list[State]]
"""Judges sources, each by the remembered mark, if any, and its fingerprint, if known."""


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring documents, and whose they are.

    Attributes:
        documents: in order, those of a source side by side.
        owners: the sources in that order, each with the place where its documents end.
        goes_on: the last source has more documents, in the next block.
    """

    documents: Documents
    owners: Sequence[tuple[Unit, int]]
    goes_on: bool = False


class Loader:
    """Iterates over a source's groups; used by one thread at a time.

    The first groups are small, so that the stages after this one soon have something to do; where they are cut depends
    on the documents and the settings alone.

    Args:
        source: where documents come from.
        settings: how groups are cut.
        lookup: asks the ledger.
        judge: tells which sources have changed.
        skip: is told what was left out.
    """

    def __init__(
        self,
        source: Source,
        settings: IngestSettings,
        *,
        lookup: Lookup,
        judge: Judge,
        skip: Callable[[Skipped], None],
    ) -> None:
        self._source, self._settings = source, settings
        self._lookup, self._judge, self._skip = lookup, judge, skip
        self.loaded = Loaded()
        self._open = Group()
        self._most_rows = min(FIRST_ROWS, settings.batch_rows)

    def groups(self) -> Generator[Group, None, None]:
        """Groups of documents that are new or changed."""
        for block in self._blocks():
            yield from self._grouped(block)
        yield self._take()

    def _grouped(self, block: Block) -> Iterator[Group]:
        sizes = list(map(len, block.documents.texts))
        self.loaded.documents += len(sizes)
        self.loaded.chars += sum(sizes)
        ends = list(accumulate(sizes, initial=0))
        owner = start = 0
        while True:
            group = self._open
            end = min(start + self._most_rows - len(group.documents), len(sizes))
            room = self._settings.batch_chars - group.chars
            end = max(min(end, bisect_right(ends, ends[start] + room) - 1), start)
            if end == start < len(sizes):
                if group.documents:
                    yield self._take()
                    continue
                end = start + 1  # alone it is too much already
            if end > start:
                group.documents.extend(block.documents, start, end)
                group.chars += ends[end] - ends[start]
            owner = self._owned(block, owner, start, end)
            start = end
            if start >= len(sizes):
                return

    def _owned(self, block: Block, owner: int, start: int, end: int) -> int:
        """Tell the open group whose documents from ``start`` to ``end`` are; returns the first owner that goes on."""
        group, owners = self._open, block.owners
        while owner < len(owners):
            unit, last = owners[owner]
            if end > start:
                group.add(unit)
            if last > end or (block.goes_on and owner == len(owners) - 1):
                return owner
            group.ended.append(unit)
            start = max(start, last)
            owner += 1
        return owner

    def _take(self) -> Group:
        group, self._open = self._open, Group()
        self._most_rows = min(2 * self._most_rows, self._settings.batch_rows)
        return group

    def _blocks(self) -> Iterator[Block]:
        """The documents of sources that are new or changed; the ledger is asked for many at once."""
        given = self._source
        if isinstance(given, DocumentSource) and isinstance(given.documents, list | tuple):
            gathered = Gathered(given.documents, given.source_key, self._skip)
            for names in chunked(gathered.sources, _ASKED_AT_ONCE):
                block = gathered.block(names)
                self.loaded.sources.update(zip(names, block.fingerprints, strict=True))
                states = self._states(names, block.fingerprints)
                wanted = [place for place, state in enumerate(states) if state is not State.UNCHANGED]
                found, ends, whole = block.documents(wanted)
                owners = [
                    (
                        Unit(names[place], block.fingerprints[place], states[place] is State.PRESENT, whole=good),
                        end,
                    )
                    for place, end, good in zip(wanted, ends, whole, strict=True)
                ]
                yield Block(found, owners)
            return
        units, size = self._units(), _ASKED_AT_FIRST
        while entries := self._some(units, size):
            states = self._states([unit.source for unit, _ in entries], [unit.fingerprint for unit, _ in entries])
            for (unit, documents), state in zip(entries, states, strict=True):
                unit.present = state is State.PRESENT
                if state is not State.UNCHANGED:
                    yield from self._read(unit, documents)
            size = min(size * 4, _ASKED_AT_ONCE)

    def _states(self, names: list[str], fingerprints: list[bytes | None]) -> list[State]:
        known = self._lookup(names)
        states = self._judge(list(map(known.get, names)), fingerprints)
        self.loaded.unchanged += states.count(State.UNCHANGED)
        return states

    def _read(self, unit: Unit, documents: Iterable[Documents | Skipped]) -> Iterator[Block]:
        """One source's documents, as they are read."""
        told = hashlib.blake2b(digest_size=16) if unit.fingerprint is None else None
        for some in documents:
            if isinstance(some, Skipped):
                unit.whole = False
                self._skip(some)
                continue
            if told:
                told.update(some.told())
            yield Block(some, [(unit, len(some))], goes_on=True)
        if told:
            unit.fingerprint = self.loaded.sources[unit.source] = told.digest()
        yield Block(Documents(), [(unit, 0)])

    def _some(self, units: Iterator[_Entry], size: int) -> list[_Entry]:
        entries: list[_Entry] = []
        held = 0
        for unit, documents in islice(units, size):
            entries.append((unit, documents))
            # It takes memory until the ledger has answered.
            held += _chars(documents) if isinstance(documents, list) else _PART_CHARS
            if unit.fingerprint is None or held > _HELD_CHARS:  # one still being read keeps the next from being read
                break
        return entries

    def _units(self) -> Iterator[_Entry]:
        for part in self._source.parts():
            if isinstance(part, Skipped):
                self._skip(part)
                self.loaded.sources.setdefault(part.where, None)
            elif part.fingerprint is not None:
                if self.loaded.see(part.source, part.fingerprint):
                    yield Unit(part.source, part.fingerprint), columns_of(part)
            else:
                yield from self._streamed(part)

    def _streamed(self, part: Part) -> Iterator[_Entry]:
        """The sources of documents that come one by one; a large one is handed on before its end is seen."""

        def kept() -> Iterator[Document]:
            for document in part.documents():
                if isinstance(document, Skipped):
                    self._skip(document)
                else:
                    yield document

        for source, documents in groupby(kept(), key=attrgetter("source")):
            held: list[Document] = []
            chars = 0
            for document in documents:
                held.append(document)
                chars += len(document.text)
                if len(held) >= _HELD_DOCUMENTS or chars >= _HELD_CHARS:
                    self.loaded.see(source, None)
                    yield Unit(source), collected(chain(held, documents))  # noqa: B031 - the rest of it, once
                    break
            else:
                if self.loaded.see(source, mark := _of(held)):
                    yield Unit(source, mark), list(collected(held))


_Entry = tuple[Unit, list[Documents | Skipped] | Iterator[Documents | Skipped]]


def chunked(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """Lists of at most ``size`` of them."""
    items = iter(names)
    while some := list(islice(items, size)):
        yield some


def _chars(found: list[Documents | Skipped]) -> int:
    return sum(len(text) for some in found if isinstance(some, Documents) for text in some.texts)


def _of(documents: list[Document]) -> bytes:
    """A source's fingerprint: that of its one document, or of all in their order."""
    return documents[0].fingerprint if len(documents) == 1 else joined([each.fingerprint for each in documents])
