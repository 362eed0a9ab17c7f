"""The load stage: documents read in order, unchanged sources passed over, the others in groups of fixed size."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, groupby, islice
from operator import attrgetter

from langgraph_prefetch.errors import DocumentOrderError, MissingExtraError
from langgraph_prefetch.ingest.in_memory import Gathered
from langgraph_prefetch.ingest.plan.interpret import worker_of
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.langchain import DocumentSource
from langgraph_prefetch.ingest.sources.shapes import Document, Part, Skipped, Source
from langgraph_prefetch.ingest.units import Unit, joined

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

_ASKED_AT_FIRST, _ASKED_AT_ONCE = 64, 4_096
_HELD_DOCUMENTS, _HELD_CHARS = 4_096, 8_388_608
_PART_CHARS = _HELD_CHARS // 256  # a part may hold the bytes of its file

Lookup = Callable[[Collection[str]], Mapping[str, bytes]]
"""The ledger's fingerprints of some sources."""


@dataclass(slots=True, eq=False)
class Group:
    """Documents that are split together, or rows that are split already; all of one writer.

    Attributes:
        writer: its number.
        documents: in order.
        units: the sources that they belong to, by name.
        ended: sources whose documents have all been handed on.
        chars: how much text it is.
        rows: set instead of ``documents`` for what came as record batches.
    """

    writer: int
    documents: list[Document] = field(default_factory=list)
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


Judge = Callable[[bytes | None, bytes | None], State]
"""Judges a source by the remembered mark, if any, and its fingerprint, if known."""


class Loader:
    """Iterates over a source's groups; used by one thread at a time.

    Args:
        source: where documents come from.
        settings: how groups are cut.
        lookup: asks the ledger.
        judge: tells whether a source has changed.
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
        self._in_memory = source if isinstance(source, DocumentSource) and _is_list(source.documents) else None
        self.loaded = Loaded()
        self._open: list[Group] = [Group(number) for number in range(settings.writers)]

    def groups(self) -> Generator[Group, None, None]:
        """Groups of documents that are new or changed."""
        for unit, documents in self._wanted():
            yield from self._grouped(unit, documents)
        yield from (self._take(number) for number in range(len(self._open)))

    def _grouped(self, unit: Unit, documents: Iterable[Document | Skipped]) -> Iterator[Group]:
        # The loop runs once for each document there is: nothing in it is looked up that could be before.
        settings, source, loaded, opened = self._settings, unit.source, self.loaded, self._open
        most_rows, most_chars, several = settings.batch_rows, settings.batch_chars, settings.writers > 1
        told = hashlib.blake2b(digest_size=16) if unit.fingerprint is None else None
        number = 0
        for document in documents:
            if isinstance(document, Skipped):
                unit.whole = False
                self._skip(document)
                continue
            if told:
                told.update(document.fingerprint)
            if several:
                number = self._writer(document)
            size = len(document.text)
            group = opened[number]
            held = group.documents
            if held and (len(held) >= most_rows or group.chars + size > most_chars):
                yield self._take(number)
                group = opened[number]
                held = group.documents
            held.append(document)
            if source not in group.units:
                group.add(unit)
            group.chars += size
            loaded.documents += 1
            loaded.chars += size
        if told:
            unit.fingerprint = loaded.sources[source] = told.digest()
        # In a group with documents of it, it is finished as soon as they are written.
        last = next((group for group in opened if source in group.units), opened[-1])
        last.ended.append(unit)

    def _writer(self, document: Document) -> int:
        return worker_of(document.source + document.fingerprint.hex(), self._settings.writers)

    def _take(self, number: int) -> Group:
        group, self._open[number] = self._open[number], Group(number)
        return group

    def _wanted(self) -> Iterator[tuple[Unit, Iterable[Document | Skipped]]]:
        """The sources that are new or changed; the ledger is asked for many at once."""
        if self._in_memory is not None:
            yield from self._wanted_in_memory(self._in_memory)
            return
        units = self._units()
        size = _ASKED_AT_FIRST
        while block := self._block(units, size):
            known = self._lookup([unit.source for unit, _ in block])
            for unit, documents in block:
                state = self._judge(known.get(unit.source), unit.fingerprint)
                unit.present = state is State.PRESENT
                if state is State.UNCHANGED:
                    self.loaded.unchanged += 1
                else:
                    yield unit, documents
            size = min(size * 4, _ASKED_AT_ONCE)

    def _wanted_in_memory(self, given: DocumentSource) -> Iterator[_Entry]:
        assert isinstance(given.documents, list | tuple)
        found = Gathered(given.documents, given.source_key, self._skip)
        sources = list(found.sources)
        for start in range(0, len(sources), _ASKED_AT_ONCE):
            block = sources[start : start + _ASKED_AT_ONCE]
            known = self._lookup(block)
            for source in block:
                mark = self.loaded.sources[source] = found.fingerprint(source)
                state = self._judge(known.get(source), mark)
                if state is State.UNCHANGED:
                    self.loaded.unchanged += 1
                else:
                    yield Unit(source, mark, present=state is State.PRESENT), found.documents(source)

    def _block(self, units: Iterator[_Entry], size: int) -> list[_Entry]:
        block: list[_Entry] = []
        held = 0
        for unit, documents in islice(units, size):
            block.append((unit, documents))
            # It takes memory until the ledger has answered.
            held += sum(len(each.text) for each in documents) if isinstance(documents, list) else _PART_CHARS
            if unit.fingerprint is None or held > _HELD_CHARS:  # one still being read keeps the next from being read
                break
        return block

    def _units(self) -> Iterator[_Entry]:
        for part in self._source.parts():
            if isinstance(part, Skipped):
                self._skip(part)
                self.loaded.sources.setdefault(part.where, None)
            elif part.fingerprint is not None:
                if self.loaded.see(part.source, part.fingerprint):
                    yield Unit(part.source, part.fingerprint), part.documents()
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
                    yield Unit(source), chain(held, documents)  # noqa: B031 - the rest of it, once
                    break
            else:
                if self.loaded.see(source, mark := _of(held)):
                    yield Unit(source, mark), held


_Entry = tuple[Unit, list[Document] | Iterator[Document | Skipped]]


def _is_list(documents: object) -> bool:
    return isinstance(documents, list | tuple)


def _of(documents: list[Document]) -> bytes:
    """A source's fingerprint: that of its one document, or of all in their order."""
    return documents[0].fingerprint if len(documents) == 1 else joined([each.fingerprint for each in documents])
