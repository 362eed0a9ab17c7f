"""The server runs for its users, and for nobody after them: not even after they were all killed."""

import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import astuple
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.embedded import EmbeddedServer, cluster, keeper, server, temporary, use
from langgraph_prefetch.retrieval.embedded.account import Account
from langgraph_prefetch.retrieval.embedded.programs import Programs, find_programs
from tests.retrieval.embedded.processes import Process, is_alive, keepers_of, until

Start = Callable[[], Process]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A data folder that the server's user can reach, with one cluster in it for all tests here."""
    folder = Path(tempfile.mkdtemp(prefix="data-"))
    folder.chmod(0o755)
    yield folder
    for each in (folder / "langgraph-prefetch" / "embedded").iterdir():
        keeper.stop(each / keeper.DATA)
    shutil.rmtree(folder)


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Starts processes that use the server `notes`; whatever a test leaves is killed."""
    started = list[Process]()

    def one() -> Process:
        started.append(Process("use", "'notes'", {**os.environ, "XDG_DATA_HOME": str(home)}))
        return started[-1]

    yield one
    for each in started:
        each.kill()


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home))


def test_two_that_come_at_the_same_instant(start: Start) -> None:
    """They have one server; it stays while one of them is there, and goes with the last."""
    first, second = start(), start()
    (pid, folder), (same, _) = first.server(), second.server()
    assert pid == same
    first.leave()
    assert is_alive(pid)
    second.leave()
    assert not is_alive(pid)
    until(lambda: not any(each for each in (folder / keeper.LEASES).iterdir()), "a lease is left")


def test_all_users_are_killed(start: Start) -> None:
    """The keeper, one for both, stops the server, cleanly, and ends."""
    first, second = start(), start()
    (pid, folder), _ = first.server(), second.server()
    (watching,) = keepers_of(folder)
    first.kill()
    assert is_alive(pid)
    second.kill()
    until(lambda: not is_alive(pid), "the server runs on")
    until(lambda: not is_alive(watching), "its keeper runs on")
    assert not (folder / keeper.DATA / "postmaster.pid").exists()


def test_one_user_is_killed_and_the_other_leaves(start: Start) -> None:
    """The dead one's lease does not count."""
    first, second = start(), start()
    (pid, _), _ = first.server(), second.server()
    first.kill()
    second.leave()
    assert not is_alive(pid)


def test_the_keeper_is_killed(start: Start) -> None:
    """The last user stops the server itself; one that comes before that sets up a new keeper."""
    first = start()
    pid, folder = first.server()
    (dead,) = keepers_of(folder)
    os.kill(dead, signal.SIGKILL)
    until(lambda: not is_alive(dead), "it does not end")
    second = start()
    assert second.server()[0] == pid
    (fresh,) = keepers_of(folder)
    assert fresh != dead
    os.kill(fresh, signal.SIGKILL)
    until(lambda: not is_alive(fresh), "it does not end")
    first.leave()
    second.leave()
    assert not is_alive(pid)


def test_a_server_that_everybody_forgot(start: Start) -> None:
    """All killed at once, keeper and users: the next user takes the server over, and stops it."""
    first = start()
    pid, folder = first.server()
    (watching,) = keepers_of(folder)
    os.kill(watching, signal.SIGKILL)
    first.kill()
    assert is_alive(pid)
    second = start()
    assert second.server()[0] == pid
    second.leave()
    assert not is_alive(pid)


@pytest.mark.usefixtures("here")
def test_data_stays() -> None:
    """What was written is there for the next user."""
    with use("notes") as mine, psycopg.connect(mine.url, autocommit=True) as connection:
        connection.execute("create table if not exists kept as select 42 as x")
    with use("notes") as mine, psycopg.connect(mine.url) as connection:
        assert connection.execute("select x from kept").fetchall() == [(42,)]
    assert mine.pid is None
    mine.close()


@pytest.mark.usefixtures("here")
def test_a_file_that_a_crash_left_behind() -> None:
    """`postmaster.pid` names a living process that is no server: neither believed nor hurt."""
    with use("notes") as mine:
        data = mine.folder / keeper.DATA
        stale = (data / "postmaster.pid").read_text(encoding="utf-8")
        postmaster = mine.pid
        assert postmaster is not None
        os.kill(postmaster, signal.SIGKILL)
        until(lambda: not is_alive(postmaster), "it does not end")
    reused = stale.replace(str(postmaster), str(os.getpid()), 1)
    (data / "postmaster.pid").write_text(reused, encoding="utf-8")
    with use("notes") as mine:
        assert mine.pid not in (None, os.getpid())
        with psycopg.connect(mine.url) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    (data / "postmaster.pid").write_text(reused, encoding="utf-8")
    keeper.stop(data)  # would have ended this very process
    (data / "postmaster.pid").unlink()


