"""`langgraph-prefetch eval`: what it refuses, what it says it would do, and a user's own agent from end to end."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.cli.main import OK, WRONG_INPUT
from tests.suites import own_agent

OWN = ["--agent", "tests.suites.own_agent:make", "--tools", "find"]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    lines = [{"id": f"q{number}", "question": f"How long is it, take {number}?", "kind": "fact"} for number in range(3)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def asked_for(*words: str) -> tuple[str, ...]:
    return ("eval", "speed", "--smoke", *words)


def test_an_agent_of_ones_own_from_questions_to_report(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every arm is asked every question, cold and warm; the closing table is printed, and says where the rest is."""
    out = tmp_path / "out"
    assert main(asked_for(*OWN, "--questions", str(questions), "--out", str(out))) == OK
    printed = capsys.readouterr().out
    assert "wrapped / bare, cold" in printed
    assert str(out / "report.html") in printed
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert "Primary endpoint" in json.dumps(report)
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 3 * 3 * 2 * 2
    wrapped = [row for row in rows if row["arm"] == "wrapped"]
    assert all(row["error"] is None for row in rows)
    assert {search["as_real"] for row in wrapped for search in row["searches"]} == {True}
    assert {search["source"] for row in wrapped if row["warm"] for search in row["searches"]} == {"reuse"}
    assert {search["answered"] for row in rows if row["arm"] == "direct" for search in row["searches"]} == {"ran"}


@pytest.mark.slow
def test_what_was_done_is_not_done_again_and_not_with_other_settings(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --resume a folder with an evaluation is refused; with it nothing is asked twice."""
    words = asked_for(*OWN, "--questions", str(questions), "--out", str(tmp_path / "out"))
    assert main(words) == OK
    before = len(own_agent.asked)
    assert main(words) == WRONG_INPUT
    assert "--resume" in capsys.readouterr().err
    assert main((*words, "--resume")) == OK
    assert len(own_agent.asked) == before
    assert main((*words, "--resume", "--seed", "99")) == WRONG_INPUT
    assert "another seed" in capsys.readouterr().err


def test_a_dry_run_counts_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even a folder."""
    assert main(("eval", "speed", "--dry-run", "--out", str(tmp_path / "out"))) == OK
    assert "192 runs of the agent" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["eval", "weight"], "no suite is called 'weight'"),
        (["eval", "none.toml"], "none.toml"),
        (asked_for("--model", "nobody:nothing"), "cannot make the model 'nobody:nothing'"),
        (asked_for("--agent", "tests.suites.own_agent"), "module:factory"),
        (asked_for("--agent", "tests.suites.no_agent:make"), "cannot import"),
        (asked_for("--agent", "tests.suites.own_agent:nothing"), "must be a function"),
        (asked_for("--agent", "tests.suites.own_agent:fails"), "no key"),
        (asked_for("--agent", "tests.suites.own_agent:make"), "'search'"),
        (asked_for(*OWN, "--model", "any"), "has its own model"),
        (asked_for("--questions", "q.jsonl"), "knows only the suite's own questions"),
        (asked_for(*OWN, "--questions", "nowhere.jsonl"), "nowhere.jsonl"),
        (asked_for("--tools", " , "), "--tools"),
        (asked_for("--target", "aws"), "for the suite 'study'"),
        (asked_for("--target", "moon"), "local, aws"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nothing is asked of anybody."""
    monkeypatch.chdir(tmp_path)
    assert main((*words, "--out", str(tmp_path / "out"))) == WRONG_INPUT
    error = capsys.readouterr().err
    assert complaint in error.splitlines()[-1]
    assert not (tmp_path / "out").exists(), "a folder in which nothing was made is given up"


def test_an_empty_set_of_questions_is_wrong_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the file."""
    (tmp_path / "none.jsonl").write_text("\n", encoding="utf-8")
    words = asked_for(*OWN, "--questions", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "out"))
    assert main(words) == WRONG_INPUT
    assert "holds no question" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given", ["calls", "calls=x", "money=-1", "calls=1.5", "time=3", "calls=1,calls=2", "money=nan"]
)
def test_a_budget_that_limits_nothing_is_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the parser, which shows how it is written."""
    with pytest.raises(SystemExit) as stopped:
        main(("eval", "quality", "--budget", given))
    assert stopped.value.code == WRONG_INPUT
    assert "--budget" in capsys.readouterr().err
