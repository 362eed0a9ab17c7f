"""A passage store in memory, for tests of what writes to one: the rules of the real one, and nothing to search with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, RefusedPassagesError
from langgraph_prefetch.passages import ListedSources, Metric, RefusedRow, SourceDone, Written

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


class MemoryPassages:
    """Rows by id and fingerprints by source; a ``PassageStore``, its writers and its ledger. Safe to use from threads.

    Args:
        dimensions: the length of its vectors.
        metric: what "nearest" would mean.
        before_write: called with each batch before it is written, to wait or to raise.

    Attributes:
        rows: each row as a dictionary of its columns, by id.
        batches: what was written, in that order.
        remembered: the fingerprints, by source.
        open_writers: how many are in use.
    """

    def __init__(
        self,
        *,
        dimensions: int,
        metric: Metric = "cosine",
        before_write: Callable[[pa.RecordBatch], object] | None = None,
    ) -> None:
        self.dimensions, self.metric = dimensions, metric
        self.rows: dict[str, dict[str, Any]] = {}
        self.batches: list[pa.RecordBatch] = []
        self.remembered: dict[str, bytes] = {}
        self.open_writers = 0
        self._before_write, self._lock = before_write, Lock()

    @contextmanager
    def writer(self) -> Iterator[MemoryPassages]:
        """Itself, as a writer."""
        with self._lock:
            self.open_writers += 1
        try:
            yield self
        finally:
            with self._lock:
                self.open_writers -= 1

    def ledger(self) -> MemoryPassages:
        """Itself, as a ledger."""
        return self

    def sift(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, tuple[RefusedRow, ...]]:
        """Rows whose text or metadata holds a NUL are refused, as PostgreSQL does."""
        refused = tuple(
            RefusedRow(row=number, id=row["id"], reason="holds a NUL")
            for number, row in enumerate(batch.select(["id", "text", "metadata"]).to_pylist())
            if "\0" in row["text"] or "\\u0000" in row["metadata"]
        )
        if not refused:
            return batch, ()
        bad = {each.row for each in refused}
        return batch.take(pa.array([row for row in range(batch.num_rows) if row not in bad], pa.int64())), refused

    def write(self, batch: pa.RecordBatch) -> Written:
        """Insert or update rows; the fingerprints of their sources are forgotten until they are finished.

        Raises:
            RefusedPassagesError: some cannot be stored; none was written.
        """
        if refused := self.sift(batch)[1]:
            raise RefusedPassagesError({each.row: each.reason for each in refused})
        if self._before_write is not None:
            self._before_write(batch)
        written = Written()
        with self._lock:
            self.batches.append(batch)
            for row in batch.to_pylist():
                before = self.rows.get(row["id"])
                same = before is not None and before["content_hash"] == row["content_hash"]
                written += Written(added=before is None, updated=before is not None and not same, unchanged=same)
                self.rows[row["id"]] = row
                self.remembered.pop(row["source"], None)
        return written

    def fingerprints(self, sources: Collection[str] | None = None) -> Mapping[str, bytes]:
        """Those of finished sources."""
        with self._lock:
            if sources is None:
                return dict(self.remembered)
            return {each: self.remembered[each] for each in sources if each in self.remembered}

    def listed(self, first: str, last: str, most: int) -> ListedSources | None:
        """Those of finished sources within a range of names."""
        with self._lock:
            found = sorted((name, mark) for name, mark in self.remembered.items() if first <= name <= last)
        if len(found) > most or any(len(mark) != 16 for _, mark in found):
            return None
        return ListedSources(
            sources="\0".join(name for name, _ in found).encode(), fingerprints=b"".join(mark for _, mark in found)
        )

    def finish(self, done: Sequence[SourceDone], *, prune: bool) -> int:
        """Remember sources, and delete those of their rows that they no longer have."""
        with self._lock:
            self.remembered |= {each.source: each.fingerprint for each in done}
            kept = {each.source: set(each.ids) for each in done}
            return self._drop(lambda row: prune and row["source"] in kept and row["id"] not in kept[row["source"]])

    def keep_only(self, sources: Collection[str]) -> int:
        """Delete all other sources."""
        kept = set(sources)
        with self._lock:
            self.remembered = {name: mark for name, mark in self.remembered.items() if name in kept}
            return self._drop(lambda row: row["source"] not in kept)

    def delete(self, ids: Collection[str]) -> bool:
        """Delete rows by id."""
        gone = set(ids)
        with self._lock:
            self._drop(lambda row: row["id"] in gone)
        return True

    def _drop(self, gone: Callable[[dict[str, Any]], bool]) -> int:
        before = len(self.rows)
        self.rows = {key: row for key, row in self.rows.items() if not gone(row)}
        return before - len(self.rows)
