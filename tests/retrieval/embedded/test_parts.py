"""What an embedded server is made of: who runs it, where it lives, how it is set up, what is said when it fails."""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError, EmbeddedServerError, MissingExtraError
from langgraph_prefetch.retrieval.embedded import cluster, folders, keeper, programs, use
from langgraph_prefetch.retrieval.embedded.account import Account, server_account
from langgraph_prefetch.retrieval.embedded.folders import Folders, data_home, prepared
from langgraph_prefetch.retrieval.embedded.programs import Programs, find_programs, last_line
from langgraph_prefetch.retrieval.embedded.server import EmbeddedServer, _join

SLEEP = shutil.which("sleep")
STRANGER = Account(uid=64_999, gid=64_999)
HERE = Folders(Path("/srv/x"), Path("/srv/x/run"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that everybody may enter, as nobody may pytest's own."""
    with tempfile.TemporaryDirectory(prefix="o-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_settings() -> None:
    """No network; little shared memory is not used up; only data that is thrown away is written carelessly."""
    usual = cluster.settings(HERE, durable=True, shared_memory=None)
    assert usual["listen_addresses"] == ""
    assert usual["unix_socket_directories"] == "/srv/x/run"
    assert "fsync" not in usual
    assert "dynamic_shared_memory_type" not in usual
    assert cluster.settings(HERE, durable=True, shared_memory=64 << 20)["dynamic_shared_memory_type"] == "mmap"
    assert cluster.settings(HERE, durable=False, shared_memory=8 << 30)["fsync"] == "off"


def test_what_a_stranger_reaches(open_folder: Path) -> None:
    """All folders above count, and so does what it is itself."""
    inner = open_folder / "inner"
    inner.mkdir(mode=0o755)
    assert STRANGER.reaches(inner)
    inner.chmod(0o711)
    assert not STRANGER.reaches(inner)
    inner.chmod(0o755)
    open_folder.chmod(0o700)
    assert not STRANGER.reaches(inner)
    assert not STRANGER.reaches(open_folder / "missing")


def test_where_a_user_keeps_data(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the data folder; as root only where the server's user can go, and a relative name is none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(open_folder / "data"))
    assert data_home(None) == data_home(STRANGER) == open_folder / "data/langgraph-prefetch"
    open_folder.chmod(0o700)
    assert data_home(None) == open_folder / "data/langgraph-prefetch"
    assert data_home(STRANGER) == Path("/var/lib/langgraph-prefetch")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(open_folder))
    monkeypatch.setattr("sys.platform", "linux")
    assert data_home(None) == open_folder / ".local/share/langgraph-prefetch"


def test_a_long_path(open_folder: Path) -> None:
    """A socket's path is limited by the system: it moves where there is room."""
    near = prepared(open_folder / "short", None)
    assert near.sockets == near.root / "run"
    far = prepared(open_folder / ("long" * 25), None)
    try:
        assert len(str(far.sockets / ".s.PGSQL.5432")) <= folders.LONGEST_SOCKET
        assert stat.S_IMODE(far.sockets.stat().st_mode) == 0o700
        assert prepared(far.root, None) == far
    finally:
        far.sockets.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user of the server's")
def test_a_socket_folder_that_was_not_given_away_yet(open_folder: Path) -> None:
    """Another process made it a moment ago, or was killed in between: it is given to the server's user now."""
    (open_folder / "run").mkdir(mode=0o700)
    assert prepared(open_folder, STRANGER).sockets.stat().st_uid == STRANGER.uid
    assert prepared(open_folder, STRANGER).sockets.stat().st_uid == STRANGER.uid
    with pytest.raises(EmbeddedServerError, match="not a folder of the server's user alone"):
        prepared(open_folder, None)


@pytest.mark.parametrize("trap", ["open to all", "a link", "a file"])
def test_a_socket_folder_that_somebody_else_made(open_folder: Path, trap: str) -> None:
    """It is refused: whoever owns it could stand in for the server."""
    (open_folder / "leases").mkdir()
    sockets = open_folder / "run"
    if trap == "open to all":
        sockets.mkdir()
        sockets.chmod(0o777)
    elif trap == "a link":
        sockets.symlink_to("/tmp")
    else:
        sockets.touch()
    with pytest.raises(EmbeddedServerError, match="not a folder of the server's user alone"):
        prepared(open_folder, None)


def test_programs_out_of_reach_are_copied(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's home is opened for it; the copy is made once, and its user may run it."""
    hidden = open_folder / "hidden"
    (hidden / "pginstall/bin").mkdir(parents=True)
    (hidden / "pginstall/bin/postgres").write_text("program", encoding="utf-8")
    hidden.chmod(0o700)
    spec = type("Spec", (), {"submodule_search_locations": [str(hidden)]})
    monkeypatch.setattr(programs, "find_spec", lambda _: spec)
    assert find_programs(None, open_folder / "home") == Programs(hidden / "pginstall", None)
    copied = find_programs(STRANGER, open_folder / "home")
    assert STRANGER.reaches(copied.folder / "bin/postgres")
    assert (copied.folder / "bin/postgres").stat().st_mode & stat.S_IXOTH
    assert find_programs(STRANGER, open_folder / "home") == copied
    assert [each.name for each in (open_folder / "home").iterdir()] == [copied.folder.name]
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o700


def test_without_the_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command that installs it."""
    monkeypatch.setattr(programs, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"langgraph-prefetch\[embedded\]"):
        find_programs(None, tmp_path)


@pytest.mark.parametrize(("said", "line"), [("a\nb\n\n", "b"), ("", "it said nothing")])
def test_the_last_line(said: str, line: str) -> None:
    """The one that says why."""
    assert last_line(said) == line


def _join_in(home: Path) -> EmbeddedServer:
    account = server_account()
    return _join(find_programs(account, home), home / "server", durable=False, temporary=False)


def test_a_cluster_of_another_version(open_folder: Path) -> None:
    """It is neither started nor touched: the message says what to do. Nobody is left to keep it."""
    data = open_folder / "server" / keeper.DATA
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("12\n", encoding="utf-8")
    with pytest.raises(EmbeddedServerError, match=r"was made by PostgreSQL 12, and 1[0-9] is installed"):
        _join_in(open_folder).close()


def test_a_server_that_does_not_start(open_folder: Path) -> None:
    """What it said itself, in a line."""
    with _join_in(open_folder) as server:
        data = server.folder / keeper.DATA
    (data / "postgresql.conf").write_text("no_such_setting = 1\n", encoding="utf-8")
    with pytest.raises(EmbeddedServerError, match=r"does not start: .*configuration file"):
        _join_in(open_folder).close()


def test_a_folder_that_cannot_be_made(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names it, and how to choose another."""
    (open_folder / "data").touch(mode=0o644)
    monkeypatch.setenv("XDG_DATA_HOME", str(open_folder / "data"))
    with pytest.raises(EmbeddedServerError, match=rf"{open_folder}/data\S* cannot be used: .*XDG_DATA_HOME"):
        use().close()


@pytest.mark.parametrize("name", ["", "..", "../other", "a/b", "/tmp/x", "-x", "x" * 41, "a\0b", "a\n"])
def test_a_name_that_leads_elsewhere(name: str) -> None:
    """It is refused before anything is made."""
    with pytest.raises(ConfigurationError, match="an embedded server's name"):
        use(name)


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in containers: the message names the variable that helps."""

    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    with pytest.raises(EmbeddedServerError, match="XDG_DATA_HOME"):
        data_home(None)


def test_a_turn_is_one_processes(tmp_path: Path) -> None:
    """Who waits too long is told so; afterwards it is free again."""
    with keeper.turn(tmp_path), pytest.raises(TimeoutError), keeper.turn(tmp_path, 0.02):
        pass
    with keeper.turn(tmp_path, 0.02):
        pass


def test_a_child_that_was_forked_in_ones_turn(tmp_path: Path) -> None:
    """It does not keep the turn: it may live for days."""
    read, write = os.pipe()
    with keeper.turn(tmp_path):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)  # until the parent closes its end
            os._exit(0)
    try:
        with keeper.turn(tmp_path, 1.0):
            pass
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_who_counts_as_a_user(tmp_path: Path) -> None:
    """Whoever holds a lease; neither a keeper that waits for one, nor what a user that ended left behind."""
    (tmp_path / keeper.LEASES).mkdir()
    held, waited_for, left = (tmp_path / keeper.LEASES / name for name in ("held", "waited for", "left"))
    left.touch()
    with held.open("w") as user, waited_for.open("w") as one_keeper:
        fcntl.flock(user, fcntl.LOCK_EX)
        fcntl.flock(one_keeper, fcntl.LOCK_SH)
        assert keeper.in_use(tmp_path) == [held]
    assert list((tmp_path / keeper.LEASES).iterdir()) == [held]
    assert keeper.in_use(tmp_path) == []


def test_what_a_killed_server_leaves_running(tmp_path: Path) -> None:
    """Its children would write beside the next server's: they are stopped, and nobody else in that folder is."""
    with (
        subprocess.Popen(["postgres: checkpointer", "60"], executable=SLEEP, cwd=tmp_path) as child,
        subprocess.Popen(["editor", "60"], executable=SLEEP, cwd=tmp_path) as other,
    ):
        keeper.stop(tmp_path)
        assert child.wait(30) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_a_keeper_whose_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops the server that was there, if it runs."""
    stopped = list[Path]()
    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(keeper, "stop", stopped.append)
    keeper.main([str(tmp_path / "gone"), "0", "delete"])
    assert stopped == [tmp_path / "gone" / keeper.DATA]


def test_a_process_that_is_no_server(tmp_path: Path) -> None:
    """An id in the file proves nothing, nor does a file that is broken."""
    assert keeper.postmaster(tmp_path) is None
    for text in (f"{os.getpid()}\n{tmp_path}\n", "x", ""):
        (tmp_path / "postmaster.pid").write_text(text, encoding="utf-8")
        assert keeper.postmaster(tmp_path) is None
    keeper.stop(tmp_path)
