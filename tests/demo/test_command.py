"""The command from the shell's side, and one whole run on the real server."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.demo import _extras, command
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.retrieval.embedded import EmbeddedServer
from tests.retrieval.embedded.processes import is_alive


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder that the server's own user may enter, as it may not in pytest's."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        monkeypatch.setattr("tempfile.tempdir", made)
        yield Path(made)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--questions", "0"], "--questions must be from 1 to 8, not 0"),
        (["--latency", "-1"], "--latency must be 0 or more seconds, not -1"),
        (["--tokens-per-second", "0"], "--tokens-per-second must be above 0, not 0"),
        (["--model", ""], "--model needs a name"),
        (["--model", "nonsense"], "cannot make the model 'nonsense'"),
        (["--json", "/no-such-folder/out.json"], "cannot write /no-such-folder/out.json"),
    ],
)
def test_wrong_use_is_one_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started, with exit code 2."""
    assert main(["demo", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"langgraph-prefetch: {complaint}")


def test_a_missing_library_is_named_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs all of them."""
    monkeypatch.setattr(_extras, "LIBRARIES", ("numpy", "no_such_library"))
    with pytest.raises(MissingExtraError, match=r'no-such-library .*: pip install "langgraph-prefetch\[demo\]"'):
        _extras.require()


def test_stripped_documentation_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to search in, and the reason is said."""
    monkeypatch.setattr(command, "passages", lambda: ())
    assert main(["demo"]) == 2
    assert "-OO" in capsys.readouterr().err


@pytest.mark.slow
def test_a_whole_run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The real server, index and agents: equal answers, something hidden, all of it in JSON, nothing left behind."""
    started: list[int] = []

    @contextmanager
    def noted(**options: Any) -> Iterator[EmbeddedServer]:
        with postgres(**options) as server:
            assert server.pid is not None
            started.append(server.pid)
            assert is_alive(server.pid)
            yield server

    monkeypatch.setattr(command, "postgres", noted)
    out = folder / "out.json"
    options = ["--questions", "2", "--latency", "0.2", "--tokens-per-second", "200", "--json", str(out)]
    assert main(["demo", *options]) == 0
    assert not is_alive(started[0])
    assert [each.name for each in folder.iterdir()] == ["out.json"]

    figures = json.loads(out.read_text())
    total, local = figures["total"], figures["without_latency"]
    assert [each["search_calls"] for each in figures["questions"]] == [2, 1]
    for each in (total, local):
        assert (each["questions"], each["same_answers"], each["same_passages"]) == (2, 2, 2)
        assert (each["checked"], each["wrong"], each["troubles"]) == (3, 0, 0)
    assert total["served"] > 0
    assert 0 < total["hidden_seconds"] <= total["hideable_seconds"]
    assert local["hidden_seconds"] < total["hidden_seconds"]

    printed = capsys.readouterr().out
    for said in ("The model is scripted", "0.2 s longer", "Same answers in 2 of 2", "nothing to hide"):
        assert said in printed


@pytest.mark.slow
def test_an_interrupted_run_leaves_no_server(folder: Path) -> None:
    """Neither a process nor a file, and the shell's exit code for it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "langgraph_prefetch.cli", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("question"):
                    break
            (file,) = folder.glob("prefetch-*/data/postmaster.pid")
            server = int(file.read_text().splitlines()[0])
            assert is_alive(server)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=60)[0]
        finally:
            process.kill()
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert not is_alive(server)
    assert list(folder.glob("prefetch-*")) == []
