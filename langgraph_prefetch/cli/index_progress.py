"""How far an ingestion is, on standard error: a bar for each stage on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph_prefetch.ingest import IngestProgress

STAGES = ("load", "split", "embed", "upsert")
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def told(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[IngestProgress], None]]:
    """Yield what to tell of each step of an ingestion."""
    if sys.stderr.isatty():
        try:
            with _bars() as tell:
                yield tell
                return
        except ImportError:  # without rich, lines
            pass
    yield _Lines(clock)


class _Lines:
    """A line every few seconds, so that a log is not flooded; a short run prints none."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()

    def __call__(self, progress: IngestProgress) -> None:
        now = self._clock()
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(line(progress), file=sys.stderr, flush=True)


def line(progress: IngestProgress) -> str:
    """All of it in one line."""
    queues = ", ".join(f"{name} {depth}" for name, depth in _depths(progress).items())
    return (
        f"{progress.seconds:.0f} s: {progress.documents:,} documents, {progress.passages:,} passages, "
        f"{progress.embedded:,} embedded, {progress.written:,} written, {progress.skipped:,} skipped; "
        f"waiting: {queues or 'nothing'}"
    )


@contextmanager
def _bars() -> Iterator[Callable[[IngestProgress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:7}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:>10,} {task.fields[unit]:9}"),
        TextColumn("{task.fields[worked]:>8} {task.fields[waiting]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {
            stage: bars.add_task(
                stage, total=None, unit="documents" if stage == "load" else "passages", worked="", waiting=""
            )
            for stage in STAGES
        }

        def tell(progress: IngestProgress) -> None:
            depths = _depths(progress)
            for stage, (completed, total) in _amounts(progress).items():
                bars.update(
                    tasks[stage],
                    completed=completed,
                    total=total,
                    worked=f"{progress.stage_seconds.get(stage, 0.0):.1f} s",
                    waiting=f"waiting {depths[stage]}" if stage in depths else "",
                )

        yield tell


def _amounts(progress: IngestProgress) -> Mapping[str, tuple[int, int | None]]:
    """What each stage has done, and of how much as far as that is known."""
    known = None if not progress.done else progress.documents
    return {
        "load": (progress.documents, known),
        "split": (progress.passages, progress.passages if progress.done else None),
        "embed": (progress.embedded, progress.passages or None),
        "upsert": (progress.written, progress.passages or None),
    }


def _depths(progress: IngestProgress) -> Mapping[str, str]:
    """What waits before each stage, and how much may; the queues of several writers taken together."""
    waiting: dict[str, tuple[int, int]] = {}
    for name, depth in progress.queues.items():
        stage = name.partition(" ")[0]
        items, most = waiting.get(stage, (0, 0))
        waiting[stage] = items + depth.items, most + depth.max_items
    return {stage: f"{items}/{most}" for stage, (items, most) in waiting.items()}
