"""The reference page of judging names what the code has: no more, no less, with the same defaults and reasons."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.evaluation import judging
from langgraph_prefetch.evaluation.judging.replies import Answer, to_line
from langgraph_prefetch.evaluation.judging.values import NO_REPLY, Reason
from langgraph_prefetch.suites.quality_settings import JudgingSettings
from tests.docs.test_reference import default_of, rows, section
from tests.evaluation.judging.test_store import ask

PAGE = "reference/judging.md"


def test_every_public_name_is_listed() -> None:
    """The table before the first section is the front door."""
    text = (Path(__file__).parents[3] / "docs" / PAGE).read_text(encoding="utf-8").partition("\n## ")[0]
    assert sorted(name for name, *_ in rows(text)) == sorted(judging.__all__)


@pytest.mark.parametrize(
    ("heading", "settings"),
    [
        ("Sample", judging.Sample),
        ("JudgeLimits", judging.JudgeLimits),
        ("[judging] of the suite's file", JudgingSettings),
    ],
)
def test_fields_and_their_defaults(heading: str, settings: type[Any]) -> None:
    """In their order."""
    documented = [(name, default) for name, default, *_ in rows(section(PAGE, heading))]
    assert documented == [(field.name, default_of(field)) for field in dataclasses.fields(settings)]


def test_every_reason_is_explained() -> None:
    """And whether a resumed run asks again."""
    documented = {name: again for name, _, again in rows(section(PAGE, "Reasons"))}
    assert set(documented) == {reason.value for reason in Reason}
    assert {Reason(name) for name, again in documented.items() if again.startswith("yes")} == NO_REPLY


def test_every_field_of_a_line_is_explained() -> None:
    """Of the file of verdicts."""
    line = json.loads(to_line(ask(), Answer(), "2026-01-01"))
    assert {name for name, _ in rows(section(PAGE, "The file of verdicts"))} == set(line)
