"""Stops a server after its last user, however that one ended: a small process of its own, and what it is made of.

Each user holds a lock on a lease file of its own. The system frees a lock with its process, killed or not, so that no
process id has to be trusted. The keeper sleeps until the leases are free, one after the other, and then stops the
server. It is run by its path, without the package: it uses nothing but the standard library.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

LOCK, LEASES, DATA = "lock", "leases", "data"
# Asked to end its sessions, then to drop everything (the next start recovers), then not asked.
_STOPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0))
_PAUSE = 0.01


@contextmanager
def turn(folder: Path, seconds: float | None = None) -> Iterator[None]:
    """The right to start or stop the server in this folder, which one process has at a time.

    Raises:
        TimeoutError: somebody else has it for ``seconds``; None waits for ever.
        FileNotFoundError: the folder is gone.
    """
    held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(held, seconds)
        try:
            yield
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)  # for a child that was forked meanwhile as well
    finally:
        os.close(held)


def in_use(folder: Path) -> list[Path]:
    """The leases that somebody holds. Those of users that ended are removed. Only in one's `turn`."""
    held = []
    for lease in sorted((folder / LEASES).iterdir()):
        if _is_free(lease):
            lease.unlink(missing_ok=True)
        else:
            held.append(lease)
    return held


def postmaster(data: Path) -> int | None:
    """The process that serves this folder; None if there is none, whatever a file that was left behind says."""
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if _serves(pid, data) else None


def stop(data: Path) -> None:
    """Stop the server of this folder, and wait until nothing of it runs."""
    for kind, seconds in _STOPS:
        pid = postmaster(data) or _forgotten(data)
        if pid is None:
            break
        with suppress(ProcessLookupError):
            os.kill(pid, kind)
        _wait_while(partial(_serves, pid, data), seconds)
    # One that was killed leaves children for a moment, which must not write beside the next server's.
    for child in _children(data):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _wait_while(lambda: bool(_children(data)), _STOPS[-1][1])


def clear(folder: Path, sockets: Path) -> None:
    """Remove what a server that was killed left behind. After `stop`, in one's `turn`."""
    (folder / DATA / "postmaster.pid").unlink(missing_ok=True)
    for each in sockets.glob(".s.PGSQL.*"):
        each.unlink(missing_ok=True)


def end(folder: Path, *, delete: bool) -> bool:
    """Stop the server, and delete its folder where that is wanted; False where somebody uses it. In one's `turn`."""
    if in_use(folder):
        return False
    stop(folder / DATA)
    if delete:
        shutil.rmtree(folder, ignore_errors=True)
    return True


def keep(folder: Path, *, delete: bool) -> None:
    """Wait for the last user, and stop the server."""
    while True:
        with turn(folder):
            if end(folder, delete=delete):
                return
            first = in_use(folder)[:1]
        for lease in first:
            _wait_for(lease)


def main(arguments: list[str]) -> None:
    """``FOLDER DESCRIPTOR keep|delete``: the descriptor's lock says that the folder has a keeper."""
    if os.fork():  # whoever started us waits for this one, and has no child that it did not want
        os._exit(0)
    for kind in (signal.SIGINT, signal.SIGHUP):
        signal.signal(kind, signal.SIG_IGN)
    folder, _, wanted = arguments
    try:
        keep(Path(folder), delete=wanted == "delete")
    except FileNotFoundError:  # deleted: by its last user, after the server; or by somebody else, under it
        stop(Path(folder) / DATA)


def _take(held: int, seconds: float | None) -> None:
    if seconds is None:
        fcntl.flock(held, fcntl.LOCK_EX)
        return
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError from None
            time.sleep(_PAUSE)
        else:
            return


def _is_free(lease: Path) -> bool:
    try:
        opened = os.open(lease, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: a keeper that waits for it is no user
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(opened)


def _wait_for(lease: Path) -> None:
    with suppress(FileNotFoundError):
        opened = os.open(lease, os.O_RDONLY)
        try:
            fcntl.flock(opened, fcntl.LOCK_SH)
        finally:
            os.close(opened)


def _serves(pid: int, data: Path) -> bool:
    """Whether this process is the server of that folder. Ids are used again: the command line tells."""
    return _name(pid) == "postgres" and str(data) in _command_line(pid)[1:]


def _name(pid: int) -> str:
    return os.path.basename("".join(_command_line(pid)[:1]))


def _command_line(pid: int) -> list[str]:
    if not os.path.isdir("/proc/self"):  # macOS
        return _command_line_of_ps(pid)
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")]
    except OSError:
        return []


def _command_line_of_ps(pid: int) -> list[str]:
    import shlex
    import subprocess

    command = ["/bin/ps", "-o", "args=", "-p", str(pid)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        return shlex.split(ran.stdout)
    except ValueError:
        return ran.stdout.split()


def _forgotten(data: Path) -> int | None:
    """A server whose folder was deleted under it: no file names it any more."""
    return next((pid for pid in _processes() if _serves(pid, data)), None)


def _children(data: Path) -> list[int]:
    """Processes of PostgreSQL's that work in this folder."""
    found = []
    for pid in _processes():
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd") == str(data) and _name(pid).startswith("postgres"):
                found.append(pid)
    return found


def _processes() -> list[int]:
    try:
        return [int(each) for each in os.listdir("/proc") if each.isdigit()]
    except OSError:  # macOS
        return []


def _wait_while(condition: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while condition() and time.monotonic() < until:
        time.sleep(_PAUSE)


if __name__ == "__main__":
    main(sys.argv[1:])
