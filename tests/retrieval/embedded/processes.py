"""Real processes that use an embedded server, to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.retrieval.light import LIGHT

PATIENCE = 60.0

USER = """
from langgraph_prefetch.retrieval.embedded import {opened}
with {opened}({arguments}) as server:
    print(server.pid, server.folder, flush=True)
    sys.stdin.readline()
"""


class Process:
    """One that uses a server until it is told to leave, or killed."""

    def __init__(self, opened: str, arguments: str, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", LIGHT + USER.format(opened=opened, arguments=arguments)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def server(self) -> tuple[int, Path]:
        """Wait until it uses the server: its process id and folder."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self._error()
        pid, folder = line.split(" ", 1)
        return int(pid), Path(folder.strip())

    def leave(self) -> None:
        """Let it end as a program does."""
        _, error = self._process.communicate("\n", timeout=PATIENCE)
        assert self._process.returncode == 0, error

    def kill(self) -> None:
        """As `kill -9` does."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.communicate(timeout=PATIENCE)

    def _error(self) -> str:
        return str(self._process.communicate(timeout=PATIENCE)[1])


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something that happens in another process."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def is_alive(pid: int | None) -> bool:
    """Whether there is such a process, other than one that has ended and that nobody waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def keepers_of(folder: Path) -> list[int]:
    """The processes that wait to stop this folder's server; one is enough."""
    found = []
    for each in Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words and any(word.endswith(b"keeper.py") for word in words):
            found.append(int(each.name))
    return found
