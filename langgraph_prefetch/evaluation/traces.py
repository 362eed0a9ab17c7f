"""Recorded episodes: one JSON object a line, read with care, since recordings come from many hands.

An episode is ``{"style", "question", "steps": [{"thought", "action", "query", "observation"}, …]}``; further names are
ignored.
``style`` is ``react_text``, ``think_tags`` or ``tool_calls``; ``query`` is a string, or the arguments of a structured
tool as an object or a list. ``question`` may be missing, and so may a step's ``query`` and ``observation``. ``model``
and ``language`` say who wrote the thoughts, in which language (such as ``ko``); they may be missing, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from langgraph_prefetch.errors import TraceFileError

Style = Literal["react_text", "think_tags", "tool_calls"]
STYLES: tuple[Style, ...] = get_args(Style)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One message of the model: all it said before it acted, the tool it asked for, and the tool's argument.

    ``observation`` is what the tool returned, as the model read it; None if that was not recorded.
    """

    thought: str
    action: str
    query: str | Mapping[str, Any] | list[Any] = field(hash=False)
    observation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One recorded agent run. ``model`` and ``language`` are empty where the recording does not say."""

    style: Style
    question: str
    steps: tuple[RecordedStep, ...]
    model: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedLine:
    """A line that holds no episode. ``line`` counts from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A file of episodes, and the lines of it that were skipped."""

    file: str
    episodes: tuple[Episode, ...]
    malformed: tuple[MalformedLine, ...]


def read_recording(path: str | Path) -> Recording:
    """Read a file of episodes. Blank lines are no lines; a malformed one is skipped and named.

    Raises:
        TraceFileError: the file cannot be opened, is not text, or holds no episode at all.
    """
    file = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise TraceFileError(file, error.strerror or type(error).__name__) from error
    if b"\0" in content:
        raise TraceFileError(file, "not a text file")
    episodes: list[Episode] = []
    malformed: list[MalformedLine] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            episodes.append(_episode(line))
        except _MalformedError as error:
            malformed.append(MalformedLine(file=file, line=number, reason=str(error)))
    if not episodes:
        first = f"; line {malformed[0].line}: {malformed[0].reason}" if malformed else ""
        raise TraceFileError(file, f"no episode in it{first}")
    return Recording(file=file, episodes=tuple(episodes), malformed=tuple(malformed))


class _MalformedError(Exception):
    """What is wrong with a line, in words."""


def _episode(line: bytes) -> Episode:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _MalformedError("not UTF-8 text") from error
    except RecursionError as error:
        raise _MalformedError("nested too deeply") from error
    except ValueError as error:
        raise _MalformedError(f"not JSON ({error})") from error
    if not isinstance(record, dict):
        raise _MalformedError(f"an episode is a JSON object, not {_kind(record)}")
    style = _text(record, "style", "")
    if style not in STYLES:
        raise _MalformedError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    steps = record.get("steps")
    if not isinstance(steps, list) or not steps:
        raise _MalformedError("steps must be a list with at least one step")
    return Episode(
        style=style,
        question=_text(record, "question", "", required=False),
        steps=tuple(_step(step, f"step {number}: ") for number, step in enumerate(steps, start=1)),
        model=_label(record, "model"),
        language=_label(record, "language"),
    )


def _step(record: object, where: str) -> RecordedStep:
    if not isinstance(record, dict):
        raise _MalformedError(f"{where}a step is a JSON object, not {_kind(record)}")
    query = record.get("query")
    if not isinstance(query, str | dict | list | None):
        raise _MalformedError(f"{where}query must be a string, an object or a list, not {_kind(query)}")
    return RecordedStep(
        thought=_text(record, "thought", where),
        action=_text(record, "action", where),
        query="" if query is None else query,
        observation=_observation(record.get("observation")),
    )


def _label(record: Mapping[str, Any], name: str) -> str:
    """A name that nothing but reports depend on: one of another kind is as good as none."""
    value = record.get(name)
    return value.strip() if isinstance(value, str) else ""


def _observation(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(record: Mapping[str, Any], name: str, where: str, *, required: bool = True) -> str:
    value = record.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise _MalformedError(f"{where}{name} must be a string, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
