"""The load stage for what is split already: Arrow record batches, passed on as they are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.ingest.grouping import Group
from langgraph_prefetch.ingest.loading import Loaded
from langgraph_prefetch.ingest.memory import Memory, State
from langgraph_prefetch.ingest.rows import check_pieces, keyed, parts_of, runs, strings
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.units import Unit

try:
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


def as_batches(given: object) -> Iterable[pa.RecordBatch] | None:
    """A record batch, a table, a reader or a list of batches as batches; None for anything else."""
    if isinstance(given, pa.RecordBatch):
        return [given]
    if isinstance(given, pa.Table):
        return given.to_batches()
    if isinstance(given, pa.RecordBatchReader):
        return given
    if isinstance(given, list | tuple) and given and isinstance(given[0], pa.RecordBatch):
        return given
    return None


class TabularLoader:
    """Iterates over groups of rows; used by one thread at a time.

    A batch has the columns ``source``, ``text`` and ``metadata`` (strings, the last one JSON objects) and may have an
    ``id`` (string). The rows of a source come one after the other, in as many batches as they like.
    """

    def __init__(
        self,
        batches: Iterable[pa.RecordBatch],
        settings: IngestSettings,
        *,
        memory: Memory,
        embedder: bytes,
    ) -> None:
        self._batches, self._settings, self._embedder = batches, settings, embedder
        self._memory = memory
        self.loaded = Loaded()
        self._going_on: tuple[Unit, Any] | None = None

    def groups(self) -> Generator[Group, None, None]:
        """Groups of rows whose sources are new or changed."""
        most = self._settings.batch_rows
        parts = (self._rows(part) for batch in self._batches for part in parts_of(batch, most))
        for rows, following in _with_next(parts):
            self.loaded.documents += rows.num_rows
            self.loaded.chars += rows.column("text").nbytes
            yield from self._group(rows, self._units(rows, following))

    def _rows(self, given: pa.RecordBatch) -> pa.RecordBatch:
        check_pieces(given)
        rows = keyed(given, self._embedder)
        if "id" in given.schema.names:
            ids = given.column("id")
            if ids.type != pa.string() or ids.null_count:
                raise ConfigurationError(f"column 'id' must be string without nulls, not {ids.type}")
            rows = rows.set_column(0, rows.schema.field("id"), ids)
        return rows

    def _units(self, rows: pa.RecordBatch, following: pa.RecordBatch | None) -> list[_Run]:
        """The sources of some rows; one that goes on in the next rows, or came before, cannot be told unchanged."""
        next_source = following.column("source")[0].as_py() if following is not None else None
        found = []
        for source, start, end in runs(rows):
            mark = _mark(rows.slice(start, end - start))
            going_on = self._going_on if self._going_on and self._going_on[0].source == source else None
            goes_on = end == rows.num_rows and source == next_source
            if going_on is None and not goes_on:
                if self.loaded.see(source, mark):
                    found.append(_Run(Unit(source, mark), start, end, ended=True))
                continue
            if going_on is None:
                self.loaded.see(source, None)
                going_on = Unit(source), blake2b(digest_size=16)
            unit, told = going_on
            told.update(mark)
            self._going_on = going_on if goes_on else None
            if not goes_on:
                unit.fingerprint = self.loaded.sources[source] = told.digest()
            found.append(_Run(unit, start, end, ended=not goes_on))
        return self._changed(found)

    def _changed(self, found: list[_Run]) -> list[_Run]:
        whole = [each for each in found if each.ended and not each.unit.groups]
        if not whole:
            return found
        names = [each.unit.source for each in whole]
        known = self._memory.lookup(names)
        states = self._memory.judge(list(map(known.get, names)), [each.unit.fingerprint for each in whole])
        self.loaded.unchanged += states.count(State.UNCHANGED)
        gone = set()
        for each, state in zip(whole, states, strict=True):
            each.unit.present = state is State.PRESENT
            if state is State.UNCHANGED:
                gone.add(each.unit)
        return [each for each in found if each.unit not in gone]

    def _group(self, rows: pa.RecordBatch, found: list[_Run]) -> Iterator[Group]:
        if not found:
            return
        wanted = np.zeros(rows.num_rows, dtype=np.bool_)
        for each in found:
            wanted[each.start : each.end] = True
        part = rows if wanted.all() else rows.filter(pa.array(wanted))
        group = Group(rows=part, chars=part.column("text").nbytes)
        for each in found:
            group.add(each.unit)
        group.ended.extend(each.unit for each in found if each.ended)
        yield group


@dataclass(frozen=True, slots=True)
class _Run:
    unit: Unit
    start: int
    end: int
    ended: bool


def _mark(rows: pa.RecordBatch) -> bytes:
    told = blake2b("\n".join(strings(rows, "id")).encode(), digest_size=16)
    for each in rows.column("content_hash").to_pylist():
        told.update(each or b"")
    return told.digest()


def _with_next(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch | None]]:
    """Each batch that has rows, with the one after it."""
    held: pa.RecordBatch | None = None
    for batch in batches:
        if batch.num_rows:
            if held is not None:
                yield held, batch
            held = batch
    if held is not None:
        yield held, None
