"""Where an embedded server keeps what it keeps."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from langgraph_prefetch.errors import EmbeddedServerError
from langgraph_prefetch.retrieval.embedded import keeper
from langgraph_prefetch.retrieval.embedded.account import Account

APPLICATION = "langgraph-prefetch"
LONGEST_SOCKET = 100
"""Bytes in the path of a unix socket; systems allow 103 to 107."""
_SYSTEM_WIDE = Path("/var/lib")
_SOCKET = ".s.PGSQL.5432"


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of one server.

    Attributes:
        root: everything but, where its path is long, the socket.
        sockets: where the server listens. Only its user, and root, can enter.
    """

    root: Path
    sockets: Path

    @property
    def data(self) -> Path:
        """The database cluster."""
        return self.root / keeper.DATA

    @property
    def leases(self) -> Path:
        """A file for each user."""
        return self.root / keeper.LEASES

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.data / "server.log"


def data_home(account: Account | None) -> Path:
    """Where this user's servers are: in the user's data folder; as root, in one that the server's user can reach.

    Raises:
        EmbeddedServerError: there is no such folder.
    """
    chosen = os.environ.get("XDG_DATA_HOME", "")
    home = Path(chosen) if os.path.isabs(chosen) else _usual_data_home()
    if account is not None and not account.reaches(_existing(home)):
        home = _SYSTEM_WIDE
    return home / APPLICATION


def temporary_home(account: Account | None) -> Path:
    """A new folder that will not be kept."""
    home = Path(tempfile.gettempdir())
    if account is not None and not account.reaches(home):
        home = Path("/tmp")  # noqa: S108 - the folder in it is made by mkdtemp
    return Path(tempfile.mkdtemp(prefix="prefetch-", dir=home))


def prepared(root: Path, account: Account | None) -> Folders:
    """The folders of one server, made where they are missing.

    Raises:
        EmbeddedServerError: somebody else made one of them.
        OSError: they cannot be made.
    """
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(stat.S_IRWXU | (stat.S_IXGRP | stat.S_IXOTH if account else 0))
    root = root.resolve()
    (root / keeper.LEASES).mkdir(mode=stat.S_IRWXU, exist_ok=True)
    folders = Folders(root, _socket_folder(root))
    _claim(folders.sockets, account)
    return folders


def _claim(sockets: Path, account: Account | None) -> None:
    """Make the folder of the socket; one that is there must be ours, or whoever made it would hear every password."""
    with suppress(FileExistsError):
        sockets.mkdir(mode=stat.S_IRWXU)
    # Also still of our own: another process made it a moment ago, or was killed before it gave it away.
    found, ours = sockets.lstat(), {os.geteuid(), os.geteuid() if account is None else account.uid}
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in ours or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise EmbeddedServerError(f"{sockets} is not a folder of the server's user alone: remove it")
    if account is not None:
        account.take_over(sockets)


def _usual_data_home() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # a container's user may have none
        raise EmbeddedServerError("this user has no home folder: name one for data in XDG_DATA_HOME") from None
    return home / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.exists())


def _socket_folder(root: Path) -> Path:
    near = root / "run"
    if len(os.fsencode(near / _SOCKET)) <= LONGEST_SOCKET:
        return near
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return Path("/tmp") / f"prefetch-{os.geteuid()}-{digest}"  # noqa: S108 - `_claim` takes nobody else's
