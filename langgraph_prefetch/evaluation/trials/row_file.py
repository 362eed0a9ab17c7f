"""Rows of runs on disk: a line of JSON each, safe once written, read back after whatever ended the writing."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError
from langgraph_prefetch.evaluation.rows import RunRow, SearchRow
from langgraph_prefetch.evaluation.trials.plan import Key
from langgraph_prefetch.evaluation.trials.questions import read_objects

_RUN = {each.name for each in dataclasses.fields(RunRow)}
_SEARCH = {each.name for each in dataclasses.fields(SearchRow)}


def key_of(row: RunRow) -> Key:
    """What tells the row's run from every other of its evaluation."""
    return (row.arm, row.question_id, row.batch, row.repeat, row.warm)


class RowFile:
    """The rows of one evaluation.

    A last line that was torn, as by ``kill -9``, is cut off when the file is opened, and its run is made again. Of two
    rows of one run the later counts.

    Args:
        path: the file; made where there is none.

    Raises:
        EvaluationFileError: it holds something else than rows, or cannot be read.
        ConfigurationError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists():
            _cut_torn_line(path)
        self._rows = {key_of(row): row for row in (read_rows(path) if path.exists() else ())}

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """All of them, in the order of their places."""
        return tuple(sorted(self._rows.values(), key=lambda row: row.place))

    def has(self, key: Key) -> bool:
        """Whether the run has been made, with an answer."""
        row = self._rows.get(key)
        return row is not None and row.error is None

    def add(self, row: RunRow) -> None:
        """Write a row; on return it is on disk.

        Raises:
            ConfigurationError: it cannot be written.
            ValueError: a number of the row is not finite.
        """
        line = json.dumps(dataclasses.asdict(row), ensure_ascii=False, allow_nan=False) + "\n"
        try:
            with open(self.path, "a", encoding="utf-8", newline="\n") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ConfigurationError(f"cannot write {self.path}: {error.strerror or type(error).__name__}") from error
        self._rows[key_of(row)] = row


def read_rows(path: Path) -> Iterable[RunRow]:
    """The rows of a file, one after another.

    Raises:
        EvaluationFileError: it cannot be read, or a line is no row.
    """
    for number, found in read_objects(path):
        try:
            yield _row(found)
        except (TypeError, ValueError, AttributeError) as error:
            raise EvaluationFileError(str(path), f"line {number} is no row of a run: {error}") from error


def _row(found: Mapping[str, Any]) -> RunRow:
    known = {name: value for name, value in found.items() if name in _RUN}
    return RunRow(**{**known, "searches": tuple(_search(each) for each in known.get("searches", ()))})


def _search(found: Mapping[str, Any]) -> SearchRow:
    known = {name: value for name, value in found.items() if name in _SEARCH}
    return SearchRow(**{**known, "passages": tuple(known.get("passages", ()))})


def _cut_torn_line(path: Path) -> None:
    try:
        with open(path, "r+b") as file:
            whole = file.read()
            kept = whole.rfind(b"\n") + 1
            if kept < len(whole):
                file.truncate(kept)
    except OSError as error:
        raise EvaluationFileError(str(path), error.strerror or type(error).__name__) from error
