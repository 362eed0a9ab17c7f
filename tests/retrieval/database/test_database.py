"""Work on a real server: transactions, one pool for all, what is said when the server fails."""

import asyncio
import gc
import socket
import threading
import traceback
from collections.abc import Callable, Iterator

import psycopg
import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import (
    DatabaseBusyError,
    DatabaseClosedError,
    ReadOnlyServerError,
    ServerUnreachableError,
    SpeculationRejectedError,
)
from langgraph_prefetch.retrieval.database import Database, PoolLimits
from langgraph_prefetch.speculative import speculating


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database.open(database_url, limits=PoolLimits(connections=2, wait_seconds=0.05)) as opened:
        yield opened


def execute(sql: str) -> Callable[[sa.Connection], object]:
    """Work that executes a statement, and returns the first column of the first row, if there is one."""

    def work(connection: sa.Connection) -> object:
        result = connection.execute(sa.text(sql))
        return result.scalar() if result.returns_rows else None

    return work


def pid(database: Database) -> object:
    return database.run(execute("select pg_backend_pid()"))


def test_work_is_a_transaction(database: Database) -> None:
    """Committed when it returns, rolled back when it raises; its own error comes out."""
    database.run(execute("create table t (x int)"))

    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.text("insert into t values (1)"))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        database.run(fails)
    with database.connection() as connection:
        connection.execute(sa.text("insert into t values (2)"))
    assert database.run(execute("select array_agg(x) from t")) == [2]
    assert database.in_use == 0


def test_work_runs_on_the_callers_thread(database: Database) -> None:
    """No hop to another one, which would cost more than a search."""
    assert database.run(lambda _: threading.current_thread()) is threading.current_thread()


def test_autocommit(database: Database) -> None:
    """For what PostgreSQL refuses in a transaction; the next user has a transaction again."""
    database.run(execute("create table t (x int)"))
    database.run(execute("create index concurrently on t (x)"), autocommit=True)
    with pytest.raises(sa.exc.DBAPIError, match="cannot run inside a transaction block"):
        database.run(execute("create index concurrently on t (x)"))
    with database.connection(autocommit=True) as connection:
        connection.execute(sa.text("create index concurrently on t (x)"))


def test_one_pool_for_all_users(database: Database, database_url: str) -> None:
    """Equal URL and limits: the same connections. The last user closes them, and closing twice is nothing."""
    limits = PoolLimits(connections=2, wait_seconds=0.05)
    first = pid(database)
    other = Database.open(database_url.replace("+psycopg", ""), limits=limits)
    assert pid(other) == first
    other.close()
    other.close()
    assert pid(database) == first
    with Database.open(database_url) as another_pool:
        assert pid(another_pool) != first


def test_the_last_user_closes_the_connections(database_url: str) -> None:
    """No socket is left."""
    database = Database.open(database_url)
    with database.connection() as connection:
        driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    assert not driver.closed
    database.close()
    assert driver.closed


def test_a_connection_in_use_when_the_last_user_leaves(database_url: str) -> None:
    """It works on until its work is done, and is closed then, not left to the collector."""
    database = Database.open(database_url)
    with database.connection() as connection:
        driver = connection.connection.driver_connection
        database.close()
        assert connection.execute(sa.text("select 1")).scalar() == 1
    assert isinstance(driver, psycopg.Connection)
    assert driver.closed


@pytest.mark.parametrize("use", [lambda d: d.run(print), lambda d: d.connection().__enter__(), lambda d: d.in_use])
def test_a_closed_database(database: Database, use: Callable[[Database], object]) -> None:
    """It says so."""
    database.close()
    with pytest.raises(DatabaseClosedError):
        use(database)


