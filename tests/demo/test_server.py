"""The embedded server starts where it can, says why where it cannot, and never outlives the demo."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from langgraph_prefetch.demo import server
from langgraph_prefetch.demo.server import is_running, postgres
from langgraph_prefetch.errors import DemoError


class Embedded:
    """Stands for the library: starts nothing, fails as often as told."""

    def __init__(self, failures: int) -> None:
        self.failures, self.folders, self.cleaned = failures, list[Path](), 0

    def get_server(self, folder: Path, cleanup_mode: str) -> Any:
        self.folders.append(folder)
        if len(self.folders) <= self.failures:
            raise subprocess.CalledProcessError(1, "pg_ctl", stderr="hint\nno space left\n")
        info = SimpleNamespace(pid=0)
        return SimpleNamespace(get_postmaster_info=lambda: info, get_uri=lambda: "uri", cleanup=self._clean)

    def _clean(self) -> None:
        self.cleaned += 1


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(failures: int) -> Embedded:
        embedded = Embedded(failures)
        monkeypatch.setattr(server, "_library", lambda: embedded)
        return embedded

    return install


def test_a_failed_start_is_tried_once_more(starts: Any) -> None:
    """On a busy machine the first start may take longer than it may; the second has a folder of its own."""
    embedded = starts(failures=1)
    with postgres() as running:
        assert running.folder.is_dir()
    assert len(set(embedded.folders)) == 2
    assert embedded.cleaned == 1
    assert not running.folder.exists()


def test_a_server_that_does_not_start_is_one_line(starts: Any) -> None:
    """The last line of what it said, and nothing left behind."""
    embedded = starts(failures=9)
    with pytest.raises(DemoError, match=r"^the embedded PostgreSQL does not start: no space left$"), postgres():
        pass
    assert not embedded.folders[0].parent.exists()


def test_what_happens_inside_is_raised_after_the_clean_up(starts: Any) -> None:
    """Ctrl-C stops the server as well."""
    embedded = starts(failures=0)
    with pytest.raises(KeyboardInterrupt), postgres():
        raise KeyboardInterrupt
    assert embedded.cleaned == 1


def test_termination_unwinds_as_well(starts: Any) -> None:
    """Who stops the demo by SIGTERM keeps no server; afterwards the signal does what it did before."""
    embedded, before = starts(failures=0), signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), postgres():
        signal.raise_signal(signal.SIGTERM)
    assert embedded.cleaned == 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_process_that_ended_is_not_running() -> None:
    """One that nobody has waited for yet has ended, too."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_running(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(process.pid)
    assert not is_running(process.pid)


def test_the_runtime_folder_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the session has none, one that nobody else could have prepared."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    server._library()
    mine = Path(os.environ["XDG_RUNTIME_DIR"])
    assert mine.stat().st_mode & 0o777 == 0o700
    mine.rmdir()
    mine.symlink_to(tmp_path)
    assert server._runtime_folder() != mine
