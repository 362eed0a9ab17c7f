"""A timeline goes to a file, or says what is in the way."""

import subprocess
from pathlib import Path

import pytest

from langgraph_prefetch.errors import TimelineError
from langgraph_prefetch.observe.timeline import timeline_page, to_png, write_timeline
from tests.observe.timeline.samples import run_events

EVENTS = run_events(steps=2)


def script(folder: Path, text: str) -> str:
    """A program that stands for a browser."""
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_page_is_written(tmp_path: Path) -> None:
    """The file is the page; an older one is replaced."""
    path = tmp_path / "run.HTML"
    path.write_text("old")
    assert write_timeline(EVENTS, str(path), title="Tuesday") == path
    assert path.read_text(encoding="utf-8") == timeline_page(EVENTS, title="Tuesday")


@pytest.mark.parametrize("name", ["run.pdf", "run", ".html"])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    """The ending says what is wanted; one that says nothing is no reason to guess."""
    with pytest.raises(TimelineError, match=r"\.html or \.png"):
        write_timeline(EVENTS, tmp_path / name)


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error is one of ours, with the path and the system's reason."""
    path = tmp_path / "missing" / "run.html"
    with pytest.raises(TimelineError, match=r"cannot write .*run\.html: No such file"):
        write_timeline(EVENTS, path)


def test_without_a_browser_a_picture_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install and what works without; nothing is written."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(TimelineError, match=r"apt install chromium.*write \.html"):
        write_timeline(EVENTS, tmp_path / "run.png")
    with pytest.raises(TimelineError, match="none called 'netscape'"):
        write_timeline(EVENTS, tmp_path / "run.png", browser="netscape")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("echo no display >&2; exit 3", "failed: no display"),
        ("echo '<html></html>'", "did not draw the page"),
        ("echo '<html data-height=\"900\">'", "wrote no picture"),
    ],
)
def test_a_browser_that_fails_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    """Whatever it does, the error is one of ours and says which program it was."""
    with pytest.raises(TimelineError, match=f"browser.*{complaint}"):
        write_timeline(EVENTS, tmp_path / "run.png", browser=script(tmp_path, text))


def test_a_browser_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture takes a bounded time."""

    def hang(command: list[str], **options: object) -> None:
        raise subprocess.TimeoutExpired(command, 60)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(TimelineError, match="took longer than 60 seconds"):
        to_png(timeline_page(EVENTS), browser=script(tmp_path, ""))