def test_a_full_pool_is_an_error_in_time(database: Database) -> None:
    """It names the limit; a speculation is rejected, which is no error of anybody's."""
    with database.connection(), database.connection():
        with pytest.raises(DatabaseBusyError, match=r"none of 2 connections became free in 0\.05 s") as caught:
            database.run(execute("select 1"))
        assert caught.value.connections == 2
        token = speculating.set(True)
        try:
            with pytest.raises(SpeculationRejectedError):
                database.run(execute("select 1"))
        finally:
            speculating.reset(token)
    assert database.in_use == 0
    assert database.run(execute("select 1")) == 1


def test_a_connection_that_the_server_ended_while_idle(database: Database) -> None:
    """Nobody notices: it is replaced before its next use, without asking the server each time."""
    before = pid(database)
    with psycopg.connect(_libpq(database), autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (before,))
    assert pid(database) != before


def test_a_connection_that_the_server_ends_while_in_use(database: Database) -> None:
    """The server has gone away: said as such, and the next call has a new connection."""
    with pytest.raises(ServerUnreachableError):
        database.run(execute("select pg_terminate_backend(pg_backend_pid())"))
    assert database.run(execute("select 1")) == 1
    assert database.in_use == 0


def test_no_server() -> None:
    """Where it was looked for, and what the driver said; never the password, wherever one looks."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    url = f"postgresql://ann:hush-hush@127.0.0.1:{port}/notes"
    with Database.open(url) as database, pytest.raises(ServerUnreachableError, match="refused") as caught:
        database.run(execute("select 1"))
    assert caught.value.where == f"ann@127.0.0.1:{port}/notes"
    assert "hush-hush" not in "".join(traceback.format_exception(caught.value))


def test_a_login_that_is_refused(database_url: str) -> None:
    """It is told apart by what the server says."""
    url = sa.make_url(database_url).set(username="nobody_of_that_name", password="hush-hush")
    with Database.open(url) as database, pytest.raises(ServerUnreachableError, match="nobody_of_that_name"):
        database.run(execute("select 1"))


def test_a_read_only_server(database: Database) -> None:
    """A write to it is said to be one."""

    def writes(connection: sa.Connection) -> None:
        connection.execute(sa.text("set transaction read only"))
        connection.execute(sa.text("create table t (x int)"))

    with pytest.raises(ReadOnlyServerError, match="name its primary"):
        database.run(writes)


def test_what_was_searched_for_stays_out_of_errors(database: Database) -> None:
    """Parameters of a failed statement are not shown."""
    secret = "ill is who"[::-1]  # or the traceback would show this very line

    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.text("select 1 / (length(:query) - length(:query))"), {"query": secret})

    with pytest.raises(sa.exc.DBAPIError, match="division by zero") as caught:
        database.run(fails)
    assert secret not in "".join(traceback.format_exception(caught.value))


def _libpq(database: Database) -> str:
    assert database._pool is not None
    url = database._pool.address
    assert isinstance(url, sa.URL)
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def test_a_database_that_is_dropped_leaves_the_pool(database_url: str) -> None:
    """Its connections and threads go as if it had been closed, unless another user of the pool is left."""
    limits = PoolLimits(connections=3)  # a pool of this test's own
    kept = Database.open(database_url, limits=limits)
    dropped = Database.open(database_url, limits=limits)
    asyncio.run(dropped.arun(execute("select 1")))
    pool = kept._joined()
    left = threading.Event()
    closing = pool.close

    def close() -> None:
        closing()
        left.set()

    pool.close = close  # type: ignore[method-assign]
    del dropped
    gc.collect()
    assert pid(kept)
    assert not left.is_set()
    del kept
    gc.collect()
    assert left.wait(20)
    assert pool.users == 0
    with pytest.raises(DatabaseClosedError):
        pool.run(execute("select 1"), autocommit=False)


def test_a_database_that_was_closed_is_not_left_twice(database_url: str) -> None:
    """Whoever shares the pool keeps it."""
    limits = PoolLimits(connections=3)
    with Database.open(database_url, limits=limits) as other:
        closed = Database.open(database_url, limits=limits)
        closed.close()
        del closed
        gc.collect()
        assert other._joined().users == 1
        assert pid(other)
