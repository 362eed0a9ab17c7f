"""What is remembered between runs: in the store's own ledger, or in a LangChain ``RecordManager``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, Any, Protocol, TypeVar, runtime_checkable

from langchain_core.indexing import RecordManager

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.memory import Memory, NoMemory, Recalled, State
from langgraph_prefetch.ingest.recalled import recalled
from langgraph_prefetch.ingest.settings import Cleanup
from langgraph_prefetch.ingest.units import Marks
from langgraph_prefetch.passages import SourceDone, SourcesDone
from langgraph_prefetch.ports import PassageStore

T = TypeVar("T")

_AT_ONCE = 1_000
_UNKNOWN = bytes(16)


class Keeper(Memory, Protocol):
    """Remembers what has been ingested, and deletes what is to go.

    Its methods block. Those of a ``Memory`` are called by one thread at a time, all others on another.
    """

    by_row: bool
    """It remembers rows, so that it is asked and told of them."""

    def absent(self, ids: Sequence[str]) -> Sequence[bool] | None:
        """Which of these rows must be written; None for all of them."""
        ...

    def wrote(self, ids: Sequence[str], sources: Sequence[str]) -> None:
        """These rows are in the store now, or were already."""
        ...

    def finish(self, done: SourcesDone) -> int:
        """All rows of these sources are in the store; returns how many old ones were deleted.

        Args:
            done: with the fingerprints of the documents.
        """
        ...

    def end(self, sources: Collection[str], failed: Collection[str]) -> int:
        """The run has come to its end without an error; returns how many old rows were deleted.

        Args:
            sources: all that were seen.
            failed: those of which something was skipped; they keep what they had.
        """
        ...

    def close(self) -> None:
        """Forget what was held for the end."""
        ...


class LedgerKeeper:
    """Remembers in the store's ledger, by source.

    With ``full`` and ``scoped_full`` nothing is deleted before the end; until then, what is to be kept of each source
    waits in a temporary file, so that memory stays bounded.
    """

    by_row = False

    def __init__(self, store: PassageStore, marks: Marks, cleanup: Cleanup | None, *, force: bool) -> None:
        self._asked, self._ledger = store.ledger(), store.ledger()  # one for each of the two threads
        self._marks, self._cleanup, self._force = marks, cleanup, force
        self._later: IO[str] | None = None

    def lookup(self, sources: Collection[str]) -> Mapping[str, bytes]:
        """The marks of some sources."""
        return {} if self._force else self._asked.fingerprints(sources)

    def judge(self, stored: Sequence[bytes | None], fingerprints: Sequence[bytes | None]) -> list[State]:
        """A source that may have older rows is gone through again if those are to be deleted."""
        known = [mark or _UNKNOWN for mark in fingerprints]
        clean = self._marks.clean(known)
        if stored == clean:  # as nearly always where a corpus is the same again
            states = [State.UNCHANGED] * len(clean)
        else:
            present = State.PRESENT if self._cleanup else State.UNCHANGED
            states = [
                State.UNCHANGED if old == new else present if old == other else State.WANTED
                for old, new, other in zip(stored, clean, self._marks.unpruned(known), strict=True)
            ]
        for place, mark in enumerate(fingerprints if None in fingerprints else ()):
            if mark is None:
                states[place] = State.WANTED
        return states

    def recall(self, sources: Sequence[str]) -> Recalled:
        """The marks of very many sources."""
        return {} if self._force else recalled(self._asked, sources)

    def all_unchanged(self, stored: bytes, fingerprints: bytes) -> bool:
        """As nearly always where a corpus is the same again."""
        return stored == self._marks.clean_joined(fingerprints)

    def absent(self, ids: Sequence[str]) -> None:
        """Sources are remembered, not rows."""

    def wrote(self, ids: Sequence[str], sources: Sequence[str]) -> None:
        """Likewise."""

    def finish(self, done: SourcesDone) -> int:
        """Remember them, and delete their older rows if they may go now."""
        now = self._cleanup == "incremental"
        if self._cleanup and not now:
            self._keep_for_later(done)
        mark = self._marks.clean if now else self._marks.unpruned
        marked = SourcesDone(done.sources, mark(done.fingerprints), done.counts, done.ids)
        return self._ledger.finish(marked, prune=now)

    def end(self, sources: Collection[str], failed: Collection[str]) -> int:
        """Delete what was left for the end."""
        deleted = self._ledger.finish((), prune=False) if failed else 0  # so that their other rows are on disk as well
        if self._later is not None:
            self._later.seek(0)
            for some in chunks(self._kept(self._later), _AT_ONCE):
                deleted += self._ledger.finish(some, prune=True)
        return deleted + (self._ledger.keep_only(sources) if self._cleanup == "full" else 0)

    def _keep_for_later(self, done: SourcesDone) -> None:
        if self._later is None:
            self._later = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by close()
        for place, mark in enumerate(self._marks.clean(done.fingerprints)):
            self._later.write(json.dumps([done.sources[place], mark.hex(), list(done.ids_of(place))]) + "\n")

    def _kept(self, file: IO[str]) -> Iterator[SourceDone]:
        for line in file:
            source, mark, ids = json.loads(line)
            yield SourceDone(source=source, fingerprint=bytes.fromhex(mark), ids=tuple(ids))

    def close(self) -> None:
        """The temporary file goes."""
        if self._later is not None:
            self._later.close()


@runtime_checkable
class DeletesRows(Protocol):
    """A store that can delete by id, as LangChain's vector stores can; needed with a ``RecordManager``."""

    def delete(self, ids: Any) -> Any:
        """Delete rows; False if that failed."""
        ...


