"""The same code path from event loops: none is blocked, none owns anything, cancelling cancels the query."""

import asyncio
import contextvars
import gc
import threading
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import DatabaseBusyError, DatabaseClosedError, SpeculationRejectedError
from langgraph_prefetch.retrieval.database import Database, PoolLimits
from langgraph_prefetch.speculative import is_speculative, speculating

LIMITS = PoolLimits(connections=2, wait_seconds=20)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database.open(database_url, limits=LIMITS) as opened:
        yield opened


def one(connection: sa.Connection) -> int:
    return int(connection.execute(sa.text("select 1")).scalar_one())


def sleeps(connection: sa.Connection) -> None:
    connection.execute(sa.text("select pg_sleep(60)"))


async def until_queries_run(database: Database, count: int) -> None:
    """Wait until the server works on so many sleeping queries."""
    asked = sa.text("select count(*) from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'")
    assert database._pool is not None
    url = database._pool.address
    assert isinstance(url, sa.URL)
    with Database.open(url, limits=PoolLimits(connections=1)) as other:
        while await other.arun(lambda connection: connection.execute(asked).scalar_one()) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def test_many_loops_and_threads(database: Database) -> None:
    """Made outside any loop, used from two, one after the other and at once, and from plain threads."""
    assert asyncio.run(database.arun(one)) == 1
    assert asyncio.run(database.arun(one)) == 1
    both, results = threading.Barrier(2, timeout=30), list[int]()

    def use() -> None:
        both.wait()
        results.append(asyncio.run(database.arun(one)) + database.run(one))

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [2, 2]
    assert database.in_use == 0


async def test_closing(database_url: str) -> None:
    """The loop is not blocked by it; no connection is left, and no thread; and twice is nothing."""
    async with Database.open(database_url) as database:
        driver = await database.arun(lambda connection: connection.connection.driver_connection)
        assert isinstance(driver, psycopg.Connection)
        await database.aclose()
        assert driver.closed
        await database.aclose()
    with pytest.raises(DatabaseClosedError):
        await database.arun(one)


async def test_a_call_that_waits_while_the_last_user_leaves(database_url: str) -> None:
    """It is told, rather than kept waiting for a thread that has gone, and the pool does not rise again for it."""
    database = Database.open(database_url, limits=LIMITS)
    both = threading.Barrier(2, timeout=30)
    await asyncio.gather(*(database.arun(lambda _: both.wait()) for _ in range(2)))  # two threads, free from now on
    pool = database._pool
    assert pool is not None
    with database.connection(), database.connection():
        waiting = asyncio.create_task(database.arun(one))
        while not pool.gate.house.real_waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await asyncio.to_thread(database.close)
    with pytest.raises(DatabaseClosedError):
        await asyncio.wait_for(waiting, 30)
    assert pool.in_use() == 0
    assert pool._engine is None


