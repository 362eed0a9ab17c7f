"""Behind a real PgBouncer in transaction mode, where the next transaction may run on another connection."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from langgraph_prefetch.retrieval.database import Database, PoolLimits

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
REQUIRED = os.environ.get("LANGGRAPH_PREFETCH_TEST_POOLER") == "required"
pytestmark = pytest.mark.skipif(PROGRAM is None and not REQUIRED, reason="pgbouncer is not installed")


@pytest.fixture
def pooled_url(database_url: str, tmp_path: Path) -> Iterator[str]:
    """The database behind a pooler with two connections to the server."""
    assert PROGRAM is not None, "pgbouncer is required here, and is not installed"
    url = sa.make_url(database_url)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = tmp_path / "pgbouncer.ini"
    host = url.query.get("host") or url.host
    settings.write_text(
        f"""
[databases]
pooled = host={host} port={url.port or 5432} dbname={url.database} user={url.username} password={url.password or "x"}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
""",
        encoding="utf-8",
    )
    with subprocess.Popen(
        [PROGRAM, "-q", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **_not_as_root(tmp_path)
    ) as pooler:
        try:
            pooled = f"postgresql://ann@127.0.0.1:{port}/pooled"
            _until_it_answers(pooled)
            yield pooled
        finally:
            pooler.kill()


def _not_as_root(folder: Path) -> dict[str, Any]:
    """It refuses to be root, and must be able to reach the server's socket: so it runs as the server's user."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("embedded_postgres")
    for each in (folder, *folder.parents[:2]):
        if each.owner() == "root" and str(each).startswith("/tmp/"):
            each.chmod(0o755)
    return {"user": user.pw_uid, "group": user.pw_gid}


def _until_it_answers(url: str) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def one(connection: sa.Connection) -> int:
    return int(connection.execute(sa.text("select :x + 1"), {"x": 0}).scalar_one())


async def twenty_at_once(database: Database) -> list[int]:
    """Often enough for the driver to prepare the statement."""
    results = list[int]()
    for _ in range(10):
        results += await asyncio.gather(*(database.arun(one) for _ in range(20)))
    return results


async def test_twenty_at_once(pooled_url: str) -> None:
    """Their statements do not collide: nothing is missing, nothing is there twice."""
    with Database.open(pooled_url, limits=PoolLimits(connections=20)) as database:
        assert await twenty_at_once(database) == [1] * 200
        assert database.in_use == 0


def test_the_pooler_is_noticed(pooled_url: str) -> None:
    """Statements are not prepared there, without anybody saying so."""
    with Database.open(pooled_url) as database, database.connection() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        assert driver.prepare_threshold is None


async def test_prepared_statements_would_collide(pooled_url: str) -> None:
    """So these tests can fail: told to prepare them, the same work does (PgBouncer before 1.21)."""
    version = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True, check=True).stdout  # noqa: ASYNC221
    if tuple(map(int, version.split()[1].split(".")[:2])) >= (1, 21):
        pytest.skip("this PgBouncer follows prepared statements")
    limits = PoolLimits(connections=20)
    with Database.open(pooled_url, limits=limits, prepared_statements=True) as database:
        with pytest.raises(sa.exc.DBAPIError, match="prepared statement"):
            await twenty_at_once(database)
        while database.in_use:  # noqa: ASYNC110 - the others of the twenty
            await asyncio.sleep(0.005)


async def test_a_query_is_cancelled_through_it(pooled_url: str) -> None:
    """And the next one is not hit."""
    asked = sa.text("select count(*) from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'")

    def sleeps(connection: sa.Connection) -> None:
        connection.execute(sa.text("select pg_sleep(60)"))

    with Database.open(pooled_url, limits=PoolLimits(connections=2)) as database:
        task = asyncio.create_task(database.arun(sleeps))
        while not await database.arun(lambda connection: connection.execute(asked).scalar_one()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert database.in_use == 0
        assert [await database.arun(one), await database.arun(one)] == [1, 1]


def test_the_check_works_behind_it(pooled_url: str) -> None:
    """It keeps no state in the session."""
    with Database.open(pooled_url) as database:
        assert database.check().iterative_scan
