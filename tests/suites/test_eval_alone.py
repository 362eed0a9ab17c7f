"""What the extra `eval` alone is enough for: an agent and questions of one's own, or rows of an earlier run."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from langgraph_prefetch.suites.running import Request, needs_own_agent

Run = Callable[..., "subprocess.CompletedProcess[str]"]
OWN = Request(suite="speed", agent="my_app:make", questions=Path("questions.jsonl"))
ROWS = Request(suite="cost", inputs={"rows": (Path("rows.jsonl"),)})


@pytest.fixture
def alone(tmp_path: Path) -> Run:
    """Runs `eval` of an agent where all but the extra `eval` is hidden."""
    (tmp_path / "questions.jsonl").write_text('{"question": "How long is it?"}\n', encoding="utf-8")

    def run(*options: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "tests.suites.eval_alone", str(tmp_path), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_a_plan_needs_no_other_library_and_waits_for_none_of_the_statistics(alone: Run) -> None:
    """Without agent and questions the missing extra is named, by the command that installs it."""
    done = alone()
    assert done.returncode == 0, done.stderr
    assert "speed: 12 runs of the agent" in done.stdout
    assert 'is not installed: pip install "langgraph-prefetch[demo,eval]"' in done.stderr


@pytest.mark.slow
def test_an_agent_is_asked_and_its_folder_of_rows_priced(alone: Run, tmp_path: Path) -> None:
    """From the first question to the page, with no more than the extra brings."""
    done = alone("--ask")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "speed" / "report.html").exists()
    assert (tmp_path / "cost" / "report.html").exists()


@pytest.mark.parametrize(
    ("request_", "needed"),
    [
        (OWN, False),
        (replace(OWN, questions=None), True),
        (replace(OWN, agent=None), True),
        (replace(OWN, suite="intent", agent=None, questions=None), False),
        (ROWS, False),
        (replace(ROWS, suite="quality"), False),
        (replace(ROWS, suite="speed"), True),
        (replace(ROWS, inputs={"prices": (Path("prices.toml"),)}), True),
    ],
)
def test_whose_agent_and_questions_decide_what_is_needed(request_: Request, needed: bool) -> None:
    """A suite's own questions stand beside its own agent; the one that reads recordings asks nobody."""
    assert needs_own_agent(request_.suite, request_) is needed
