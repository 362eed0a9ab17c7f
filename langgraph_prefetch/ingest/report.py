"""What an ingestion did, while it runs and at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from langgraph_prefetch.ingest.costs import CostModel
from langgraph_prefetch.ingest.plan.trace import OperatorTrace
from langgraph_prefetch.ingest.queues import QueueDepth
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.shapes import Skipped
from langgraph_prefetch.passages import Written


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """How far an ingestion is.

    Attributes:
        seconds: since it began.
        documents: read that are new or changed.
        unchanged: sources that were passed over, being as an earlier run left them.
        passages: split off.
        embedded: passages that have a vector.
        written: passages that are in the store.
        skipped: documents and passages that were left out.
        requests: requests of the embedder under way.
        queues: how full the queue before each stage is.
        stage_seconds: time that each stage has worked; those of several workers add up.
        done: the run has ended.
    """

    seconds: float
    documents: int
    unchanged: int
    passages: int
    embedded: int
    written: int
    skipped: int
    requests: int
    queues: Mapping[str, QueueDepth]
    stage_seconds: Mapping[str, float]
    done: bool = False


Progress = Callable[[IngestProgress], None]
"""Told how far a run is, on the run's event loop: after each batch, and at the end. It must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingestion did.

    Attributes:
        seconds: it took.
        documents: read that were new or changed.
        unchanged: sources that were passed over, being as an earlier run left them.
        passages: split off the documents, duplicates among them.
        duplicates: passages that were merged with an equal one of the same source.
        embedded: passages that got a vector.
        requests: requests of the embedder that succeeded.
        written: rows added, updated and found unchanged in the store.
        deleted: older rows that were deleted.
        skipped: what was left out and why, the first of them.
        skipped_count: how many were left out in all.
        stage_seconds: time that each stage worked; those of several workers add up.
        queues: how full the queue before each stage has been.
        costs: the cost model, fitted to this run.
        settings: as they were used, with what was chosen; handed in again, they cut the same batches and requests.
        trace: what each operator did, if it was asked for.
    """

    seconds: float
    documents: int
    unchanged: int
    passages: int
    duplicates: int
    embedded: int
    requests: int
    written: Written
    deleted: int
    skipped: tuple[Skipped, ...]
    skipped_count: int
    stage_seconds: Mapping[str, float]
    queues: Mapping[str, QueueDepth]
    costs: CostModel
    settings: IngestSettings
    trace: OperatorTrace | None = None

    @property
    def passages_per_second(self) -> float:
        """How fast it was."""
        return self.passages / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        rows = self.written
        lines = [
            f"{self.passages:,} passages of {self.documents:,} documents in {self.seconds:.2f} s "
            f"({self.passages_per_second:,.0f} a second); {self.unchanged:,} sources unchanged",
            f"rows: {rows.added:,} added, {rows.updated:,} updated, {rows.unchanged:,} there already, "
            f"{self.deleted:,} deleted; {self.duplicates:,} duplicates merged",
            "stages: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.stage_seconds.items()),
            str(self.costs),
        ]
        if self.skipped_count:
            lines.append(f"skipped: {self.skipped_count:,}")
            lines += [f"  {each}" for each in self.skipped]
            if self.skipped_count > len(self.skipped):
                lines.append(f"  and {self.skipped_count - len(self.skipped):,} more")
        return "\n".join(lines)


class SkipList:
    """What was left out: the first of them by name, all of them as a number. Told from several threads."""

    def __init__(self, most: int) -> None:
        self._listed: deque[Skipped] = deque()
        self._most, self._lock = most, Lock()
        self.count = 0

    def add(self, skipped: Skipped) -> None:
        """One more."""
        with self._lock:
            self.count += 1
            if len(self._listed) < self._most:
                self._listed.append(skipped)

    @property
    def listed(self) -> tuple[Skipped, ...]:
        """The first of them."""
        return tuple(self._listed)