class RecordKeeper(NoMemory):
    """Remembers in a LangChain ``RecordManager``, by row, with the meaning that ``langchain_core.indexing`` gives it.

    Raises:
        ConfigurationError: rows are to be deleted, and the store cannot.
    """

    by_row = True

    def __init__(self, records: RecordManager, store: PassageStore, cleanup: Cleanup | None, *, force: bool) -> None:
        if cleanup and not isinstance(store, DeletesRows):
            raise ConfigurationError("cleanup with a RecordManager needs a store with delete(ids)")
        self._records, self._store, self._cleanup, self._force = records, store, cleanup, force
        self._ledger = store.ledger()
        self._began = records.get_time()

    def absent(self, ids: Sequence[str]) -> Sequence[bool] | None:
        """The rows that have no record."""
        return None if self._force else [not each for each in self._records.exists(ids)]

    def wrote(self, ids: Sequence[str], sources: Sequence[str]) -> None:
        """Record them, or that they were seen again."""
        if ids:
            self._ledger.finish((), prune=False)  # a record must not outlive its row
            self._records.update(ids, group_ids=sources, time_at_least=self._began)

    def finish(self, done: SourcesDone) -> int:
        """Delete what these sources no longer have."""
        return self._delete(done.sources) if self._cleanup == "incremental" and done else 0

    def end(self, sources: Collection[str], failed: Collection[str]) -> int:
        """Delete what no source has any more; with ``scoped_full``, no source that was seen.

        Where something was skipped, ``full`` does as ``scoped_full``: what is gone cannot be told from what failed.
        """
        if self._cleanup == "full" and not failed:
            return self._delete(None)
        if self._cleanup in ("full", "scoped_full"):
            return sum(self._delete(some) for some in chunks(iter(set(sources) - set(failed)), _AT_ONCE))
        return 0

    def _delete(self, sources: Sequence[str] | None) -> int:
        deleted = 0
        while ids := self._records.list_keys(group_ids=sources, before=self._began, limit=_AT_ONCE):
            assert isinstance(self._store, DeletesRows)
            self._store.delete(list(ids))
            self._records.delete_keys(ids)
            deleted += len(ids)
        return deleted

    def close(self) -> None:
        """Nothing is held."""


def chunks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` items."""
    some: list[T] = []
    for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
