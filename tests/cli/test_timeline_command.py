"""`langgraph-prefetch timeline`: from files of events to a page, and what happens to wrong input."""

from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.events import NearTierChanged, Trouble
from langgraph_prefetch.observe.event_lines import to_line
from tests.observe.timeline.samples import run_events
from tests.observe.timeline.test_page import data_of


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    lines = [to_line(event) for run_id in ("a", "b") for event in run_events(run_id, 3)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def drawn(page: Path) -> list[str]:
    return [run["id"] for run in data_of(page.read_text(encoding="utf-8"))]


def test_a_page_of_all_runs_is_written(
    events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing else is said, `timeline.html` here; its name is all that is printed."""
    monkeypatch.chdir(tmp_path)
    assert main(["timeline", str(events)]) == 0
    assert capsys.readouterr().out == "timeline.html\n"
    assert drawn(tmp_path / "timeline.html") == ["a", "b"]


def test_a_run_in_several_files_is_one_run(events: Path, tmp_path: Path) -> None:
    """A run that a rotation cut in two is put together again, in whatever order the files are named."""
    lines = events.read_text(encoding="utf-8").splitlines(keepends=True)
    older = tmp_path / "events.jsonl.1"
    older.write_text("".join(lines[:10]), encoding="utf-8")
    events.write_text("".join(lines[10:]), encoding="utf-8")
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    assert main(["timeline", str(older), str(events), "--out", str(first)]) == 0
    assert main(["timeline", str(events), str(older), "--out", str(second)]) == 0
    assert drawn(first) == ["a", "b"]
    assert data_of(first.read_text(encoding="utf-8")) == data_of(second.read_text(encoding="utf-8"))


def test_one_run_is_chosen(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--run` draws that run under the given heading; a run that is not there is named, with those that are."""
    out = tmp_path / "page.html"
    assert main(["timeline", str(events), "--run", "b", "--title", "<Tuesday>", "--out", str(out)]) == 0
    assert drawn(out) == ["b"]
    assert "<h1>&lt;Tuesday&gt;</h1>" in out.read_text(encoding="utf-8")
    assert main(["timeline", str(events), "--run", "c", "--out", str(out)]) == 2
    assert "no run 'c' among the events. Runs: a, b" in capsys.readouterr().err


def test_events_of_no_run_are_in_no_runs_way(events: Path, tmp_path: Path) -> None:
    """What happened to the process, and to none of its runs, hinders nobody from choosing one."""
    with events.open("a", encoding="utf-8") as file:
        file.write(to_line(Trouble(at=1.0, where="token", error="ValueError")))
        file.write(to_line(NearTierChanged(at=2.0, tool="search", tier="likely", open=False, reason="wrong sets")))
    out = tmp_path / "page.html"
    assert main(["timeline", str(events), "--run", "b", "--out", str(out)]) == 0
    assert drawn(out) == ["b"]


def test_a_line_that_cannot_be_read_is_named(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rest is drawn; what was skipped stands on the other stream, with its line."""
    with events.open("a", encoding="utf-8") as file:
        file.write('{"v": "1.0", "event"\n{"v": "1.4", "event": "Later", "at": 1}\n')
    assert main(["timeline", str(events), "--out", str(tmp_path / "page.html")]) == 0
    said = capsys.readouterr().err
    number = len(events.read_text(encoding="utf-8").splitlines()) - 1
    assert f"skipped {events}:{number}: not JSON" in said
    assert f"{events}: lines skipped: 1" in said
    assert f"{events}: events of an unknown type: 1 Later" in said


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (["--out", "page.pdf"], "written as .html or .png"),
        (["--out", "no/such/folder/page.html"], "cannot write"),
        (["--out", "page.png", "--browser", "netscape"], "none called 'netscape'"),
        (["missing.jsonl"], "missing.jsonl: No such file"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(
    events: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: list[str],
    complaint: str,
) -> None:
    """No traceback for what a user can mend, and no file left behind."""
    monkeypatch.chdir(tmp_path)
    assert main(["timeline", str(events), *change]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))


def test_a_newer_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The version is named, and nothing is drawn from half of it."""
    path = tmp_path / "events.jsonl"
    path.write_text('{"v": "2.0", "event": "RunStarted", "run_id": "r", "at": 1.0}\n', encoding="utf-8")
    assert main(["timeline", str(path), "--out", str(tmp_path / "page.html")]) == 2
    assert "line 1: format version 2.0" in capsys.readouterr().err
