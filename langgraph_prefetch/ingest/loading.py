"""The load stage: documents read in order, unchanged sources passed over, the others in groups of fixed size."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from operator import attrgetter
from threading import Thread
from typing import Protocol, TypeVar

from langgraph_prefetch.errors import DocumentOrderError
from langgraph_prefetch.ingest.grouping import Block, Group, Grouping
from langgraph_prefetch.ingest.in_memory import Gathered, GatheredBlock
from langgraph_prefetch.ingest.memory import MARK_BYTES, Memory, Recalled, State
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.columns import Documents, collected, columns_of
from langgraph_prefetch.ingest.sources.langchain import DocumentSource
from langgraph_prefetch.ingest.sources.names import source_name
from langgraph_prefetch.ingest.sources.shapes import Document, Part, Skipped, Source
from langgraph_prefetch.ingest.units import Unit, joined

T = TypeVar("T")

_ASKED_AT_FIRST, _ASKED_AT_ONCE = 64, 4_096
_RECALLED_AT_ONCE = 32_768
_HELD_DOCUMENTS, _HELD_CHARS = 4_096, 8_388_608
_PART_CHARS = _HELD_CHARS // 256  # a part may hold the bytes of its file


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


class AnyLoader(Protocol):
    """The load stage's work."""

    loaded: Loaded

    def groups(self) -> Generator[Group, None, None]:
        """Groups of documents or rows."""
        ...


class Loader:
    """Iterates over a source's groups; used by one thread at a time.

    Args:
        source: where documents come from.
        settings: how groups are cut.
        memory: what earlier runs left.
        skip: is told what was left out.
    """

    def __init__(
        self,
        source: Source,
        settings: IngestSettings,
        *,
        memory: Memory,
        skip: Callable[[Skipped], None],
    ) -> None:
        self._source, self._settings = source, settings
        self._memory, self._skip = memory, skip
        self.loaded = Loaded()
        self._grouping = Grouping(settings)

    def groups(self) -> Generator[Group, None, None]:
        """Groups of documents that are new or changed."""
        for block in self._blocks():
            self.loaded.documents += len(block.documents)
            self.loaded.chars += sum(map(len, block.documents.texts))
            yield from self._grouping.add(block)
        yield self._grouping.take()

    def _blocks(self) -> Iterator[Block]:
        """The documents of sources that are new or changed; the ledger is asked for many at once."""
        given = self._source
        if isinstance(given, DocumentSource) and isinstance(given.documents, list | tuple):
            yield from self._of_list(Gathered(given.documents, given.source_key, self._skip))
            return
        units, size = self._units(), _ASKED_AT_FIRST
        while entries := self._some(units, size):
            names = [unit.source for unit, _ in entries]
            known = self._memory.lookup(names)
            states = self._states(list(map(known.get, names)), [unit.fingerprint for unit, _ in entries])
            for (unit, documents), state in zip(entries, states, strict=True):
                unit.present = state is State.PRESENT
                if state is not State.UNCHANGED:
                    yield from self._read(unit, documents)
            size = min(size * 4, _ASKED_AT_ONCE)

    def _of_list(self, gathered: Gathered) -> Iterator[Block]:
        """Documents that are all in memory; they are hashed while the ledger is asked for all of them at once."""
        for names in chunked(gathered.sources, _RECALLED_AT_ONCE):
            asked = _aside(self._memory.recall, names)
            blocks = gathered.blocks(names, _ASKED_AT_ONCE)
            first, start = list(islice(blocks, 2)), 0
            known = asked.result()
            for block in chain(first, blocks):
                yield from self._wanted(block, known, start)
                start += len(block.sources)

    def _wanted(self, block: GatheredBlock, known: Recalled, start: int) -> Iterator[Block]:
        """What is new or changed in a block; ``start``: how many sources stand before it in what was recalled."""
        names, count = block.sources, len(block.sources)
        self.loaded.sources.update(dict.fromkeys(names))
        stored: Sequence[bytes | None]
        if isinstance(known, bytes):
            marks = known[MARK_BYTES * start : MARK_BYTES * (start + count)]
            if block.even and self._memory.all_unchanged(marks, b"".join(block.fingerprints)):
                self.loaded.unchanged += count
                return
            stored = [marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)]
        else:
            stored = list(map(known.get, names))
        states = self._states(stored, block.fingerprints)
        wanted = [place for place, state in enumerate(states) if state is not State.UNCHANGED]
        if not wanted:
            return
        alone = None if State.PRESENT in states else block.alone(wanted)
        if alone is not None:
            yield Block(alone, alone=True)
            return
        found, ends, whole = block.documents(wanted)
        units = [
            Unit(names[place], block.fingerprints[place], states[place] is State.PRESENT, whole=good)
            for place, good in zip(wanted, whole, strict=True)
        ]
        yield Block(found, units, ends)

    def _states(self, stored: Sequence[bytes | None], fingerprints: Sequence[bytes | None]) -> list[State]:
        states = self._memory.judge(stored, fingerprints)
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
            if some.sources[0] != unit.source:  # a name that was too long to be kept
                some.sources = [unit.source] * len(some)
            if told:
                told.update(some.told())
            yield Block(some, [unit], [len(some)], goes_on=True)
        if told:
            unit.fingerprint = self.loaded.sources[unit.source] = told.digest()
        yield Block(Documents(), [unit], [0])

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
                if self.loaded.see(source := source_name(part.source), part.fingerprint):
                    yield Unit(source, part.fingerprint), columns_of(part)
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

        for given, documents in groupby(kept(), key=attrgetter("source")):
            source = source_name(given)
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


def _aside(work: Callable[[list[str]], T], names: list[str]) -> Future[T]:
    """Work on a thread of its own, a daemon: a server that hangs does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work(names))
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(error)

    if names:
        Thread(target=run, name="langgraph-prefetch-lookup", daemon=True).start()
    return future


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