@pytest.mark.usefixtures("here")
def test_a_database_on_it() -> None:
    """By its URL; the server starts with the first query, comes back after a crash, and ends with the last user."""
    with Database.open("embedded://notes") as database, Database.open("embedded://notes") as other:
        assert database.check().pgvector
        lease = database._pool._lease  # type: ignore[union-attr]
        pid = lease.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid), "it does not end")
        assert other.run(lambda connection: connection.execute(sa.text("select 1")).scalar_one()) == 1
        database.close()
        assert lease.pid is not None
    assert lease.pid is None


@pytest.fixture(scope="module")
def mine() -> Iterator[EmbeddedServer]:
    """A server for the tests that leave it as it was: making one is most of what they would do."""
    with temporary(durable=False) as server:
        yield server


def test_a_forked_child_keeps_the_server(mine: EmbeddedServer) -> None:
    """A child that was forked has the right to it as well, and its leaving takes nothing from its parent."""
    child = os.fork()
    if child == 0:
        mine.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert mine.pid is not None


def test_a_temporary_server_leaves_nothing() -> None:
    """Neither process nor folder, also when its user is killed."""
    with temporary(durable=False) as own:
        pid = own.pid
        assert pid is not None
    assert not is_alive(pid)
    assert not own.folder.exists()
    process = Process("temporary", "durable=False", dict(os.environ))
    pid, folder = process.server()
    process.kill()
    until(lambda: not is_alive(pid), "the server runs on")
    until(lambda: not folder.exists(), "its folder is left")


def test_a_folder_that_is_deleted_under_its_server() -> None:
    """It is found all the same; and its keeper does not wait for ever for a lease that no longer exists."""
    process = Process("temporary", "durable=False", dict(os.environ))
    pid, folder = process.server()
    shutil.rmtree(folder)
    keeper.stop(folder / keeper.DATA)
    assert not is_alive(pid)
    process.kill()
    until(lambda: not keepers_of(folder), "its keeper runs on")


def test_a_file_that_names_another_server(mine: EmbeddedServer, tmp_path: Path) -> None:
    """Its id was used again, by a PostgreSQL, and yet it is not the one of this folder: it is left alone."""
    (tmp_path / "postmaster.pid").write_text(f"{mine.pid}\n", encoding="utf-8")
    assert keeper.postmaster(tmp_path) is None
    keeper.stop(tmp_path)
    assert mine.pid is not None


def test_a_server_that_lets_nobody_in_any_more(mine: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full, or told to: it runs, and is not stopped under its users because a newcomer is refused."""
    monkeypatch.setattr(cluster, "WAKE_SECONDS", 0.2)
    pid = mine.pid
    with psycopg.connect(mine.url, dbname="template1", autocommit=True) as user:
        user.execute("alter database postgres with allow_connections false")
        with pytest.raises(psycopg.OperationalError, match="not currently accepting connections"):
            psycopg.connect(mine.url)
        mine.revive()
        assert mine.pid == pid
        user.execute("alter database postgres with allow_connections true")


def test_the_socket_is_closed_to_others(mine: EmbeddedServer) -> None:
    """Whoever can reach it is let in: so nobody else must."""
    for each in (mine.folder / "run", mine.folder / keeper.DATA):
        assert each.stat().st_mode & 0o077 == 0
    assert (mine.folder / "run" / ".s.PGSQL.5432").stat().st_mode & 0o077 == 0


NOBODY = Account(65534, 65534)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any right to make users or to change what is not its own, the server runs as that user."""
    with tempfile.TemporaryDirectory(prefix="home-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        # What is installed for root may be out of nobody's reach; a user of one's own has an interpreter that works.
        programs = find_programs(NOBODY, home)
        monkeypatch.setattr(server, "find_programs", lambda *_: Programs(programs.folder, None))
        monkeypatch.setattr(keeper, "__file__", shutil.copy(keeper.__file__, home))
        monkeypatch.setattr(sys, "executable", shutil.which("python3", path="/usr/bin:/usr/local/bin"))
        monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
        (home / "data").mkdir()
        os.chown(home / "data", *astuple(NOBODY))
        child = os.fork()
        if child == 0:
            os._exit(_as_nobody())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        data = home / "data/langgraph-prefetch/embedded/default" / keeper.DATA
        assert data.stat().st_uid == NOBODY.uid
        assert keeper.postmaster(data) is None


def _as_nobody() -> int:
    os.setgroups([])
    os.setgid(NOBODY.gid)
    os.setuid(NOBODY.uid)
    try:
        with use() as mine, psycopg.connect(mine.url) as connection:
            ours = Path(f"/proc/{mine.pid}").stat().st_uid == NOBODY.uid
            return 0 if ours and connection.execute("select 1").fetchone() == (1,) else 1
    except BaseException:  # noqa: BLE001 - it is another process
        traceback.print_exc()
        return 2
