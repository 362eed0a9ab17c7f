"""Agents of the suites' own: questions with the thoughts of a scripted model, and the passages that are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from langgraph_prefetch.demo import questions as demo
from langgraph_prefetch.demo.corpus import passages as demo_passages
from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError
from langgraph_prefetch.evaluation.trials import Question
from langgraph_prefetch.evaluation.trials.questions import checked, read_objects

KINDS = ("fact", "comparison", "multi-hop", "no search")
NONE, ONE, SIDE_BY_SIDE, ONE_AFTER_ANOTHER = "no search", "one search", "searches side by side", "searches in turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """An agent that needs no model.

    Attributes:
        questions: what it is asked.
        script: by question text, what its model thinks, searches and says.
        passages: what its searches find.
    """

    questions: tuple[Question, ...]
    script: Mapping[str, demo.Question]
    passages: tuple[Document, ...]


def demo_script(count: int | None = None) -> Scripted:
    """The demo's agent, asked the first ``count`` of its questions.

    Raises:
        ConfigurationError: this Python has no documentation strings to search.
    """
    corpus = demo_passages()
    if not corpus:
        raise ConfigurationError("this Python has no documentation strings; is it run with -OO?")
    asked = demo.QUESTIONS[:count]
    questions = tuple(
        Question(id=each.topic.replace(" ", "-"), text=each.text, kind=kind_of(each), language="en") for each in asked
    )
    return Scripted(questions=questions, script={each.text: each for each in asked}, passages=corpus)


def kind_of(question: demo.Question) -> str:
    """How many searches a question takes, and how they stand to each other."""
    if not question.steps:
        return NONE
    if len(question.steps) > 1:
        return ONE_AFTER_ANOTHER
    return SIDE_BY_SIDE if len(question.steps[0].queries) > 1 else ONE


def file_script(questions: Sequence[Path], passages: Path, *, per_kind: int | None = None) -> Scripted:
    """An agent out of files.

    Args:
        questions: JSONL; beside what every question has, ``steps`` (each a ``thought`` and its ``queries``) and
            ``conclusion``, said before the answer.
        passages: JSONL; objects with ``title`` and ``text``.
        per_kind: of each file, only the first so many questions of each kind and language.

    Raises:
        EvaluationFileError: a file cannot be read, or a line lacks something.
        ConfigurationError: there is no question, or no passage.
    """
    found = [each for path in questions for each in _few(list(_scripted(path)), per_kind)]
    asked = checked([question for question, _ in found], ", ".join(map(str, questions)))
    return Scripted(
        questions=asked,
        script={question.text: script for question, script in found},
        passages=read_passages(passages),
    )


def read_passages(path: Path) -> tuple[Document, ...]:
    """The passages of a JSONL file, each beginning with its title.

    Raises:
        EvaluationFileError: it cannot be read, or a line lacks something.
        ConfigurationError: there is none.
    """
    found = []
    for number, each in read_objects(path):
        title, text = each.get("title"), each.get("text")
        if not isinstance(title, str) or not isinstance(text, str):
            raise EvaluationFileError(str(path), f"line {number} needs 'title' and 'text'")
        found.append(Document(f"{title}: {text}", metadata={"source": title}))
    if not found:
        raise ConfigurationError(f"{path} holds no passage")
    return tuple(found)


def _scripted(path: Path) -> list[tuple[Question, demo.Question]]:
    return [_pair(path, number, each) for number, each in read_objects(path)]


def _pair(path: Path, number: int, found: Mapping[str, Any]) -> tuple[Question, demo.Question]:
    try:
        steps = tuple(demo.Step(str(step["thought"]), tuple(map(str, step["queries"]))) for step in found["steps"])
        question = Question(
            id=str(found["id"]),
            text=str(found["question"]),
            kind=str(found["kind"]),
            language=str(found["language"]),
            reference=found.get("reference"),
        )
        return question, demo.Question(question.id, question.text, steps, str(found["conclusion"]))
    except (KeyError, TypeError) as error:
        raise EvaluationFileError(str(path), f"line {number} is no scripted question: {error}") from error


def _few(found: Sequence[tuple[Question, demo.Question]], per_kind: int | None) -> list[tuple[Question, demo.Question]]:
    if per_kind is None:
        return list(found)
    taken: dict[tuple[str, str], int] = {}
    kept = []
    for each in found:
        group = (each[0].kind, each[0].language)
        taken[group] = taken.get(group, 0) + 1
        if taken[group] <= per_kind:
            kept.append(each)
    return kept
