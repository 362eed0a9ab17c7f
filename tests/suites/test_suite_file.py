"""A suite's file says what is expected before it is run."""

from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError
from langgraph_prefetch.suites.suite_file import SUITES, find_suite, laid_over, read_suite, suite_folder

WHOLE = """
suite = "speed"
title = "t"
primary_endpoint = "e"
hypotheses = ["h"]
seed = 1
[runs]
repeats = 3
[smoke.runs]
repeats = 1
"""


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("smoke", [False, True])
def test_every_suite_states_its_endpoint_its_hypotheses_and_its_seed(name: str, smoke: bool) -> None:
    """The files that come with the package are whole, and found by name."""
    file = read_suite(find_suite(name), smoke=smoke)
    assert file.suite == name
    assert file.stated[0].startswith("Primary endpoint: ")
    assert len(file.stated) > 1


def test_smoke_is_laid_over_and_otherwise_left_out(tmp_path: Path) -> None:
    """Of a table only what the smoke run says differently changes."""
    (tmp_path / "s.toml").write_text(WHOLE, encoding="utf-8")
    assert read_suite(tmp_path / "s.toml").settings["runs"] == {"repeats": 3}
    assert read_suite(tmp_path / "s.toml", smoke=True).settings["runs"] == {"repeats": 1}
    assert "smoke" not in read_suite(tmp_path / "s.toml").settings
    assert laid_over({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}}) == {"a": {"b": 1, "c": 4}, "d": 3}


@pytest.mark.parametrize(
    ("without", "complaint"),
    [
        ("title", "'title'"),
        ("primary_endpoint", "'primary_endpoint'"),
        ("hypotheses", "before the suite is run"),
        ("seed", "'seed'"),
    ],
)
def test_a_file_that_says_less_is_refused(tmp_path: Path, without: str, complaint: str) -> None:
    """A suite without a hypothesis finds whatever it finds."""
    lines = [line for line in WHOLE.splitlines() if not line.startswith(without)]
    (tmp_path / "s.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(EvaluationFileError, match=complaint):
        read_suite(tmp_path / "s.toml")


def test_what_is_no_suite_is_refused_with_those_that_are(tmp_path: Path) -> None:
    """A name mistyped, a file that is not there, one that is not TOML, one of another suite."""
    with pytest.raises(ConfigurationError, match="Did you mean 'speed'"):
        find_suite("sped")
    with pytest.raises(EvaluationFileError):
        read_suite(tmp_path / "none.toml")
    (tmp_path / "s.toml").write_text("suite =", encoding="utf-8")
    with pytest.raises(EvaluationFileError, match="not TOML"):
        read_suite(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_text(WHOLE.replace('"speed"', '"weight"'), encoding="utf-8")
    with pytest.raises(EvaluationFileError, match="'weight'"):
        read_suite(tmp_path / "s.toml")


def test_the_fingerprint_is_of_the_text(tmp_path: Path) -> None:
    """A hypothesis changed after the run is seen."""
    (tmp_path / "s.toml").write_text(WHOLE, encoding="utf-8")
    before = read_suite(tmp_path / "s.toml").fingerprint
    (tmp_path / "s.toml").write_text(WHOLE.replace('"h"', '"another"'), encoding="utf-8")
    assert read_suite(tmp_path / "s.toml").fingerprint != before


def test_the_suites_lie_where_they_are_looked_for() -> None:
    """In a checkout beside the package; `scripts/test-wheel.sh` sees to the installed one."""
    assert (suite_folder() / "study" / "questions_a.jsonl").is_file()
