"""Reads a trace in whatever format it is."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from langgraph_prefetch.errors import ConfigurationError, TraceFileError, did_you_mean
from langgraph_prefetch.evaluation.importers.episodes import EPISODES
from langgraph_prefetch.evaluation.importers.event_files import EVENTS
from langgraph_prefetch.evaluation.importers.langsmith import LANGSMITH
from langgraph_prefetch.evaluation.importers.message_lists import MESSAGES
from langgraph_prefetch.evaluation.importers.reader import Reader, Source
from langgraph_prefetch.evaluation.importers.records import Skipped
from langgraph_prefetch.evaluation.importers.stream_chunks import STREAM_CHUNKS
from langgraph_prefetch.evaluation.importers.stream_events import STREAM_EVENTS
from langgraph_prefetch.evaluation.importers.values import Format, Trace

READERS: Mapping[str, Reader] = {
    each.name: each for each in (EPISODES, EVENTS, LANGSMITH, STREAM_EVENTS, STREAM_CHUNKS, MESSAGES)
}
"""The strictest first: the first one that knows a record reads the file."""
FORMATS: tuple[Format, ...] = get_args(Format)
_LOOKED_AT = 50


def read_trace(path: str | Path, form: str | None = None) -> Trace:
    """Read a trace. What is malformed in it is skipped and named.

    Args:
        path: a file.
        form: one of :data:`FORMATS`; None finds it out by the contents.

    Raises:
        ConfigurationError: there is no such format.
        TraceFileError: the file cannot be read, is in none of the formats, or holds no run.
    """
    if form is not None and form not in READERS:
        raise ConfigurationError(f"no format {form!r}; there are {', '.join(READERS)}.{did_you_mean(form, READERS)}")
    file = str(path)
    reader = READERS[form] if form is not None else _detected(file)
    skipped = Skipped(file)
    runs, events = reader.read(Source(file, skipped))
    if not runs and not events:
        first = f"; line {skipped.named[0].line}: {skipped.named[0].reason}" if skipped.named else ""
        raise TraceFileError(file, f"no message of a model in it, read as {reader.name}{first}")
    return Trace(
        file=file,
        format=reader.name,
        runs=runs,
        events=events,
        skipped=tuple(skipped.named),
        skipped_count=skipped.count,
    )


def _detected(file: str) -> Reader:
    skipped = Skipped(file)
    first = list(itertools.islice(Source(file, skipped).records(), _LOOKED_AT))
    for record in first:
        for reader in READERS.values():
            if reader.recognises(record.value):
                return reader
    if not first:
        reason = f"; line {skipped.named[0].line}: {skipped.named[0].reason}" if skipped.named else ""
        raise TraceFileError(file, f"nothing in it{reason}")
    tried = "".join(f"\n  {each.name}: {each.looks_like}" for each in READERS.values())
    raise TraceFileError(file, f"none of the known formats; its records were compared with:{tried}")