async def test_context_and_thread(database: Database) -> None:
    """The work runs on a thread of the database's own, never the loop's executor, and sees the caller's variables."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")
    name, seen = await database.arun(lambda _: (threading.current_thread().name, variable.get()))
    assert name == "langgraph-prefetch-database"
    assert seen == "mine"


async def test_errors_come_out(database: Database) -> None:
    """As the work raised them, StopIteration aside, which no future can carry."""

    def raises(error: BaseException) -> None:
        raise error

    with pytest.raises(KeyError, match="mine"):
        await database.arun(lambda _: raises(KeyError("mine")))
    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.arun(lambda _: raises(StopIteration()))


async def test_cancelling_cancels_the_query(database: Database) -> None:
    """When the cancelled call returns, the connection is back and unhurt."""
    task = asyncio.create_task(database.arun(sleeps))
    await until_queries_run(database, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert database.in_use == 0
    assert await database.arun(one) == 1


async def test_nobody_is_told_of_an_error_after_a_call_was_cancelled(database_url: str) -> None:
    """Work that cannot be cancelled may fail later: that is no forgotten error for the loop to report."""
    reported, begun, go_on = list[object](), threading.Event(), threading.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    def fails(_: sa.Connection) -> None:
        begun.set()
        go_on.wait(30)
        raise KeyError("mine")

    with Database.open(database_url, limits=PoolLimits(connections=1, cancel_seconds=0.01)) as database:
        task = asyncio.create_task(database.arun(fails))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        go_on.set()
        assert await database.arun(one) == 1
    await asyncio.sleep(0)
    gc.collect()
    assert reported == []


async def test_cancelling_between_two_queries(database: Database) -> None:
    """A request that hits no query is made again: work that goes on to the next one ends there."""
    begun, go_on = threading.Event(), threading.Event()

    def pauses(connection: sa.Connection) -> None:
        begun.set()
        go_on.wait(30)
        sleeps(connection)

    task = asyncio.create_task(database.arun(pauses))
    await asyncio.to_thread(begun.wait, 30)
    task.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert database.in_use == 0


async def test_cancelling_a_call_that_waits(database: Database) -> None:
    """It leaves the queue, and nothing of it runs."""
    busy = [asyncio.create_task(database.arun(sleeps)) for _ in range(2)]
    await until_queries_run(database, 2)
    ran = list[int]()
    waiting = asyncio.create_task(database.arun(lambda _: ran.append(1)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    for task in busy:
        task.cancel()
    ended = await asyncio.gather(waiting, *busy, return_exceptions=True)
    assert [type(each) for each in ended] == [asyncio.CancelledError] * 3
    assert ran == []
    assert database.in_use == 0


async def test_a_real_call_is_served_before_fifty_speculations(database: Database) -> None:
    """Pool of two: speculation holds one connection at most, the real call has the other one at once."""
    order = list[str]()
    release = threading.Event()

    def note(connection: sa.Connection) -> None:
        if is_speculative():
            release.wait(30)
        one(connection)
        order.append("speculation" if is_speculative() else "real")

    async def speculate() -> None:
        speculating.set(True)
        await database.arun(note)

    speculations = [asyncio.create_task(speculate()) for _ in range(50)]
    await asyncio.sleep(0.01)
    await database.arun(note)
    release.set()
    await asyncio.gather(*speculations)
    assert order == ["real"] + ["speculation"] * 50
    assert database.in_use == 0


async def test_fifty_cancelled_speculations_leave_nothing(database: Database) -> None:
    """In use or in the queue, all are gone, and the next call is served."""

    async def speculate() -> None:
        speculating.set(True)
        await database.arun(sleeps)

    speculations = [asyncio.create_task(speculate()) for _ in range(50)]
    await until_queries_run(database, 1)
    for each in speculations:
        each.cancel()
    await asyncio.gather(*speculations, return_exceptions=True)
    assert database.in_use == 0
    assert await database.arun(one) == 1


async def test_waiting_ends_in_time(database_url: str) -> None:
    """An error for a real call, a rejection for a speculation; no thread waits for either."""
    with Database.open(database_url, limits=PoolLimits(connections=1, wait_seconds=0.05)) as database:
        with database.connection():
            with pytest.raises(DatabaseBusyError):
                await database.arun(one)
            token = speculating.set(True)
            with pytest.raises(SpeculationRejectedError):
                await database.arun(one)
            speculating.reset(token)
        assert await database.arun(one) == 1


async def test_a_loop_that_is_closed_under_its_call(database: Database) -> None:
    """The work ends by itself, and gives its connection back."""
    begun, go_on = threading.Event(), threading.Event()

    def waits(_: sa.Connection) -> None:
        begun.set()
        go_on.wait(30)

    def abandon() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(database.arun(waits))
        while not begun.is_set():
            loop.run_until_complete(asyncio.sleep(0.005))
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.close()

    await asyncio.to_thread(abandon)
    go_on.set()
    while database.in_use:  # noqa: ASYNC110 - nobody is left to be told
        await asyncio.sleep(0.005)
    assert await database.arun(one) == 1
