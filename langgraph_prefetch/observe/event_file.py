"""Reads files of events, with care: they come from other releases, and from disks that were full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from langgraph_prefetch.errors import EventFileError
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.event_lines import NewerVersionError, UnknownKindError, of_line

MAX_LINE_BYTES = 2**20
MAX_NAMED = 20


class EventFile(Iterator[Event]):
    """The events of a file, read as they are asked for.

    Attributes:
        malformed: the first lines that hold no event, as ``file:line: reason``.
        skipped: how many lines hold no event.
        unknown: how many events of types that this release does not know, by type.
    """

    def __init__(self, path: str | Path) -> None:
        self.file = str(path)
        self.malformed: list[str] = []
        self.skipped = 0
        self.unknown: Counter[str] = Counter()
        self._events = self._read()

    def __iter__(self) -> EventFile:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def _read(self) -> Iterator[Event]:
        try:
            with open(self.file, "rb") as lines:
                number = 0
                while line := lines.readline(MAX_LINE_BYTES + 1):
                    number += 1
                    if len(line) > MAX_LINE_BYTES:
                        self._skip(number, f"longer than {MAX_LINE_BYTES:,} bytes")
                        while line and not line.endswith(b"\n"):
                            line = lines.readline(MAX_LINE_BYTES)
                    elif line.strip() and (event := self._event(number, line)) is not None:
                        yield event
        except OSError as error:
            raise EventFileError(self.file, error.strerror or type(error).__name__) from error

    def _event(self, number: int, line: bytes) -> Event | None:
        try:
            return of_line(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except NewerVersionError as error:
            raise EventFileError(self.file, f"line {number}: {error}") from None
        except UnknownKindError as error:
            self.unknown[str(error)] += 1
        except UnicodeDecodeError:
            self._skip(number, "not UTF-8")
        except ValueError as error:
            self._skip(number, str(error))
        return None

    def _skip(self, number: int, reason: str) -> None:
        self.skipped += 1
        if len(self.malformed) < MAX_NAMED:
            self.malformed.append(f"{self.file}:{number}: {reason}")


def read_events(path: str | Path) -> EventFile:
    """The events that :class:`~langgraph_prefetch.observe.jsonl.JsonlSink` wrote to a file, oldest first.

    Lines that hold no event are skipped, named in ``malformed`` and counted in ``skipped``; events of types that only
    a later release knows are counted in ``unknown``.

    Raises:
        EventFileError: while reading: the file cannot be read, or was written in a format that is newer than ours.
    """
    return EventFile(path)
