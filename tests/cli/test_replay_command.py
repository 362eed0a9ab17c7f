"""`langgraph-prefetch replay`: what is printed, what is written, and what happens to wrong input."""

import json
import os
import time
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from tests.evaluation.recordings import ANSWERED, SAID, UNSAID, episode, write

ISSUE_NAMES = {
    *("file", "steps", "search_calls", "coverage", "coverage_reasoning", "coverage_sealed", "coverage_reuse"),
    *("verbatim_ceiling", "accuracy", "timeliness", "amplification", "false_starts", "hidden_seconds"),
    *("hideable_seconds", "wrong_answers"),
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return write(tmp_path / "runs.jsonl", [episode(SAID, UNSAID, ANSWERED)])


def test_figures_are_printed_and_written(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a file for people, an object a file for programs; each file is named as it was given."""
    out = tmp_path / "figures.json"
    other = write(tmp_path / "other.jsonl", [episode(SAID, ANSWERED)])
    assert main(["replay", str(runs), str(other), "--json", str(out)]) == 0
    printed = capsys.readouterr()
    assert "runs.jsonl" in printed.out
    assert "lead time" in printed.out
    assert printed.err == ""
    first, second = json.loads(out.read_text(encoding="utf-8"))
    assert set(first) >= ISSUE_NAMES
    assert (first["file"], second["file"]) == (str(runs), str(other))
    assert (first["steps"], second["steps"]) == (3, 2)
    assert first["coverage"] == 1.0


def test_options_reach_the_replay(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each option changes the figures as its help says."""

    def figures(*options: str) -> dict[str, float]:
        out = tmp_path / "figures.json"
        assert main(["replay", str(runs), "--json", str(out), *options]) == 0
        capsys.readouterr()
        (measured,) = json.loads(out.read_text(encoding="utf-8"))
        assert isinstance(measured, dict)
        return measured

    assert figures("--no-sealed")["coverage_sealed"] == 0
    assert figures("--max-guesses", "0")["coverage_reasoning"] == 0
    assert figures("--threshold", "0.999999")["coverage_reasoning"] == 0
    assert figures("--tool", "lookup")["search_calls"] == 0
    assert figures("--latency", "0.1")["hideable_seconds"] < figures("--latency", "1")["hideable_seconds"]
    slow, fast = figures("--tokens-per-second", "10"), figures("--tokens-per-second", "500")
    assert slow["hidden_seconds"] > fast["hidden_seconds"]
    assert figures("--look-every", "0.7")["hidden_seconds"] < figures()["hidden_seconds"]
    crowded = figures("--inject-collisions", "--reuse", "30")
    assert crowded["steps"] > 3
    assert crowded["wrong_answers"] == 0


def test_on_the_real_clock_and_only_the_first_episodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first N episodes of each file, waited for: the counts of virtual time, at the pace of the model."""
    runs = write(tmp_path / "runs.jsonl", [episode(SAID, ANSWERED)] * 3)
    common = ["replay", str(runs), "--limit-episodes", "1", "--tokens-per-second", "100", "--latency", "0.05", "--json"]
    figures, took = [], []
    for options in ([], ["--real-time"]):
        out = tmp_path / "figures.json"
        began = time.monotonic()
        assert main([*common, str(out), *options]) == 0
        took.append(time.monotonic() - began)
        (measured,) = json.loads(out.read_text(encoding="utf-8"))
        figures.append(
            {name: measured[name] for name in ("episodes", "steps", "coverage", "speculations", "timeliness")}
        )
    assert figures[0] == figures[1]
    assert figures[0]["episodes"] == 1
    assert took[1] > 0.3  # some forty tokens


def test_malformed_lines_are_named_and_counted(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error: the file, the line and the reason; then how many. The rest is measured."""
    with runs.open("a", encoding="utf-8") as file:
        file.write("nonsense\n{}\n")
    out = tmp_path / "figures.json"
    assert main(["replay", str(runs), "--json", str(out)]) == 0
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith(f"skipped {runs}:2: not JSON")
    assert error[1] == f"skipped {runs}:3: style must be a string, not nothing"
    assert error[2] == f"{runs}: lines skipped: 2"
    assert json.loads(out.read_text(encoding="utf-8"))[0]["skipped_lines"] == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tokens-per-second", "0"], "tokens_per_second must be above 0"),
        (["--latency", "-1"], "latency_seconds must be at least 0"),
        (["--reuse", "0"], "reuse_seconds must be above 0"),
        (["--max-guesses", "-1"], "guesses_per_step must be at least 0"),
        (["--threshold", "2"], "threshold is a probability"),
        (["--tool", ""], "empty name"),
        (["--limit-episodes", "0"], "--limit-episodes must be at least 1"),
        (["--json", "."], "it is a folder"),
        (["--json", "missing/figures.json"], "there is no folder missing"),
    ],
)
def test_wrong_options_are_one_line(
    runs: Path, options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, before any work, with what to change."""
    assert main(["replay", str(runs), *options]) == 2
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_unreadable_file_stops_before_the_work(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and nothing measured of the files before it."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for path in (tmp_path / "missing.jsonl", tmp_path, empty):
        assert main(["replay", str(runs), str(path)]) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith(f"langgraph-prefetch: {path}: ")
        assert printed.out == ""


def test_a_folder_without_permission_is_told_before_the_work(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is not done for nothing."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    assert main(["replay", str(runs), "--json", str(tmp_path / "figures.json")]) == 2
    assert "permission denied" in capsys.readouterr().err
