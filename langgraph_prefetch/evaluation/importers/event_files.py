"""Files that JsonlSink wrote while prefetch was on. They hold what it did, and no text that could be replayed."""

from __future__ import annotations

from typing import Any

from langgraph_prefetch.errors import EventFileError, TraceFileError
from langgraph_prefetch.evaluation.importers.reader import Reader, Source
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.events import (
    Event,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
    StepEnded,
    StepStarted,
)
from langgraph_prefetch.observe.event_file import read_events

_KEPT = (RunStarted, RunEnded, StepStarted, StepEnded, SearchCallAnswered, SpeculationStarted, SpeculationEnded)


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and "v" in record and isinstance(record.get("event"), str)


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    file = read_events(source.path)
    try:
        events = tuple(each for each in file if isinstance(each, _KEPT))
    except EventFileError as error:
        raise TraceFileError(error.path, error.reason) from error
    for each in file.malformed:
        line, _, reason = each.removeprefix(f"{file.file}:").partition(": ")
        source.skipped.add(int(line), reason)
    source.skipped.count = file.skipped
    return (), events


EVENTS = Reader(
    name="events",
    looks_like='lines that JsonlSink wrote: {"v", "event": "SearchCallAnswered", …}',
    recognises=_recognises,
    read=_read,
)
