"""How an ingestion is cut and bounded."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from langgraph_prefetch.errors import ConfigurationError

Cleanup = Literal["incremental", "full", "scoped_full"]
"""What of earlier runs is deleted, as in LangChain's ``index``; see ``ingest``."""

CLEANUPS: tuple[Cleanup | None, ...] = (None, "incremental", "full", "scoped_full")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSettings:
    """Sizes and limits of a run. Ids and rows never depend on them; equal settings cut equal batches.

    Attributes:
        batch_rows: most passages in one batch, which is written in one transaction.
        batch_chars: a batch is cut from so many characters of documents at most, unless a single one has more.
        writers: connections that write at once; None: chosen by what writing turns out to cost.
        max_writers: most that may be chosen.
        splitters: threads that split at once.
        request_items: passages per request of the embedder; None: chosen by what requests turn out to cost.
        max_request_items: most that may be chosen; what the embedder's endpoint takes.
        in_flight: requests of the embedder at once; None: chosen likewise.
        max_in_flight: most that may be chosen.
        request_seconds: a request that takes longer has failed.
        attempts: how often a request is tried before its passages are skipped.
        retry_seconds: longest wait before the second attempt; it doubles with each.
        failures_in_a_row: after so many failed requests without one that succeeded the run stops.
        queued_batches: batches that may wait between two stages; before the splitter it is one.
        queued_bytes: bytes that may wait between two stages; a single larger batch waits alone.
        max_skipped: how many of the skipped are listed; all are counted.

    Raises:
        ConfigurationError: a number is not positive.
    """

    batch_rows: int = 2_048
    batch_chars: int = 2_097_152
    writers: int | None = None
    max_writers: int = 4
    splitters: int = 1
    request_items: int | None = None
    max_request_items: int = 2_048
    in_flight: int | None = None
    max_in_flight: int = 16
    request_seconds: float = 60.0
    attempts: int = 3
    retry_seconds: float = 0.5
    failures_in_a_row: int = 4
    queued_batches: int = 4
    queued_bytes: int = 67_108_864
    max_skipped: int = 100

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and (isinstance(value, bool) or not value > 0):
                raise ConfigurationError(f"{each.name} must be above 0, not {value!r}")


def check_cleanup(cleanup: object) -> None:
    """The mode is one of LangChain's.

    Raises:
        ConfigurationError: it is not.
    """
    if cleanup not in CLEANUPS:
        raise ConfigurationError(f"cleanup is None, 'incremental', 'full' or 'scoped_full', not {cleanup!r}")
