"""The passages that recorded searches are run against: JSON lines of ``{"title", "text"}``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from langgraph_prefetch.errors import TraceFileError


def read_corpus(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """What the passages of all files say, title first, each once: a store holds equal passages as one.

    Raises:
        TraceFileError: a file that cannot be opened, a line that is no passage, or no passage at all.
    """
    passages: dict[str, None] = {}
    file = ""
    for path in paths:
        file = str(path)
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise TraceFileError(file, getattr(error, "strerror", None) or "not UTF-8 text") from error
        for number, line in enumerate(lines, start=1):
            if line.strip():
                passages[_passage(line, file, number)] = None
    if not passages:
        raise TraceFileError(file, "no passage in it")
    return tuple(passages)


def _passage(line: str, file: str, number: int) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TraceFileError(file, f"line {number}: not JSON") from error
    text = record.get("text") if isinstance(record, dict) else None
    title = record.get("title") or "" if isinstance(record, dict) else ""
    if not isinstance(text, str) or not isinstance(title, str):
        raise TraceFileError(file, f'line {number}: a passage is an object with "text", and "title" where it has one')
    return f"{title}\n{text}" if title else text
