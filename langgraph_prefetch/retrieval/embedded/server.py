"""A PostgreSQL of the user's own: started by its first user, shared by all, stopped after the last."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from langgraph_prefetch.errors import EmbeddedServerError
from langgraph_prefetch.retrieval.embedded import keeper
from langgraph_prefetch.retrieval.embedded.account import server_account
from langgraph_prefetch.retrieval.embedded.cluster import ensure_running, url_of
from langgraph_prefetch.retrieval.embedded.folders import Folders, data_home, prepared, temporary_home
from langgraph_prefetch.retrieval.embedded.programs import Programs, find_programs
from langgraph_prefetch.retrieval.server_names import DEFAULT_NAME, require_server_name

TURN_SECONDS = 600.0
"""For another process to start the server, on a machine as slow as any."""


class EmbeddedServer:
    """The right to use a server: it runs until the last one who has it closes it, or ends.

    Attributes:
        url: where to connect: a unix socket that only its user, and root, can reach.
        folder: where the server keeps its data.
        temporary: whether the folder is deleted with the last user.
    """

    def __init__(self, programs: Programs, folders: Folders, lease: int, *, durable: bool, temporary: bool) -> None:
        self.url, self.folder, self.temporary = url_of(folders), folders.root, temporary
        self._programs, self._folders, self._durable = programs, folders, durable
        self._lease: int | None = lease

    @property
    def pid(self) -> int | None:
        """The server's process; None if there is none."""
        return keeper.postmaster(self.folder / keeper.DATA)

    def revive(self) -> None:
        """Start the server again if it has ended, as one that was killed has.

        Raises:
            EmbeddedServerError: it does not start.
        """
        try:
            with keeper.turn(self.folder, TURN_SECONDS):
                _ensure_keeper(self._folders, delete=self.temporary)
                ensure_running(self._programs, self._folders, durable=self._durable)
        except (OSError, TimeoutError) as error:
            raise EmbeddedServerError(f"the server in {self.folder} cannot be started again: {error}") from error

    def close(self) -> None:
        """Do without the server. Who is the last to do so stops it. May be called again."""
        if self._lease is None:
            return
        # A folder that is gone has been cleared away by its keeper; one whose turn does not come has it, too.
        with suppress(FileNotFoundError, TimeoutError), keeper.turn(self.folder, TURN_SECONDS):
            self._drop()
        self._leave()

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Without a turn, which a collector must not wait for: the keeper stops the server.
        self._leave()

    def _drop(self) -> None:
        self._leave()
        keeper.end(self.folder, delete=self.temporary)

    def _leave(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            os.close(lease)  # not unlocked: a forked child that has it too goes on using the server


def use(name: str = DEFAULT_NAME) -> EmbeddedServer:
    """The user's server of that name, started where it does not run. Its data stays.

    Raises:
        ConfigurationError: that is no name for one.
        EmbeddedServerError: it cannot be started here.
        MissingExtraError: the library that brings it is not installed.
    """
    require_server_name(name)
    account = server_account()
    home = data_home(account)
    with _possible_in(home):
        return _join(find_programs(account, home), home / "embedded" / name, durable=True, temporary=False)


@contextmanager
def temporary(*, durable: bool = True) -> Iterator[EmbeddedServer]:
    """A server of its own, in a folder that is deleted afterwards, also if this process is killed.

    Args:
        durable: as a server that is kept. False writes faster, for tests.

    Raises:
        EmbeddedServerError: it cannot be started here.
        MissingExtraError: the library that brings it is not installed.
    """
    account = server_account()
    home = data_home(account)
    with _possible_in(home):
        programs = find_programs(account, home)
        joined = _join(programs, temporary_home(account), durable=durable, temporary=True)
    with joined as server:
        yield server


def _join(programs: Programs, root: Path, *, durable: bool, temporary: bool) -> EmbeddedServer:
    folders = prepared(root, programs.account)
    with keeper.turn(folders.root, TURN_SECONDS):
        server = EmbeddedServer(programs, folders, _lease(folders), durable=durable, temporary=temporary)
        try:
            _ensure_keeper(folders, delete=temporary)
            ensure_running(programs, folders, durable=durable)
        except BaseException:
            server._drop()
            raise
        return server


@contextmanager
def _possible_in(home: Path) -> Iterator[None]:
    """The system's errors in our words."""
    try:
        yield
    except TimeoutError:
        raise EmbeddedServerError(
            f"another process starts or stops the same server in {home}, and does not end"
        ) from None
    except OSError as error:
        raise EmbeddedServerError(
            f"the server's folder {error.filename or home} cannot be used: {error.strerror or error}. XDG_DATA_HOME "
            "names another place, TMPDIR one for what is deleted afterwards"
        ) from error


def _lease(folders: Folders) -> int:
    lease = os.open(folders.leases / uuid.uuid4().hex, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lease, fcntl.LOCK_EX)
    return lease


def _ensure_keeper(folders: Folders, *, delete: bool) -> None:
    """One process that stops the server if all its users are killed; it takes over the lock that says there is one."""
    held = os.open(folders.root / "keeper", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        arguments = [str(folders.root), str(held), "delete" if delete else "keep"]
        subprocess.run(  # noqa: S603 - this interpreter, on a file of ours
            [sys.executable, "-I", "-S", keeper.__file__, *arguments],
            check=True,
            cwd="/",
            pass_fds=[held],
            start_new_session=True,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=TURN_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedServerError(f"the process that stops the server cannot be started: {error}") from error
    finally:
        os.close(held)
