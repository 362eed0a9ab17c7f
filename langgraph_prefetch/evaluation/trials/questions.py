"""Questions, and the files they stand in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError

_TEXTS = ("kind", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an agent is asked.

    Attributes:
        id: tells it from every other question of its set.
        text: as the user writes it.
        kind: its labelled type, such as ``fact``; empty if it has none.
        language: such as ``en``; empty if unknown.
        reference: the expected answer, where the data have one.
    """

    id: str
    text: str
    kind: str = ""
    language: str = ""
    reference: str | None = None


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a JSONL file: objects with ``question``; ``id``, ``kind``, ``language``, ``reference`` if known.

    A question without an id is named after its line. Other names are left to those who know them.

    Raises:
        EvaluationFileError: it cannot be read, a line holds no question, or two have one id.
        ConfigurationError: it holds none.
    """
    questions = tuple(_question(path, number, found) for number, found in read_objects(path))
    return checked(questions, str(path))


def checked(questions: Sequence[Question], where: str) -> tuple[Question, ...]:
    """The same questions, unless there are none or two have one id.

    Raises:
        EvaluationFileError, ConfigurationError: there are.
    """
    if not questions:
        raise ConfigurationError(f"{where} holds no question: an evaluation needs at least one")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise EvaluationFileError(where, f"two questions have the id {question.id!r}")
        seen.add(question.id)
    return tuple(questions)


def read_objects(path: Path) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """The JSON objects of a JSONL file with the numbers of their lines; empty lines are left out.

    Raises:
        EvaluationFileError: it cannot be read, or a line holds no object.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise EvaluationFileError(str(path), error.strerror or type(error).__name__) from error
    except UnicodeDecodeError as error:
        raise EvaluationFileError(str(path), "not UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _object(path, number, line)


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EvaluationFileError(str(path), f"line {number} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise EvaluationFileError(str(path), f"line {number} is not an object")
    return found


def _question(path: Path, number: int, found: Mapping[str, Any]) -> Question:
    text, reference = found.get("question"), found.get("reference")
    if not isinstance(text, str) or not text.strip():
        raise EvaluationFileError(str(path), f"line {number} has no text under 'question'")
    if reference is not None and not isinstance(reference, str):
        raise EvaluationFileError(str(path), f"line {number}: 'reference' is not a text")
    for name in _TEXTS:
        if not isinstance(found.get(name, ""), str):
            raise EvaluationFileError(str(path), f"line {number}: {name!r} is not a text")
    return Question(
        id=str(found.get("id", f"line-{number}")),
        text=text,
        kind=found.get("kind", ""),
        language=found.get("language", ""),
        reference=reference,
    )
