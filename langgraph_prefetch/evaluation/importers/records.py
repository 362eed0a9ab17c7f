"""Records of a file: JSON, one a line, or one array, or objects one after another; or rows. Forgiving, and bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from langgraph_prefetch.errors import TraceFileError
from langgraph_prefetch.evaluation.importers.parquet import MAGIC, parquet_rows
from langgraph_prefetch.evaluation.traces import MalformedLine

MAX_RECORD_BYTES = 64 * 2**20
"""A longer line is skipped: a run's whole conversation with its passages is some megabytes at most."""
MAX_ARRAY_BYTES = 2**30
"""A file that is one JSON array is read into memory; a larger one has to be written as lines."""
MAX_NAMED = 20
_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Record:
    """One value, and the line at which it begins, or its row, counted from 1."""

    line: int
    value: Any = field(repr=False)


@dataclass(slots=True)
class Skipped:
    """Records that could not be read: the first ones with their reasons, and how many in all."""

    file: str
    named: list[MalformedLine] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, reason: str) -> None:
        """One more."""
        self.count += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(MalformedLine(file=self.file, line=line, reason=reason))


def records(path: str | Path, skipped: Skipped) -> Iterator[Record]:
    """Yield the records of a file, in order.

    Raises:
        TraceFileError: the file cannot be opened, is neither text nor Parquet, or is one array that is too large to be
            read at once.
    """
    file = str(path)
    try:
        with open(path, "rb") as opened:
            start = opened.read(4096)
            opened.seek(0)
            if start.startswith(MAGIC):
                yield from (Record(number, row) for number, row in enumerate(parquet_rows(file, opened), start=1))
                return
            _refuse_binary(file, start)
            if _is_lines(opened):
                yield from _of_lines(opened, skipped)
            else:
                yield from _of_text(file, opened, skipped)
    except OSError as error:
        raise TraceFileError(file, error.strerror or type(error).__name__) from error


def parsed(text: str | bytes) -> Any:
    """The JSON value, also where it was written as a string once more (``json.dumps(dumps(event))``).

    Raises:
        ValueError: no JSON; the message is the reason, and holds nothing of the text.
    """
    try:
        value = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
        return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.pos})") from None


def _refuse_binary(file: str, start: bytes) -> None:
    if start.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise TraceFileError(file, "a compressed file: unpack it first")
    if b"\0" in start:
        raise TraceFileError(file, "not a text file")


def _is_lines(opened: BinaryIO) -> bool:
    """Whether each line is a record; decided on the first two that are not blank."""
    seen = list(zip(range(_SEVERAL), (line for line in _lines(opened) if line.strip()), strict=False))
    opened.seek(0)
    lines = [line.removeprefix(b"\xef\xbb\xbf").strip() for _, line in seen]
    if not lines or lines[0] in (b"[", b"{"):
        return not lines
    if len(lines) == 1 and lines[0].startswith(b"["):
        return False
    return any(_parses(line) for line in lines) or len(lines) == 1


def _parses(line: bytes) -> bool:
    try:
        return isinstance(parsed(line), dict | list | str)
    except ValueError:
        return False


def _lines(opened: BinaryIO) -> Iterator[bytes]:
    """Lines; of those that are too long one byte too many, so that they show."""
    while line := opened.readline(MAX_RECORD_BYTES + 1):
        yield line
        while line and len(line) >= MAX_RECORD_BYTES and not line.endswith(b"\n"):
            line = opened.readline(MAX_RECORD_BYTES)  # the rest of a line that is too long


def _of_lines(opened: BinaryIO, skipped: Skipped) -> Iterator[Record]:
    for number, line in enumerate(_lines(opened), start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) > MAX_RECORD_BYTES:
            skipped.add(number, f"longer than {MAX_RECORD_BYTES:,} bytes")
        elif line.strip():
            try:
                yield Record(number, parsed(line))
            except ValueError as error:
                skipped.add(number, str(error))


def _of_text(file: str, opened: BinaryIO, skipped: Skipped) -> Iterator[Record]:
    """The elements of one array, or values one after another; what was cut off at the end is skipped and named."""
    content = opened.read(MAX_ARRAY_BYTES + 1)
    if len(content) > MAX_ARRAY_BYTES:
        raise TraceFileError(
            file, f"one JSON array of more than {MAX_ARRAY_BYTES:,} bytes: write its elements as lines"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TraceFileError(file, "not UTF-8 text") from None
    decoder, at, counted, line = json.JSONDecoder(), 0, 0, 1
    separators = " \t\r\n,[" if text.lstrip().startswith("[") else " \t\r\n"
    while True:
        while at < len(text) and text[at] in separators:
            # Only the outer bracket is passed over: an element that is a list begins behind a comma or a bracket.
            if text[at] == "[":
                separators = separators.replace("[", "")
            at += 1
        line += text.count("\n", counted, at)
        counted = at
        if at >= len(text) or (text[at] == "]" and not text[at + 1 :].strip()):
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply")
            skipped.add(line, f"not JSON ({reason}); what follows was not read")
            return
        yield Record(line, value)
