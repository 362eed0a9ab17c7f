"""Who the server runs as. PostgreSQL refuses to be root, so root starts it as a user of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import EmbeddedServerError

NAME = "embedded_postgres"


@dataclass(frozen=True, slots=True)
class Account:
    """Another user of this machine."""

    uid: int
    gid: int

    def as_arguments(self) -> dict[str, Any]:
        """For ``subprocess``: run as this user, with none of our groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def reaches(self, path: Path) -> bool:
        """Whether this user may read the path, and pass every folder above it."""
        resolved = path.resolve()
        return self._may(resolved, stat.S_IROTH) and all(self._may(above, stat.S_IXOTH) for above in resolved.parents)

    def take_over(self, path: Path) -> None:
        """Make this user the owner of a file or folder of root's."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def _may(self, path: Path, right: int) -> bool:
        try:
            found = path.stat()
        except OSError:
            return False
        if found.st_uid == self.uid:
            right <<= 6
        elif found.st_gid == self.gid:
            right <<= 3
        return bool(found.st_mode & right)


def server_account() -> Account | None:
    """The user that the server runs as; None for the one that we are.

    Raises:
        EmbeddedServerError: we are root, and can make no user.
    """
    if os.geteuid() != 0:
        return None
    if _find() is None:
        _make()
    found = _find()
    if found is None:
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root, and the user {NAME} could not be made: make it with useradd, "
            "or run as another user"
        )
    return found


def _find() -> Account | None:
    try:
        found = pwd.getpwnam(NAME)
    except KeyError:
        return None
    return Account(found.pw_uid, found.pw_gid)


def _make() -> None:
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if program is not None:
        # It fails where another process made the user a moment earlier: what counts is whether there is one.
        command = [program, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603 - no words of a user's
