"""The command line as a shell sees it: exit codes, help, and no traceback for what a user can mend."""

import argparse
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.intent.cues import default_cues
from tests.evaluation.recordings import ANSWERED, SAID, episode, write


def run(*words: str) -> int:
    """The exit code as the shell would get it."""
    try:
        return main(words)
    except SystemExit as left:
        return int(left.code or 0)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["version"], 0),
        (["--version"], 0),
        (["--help"], 0),
        (["replay", "--help"], 0),
        (["cues", "--language", "en"], 0),
        ([], 2),
        (["no-such-command"], 2),
        (["replay"], 2),
        (["replay", "no-such-file.jsonl"], 2),
        (["replay", "x", "--latency", "long"], 2),
        (["cues", "--language", "xx"], 2),
    ],
)
def test_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """0 done, 2 wrong use or wrong input; what went wrong is on standard error, and nothing else is."""
    assert run(*words) == code
    printed = capsys.readouterr()
    assert bool(printed.err) == bool(code)
    assert bool(printed.out) != bool(code)


@pytest.mark.parametrize(("file", "code"), [("runs.jsonl", 0), ("missing.jsonl", 2)])
def test_from_the_shell(tmp_path: Path, file: str, code: int) -> None:
    """The whole way, as a user takes it, with no traceback for what a user can mend."""
    write(tmp_path / "runs.jsonl", [episode(SAID, ANSWERED)])
    done = subprocess.run(
        [sys.executable, "-m", "langgraph_prefetch.cli", "replay", str(tmp_path / file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == code, done.stderr
    assert ("runs.jsonl" in done.stdout) == (code == 0)
    assert "Traceback" not in done.stderr


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Known from the installed package, and said to be unknown where there is none."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", lambda name: "1.2.3")
    assert main(["version"]) == 0
    assert capsys.readouterr().out == "1.2.3\n"
    monkeypatch.setattr(metadata, "version", missing)
    assert main(["version"]) == 0
    assert "unknown" in capsys.readouterr().out


def test_cues_are_printed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, or those of one language."""
    assert main(["cues"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(default_cues().cues)
    assert main(["cues", "--language", "ko"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("ko.") for line in lines)


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to guess what a command line looks like."""
    with pytest.raises(SystemExit):
        main(["replay", "--help"])
    assert "examples:\n  langgraph-prefetch replay runs.jsonl\n" in capsys.readouterr().out


def room(**members: object) -> ModuleType:
    made = ModuleType("langgraph_prefetch.demo")
    made.__dict__.update(members)
    return made


def test_the_demo_is_entered_only_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its options come from its own room, and so does its exit code."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--questions", type=int)

    def run(arguments: argparse.Namespace) -> int:
        return int(arguments.questions)

    monkeypatch.setitem(sys.modules, "langgraph_prefetch.demo", room(add_arguments=add_arguments, run=run))
    assert main(["demo", "--questions", "7"]) == 7
    monkeypatch.setitem(sys.modules, "langgraph_prefetch.demo", room())  # any use of it would raise
    assert main(["version"]) == 0


def test_a_missing_extra_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs it, and exit code 2."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        raise MissingExtraError("numpy", "demo")

    monkeypatch.setitem(sys.modules, "langgraph_prefetch.demo", room(add_arguments=add_arguments, run=None))
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == (
        'langgraph-prefetch: numpy is not installed: pip install "langgraph-prefetch[demo]"\n'
    )


def test_a_missing_demo_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without it says so."""
    monkeypatch.setitem(sys.modules, "langgraph_prefetch.demo", None)
    assert main(["demo"]) == 2
    assert "not part of this installation" in capsys.readouterr().err


def test_an_interrupt_is_no_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the shell's code for it."""

    def interrupted(name: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("langgraph_prefetch.cli.replay.read_recordings", interrupted)
    assert main(["replay", "runs.jsonl"]) == 130
    assert capsys.readouterr().err == "langgraph-prefetch: interrupted\n"


def test_progress_is_drawn_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a file nothing is drawn; without the library neither."""

    def advance() -> str:
        with progress("replaying", 2) as advance:
            advance()
            advance()
        return capsys.readouterr().err

    assert advance() == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert "replaying" in advance()
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert advance() == ""
