"""Forks share no connection, and the interpreter ends although a query hangs."""

import subprocess
import sys
import textwrap

from tests.retrieval.light import LIGHT

PREAMBLE = """
    import asyncio, os, signal, sys, threading
    import sqlalchemy as sa
    from langgraph_prefetch.retrieval.database import Database, PoolLimits
    database = Database.open(sys.argv[1], limits=PoolLimits(connections=1, wait_seconds=20))
    def pid(connection):
        return connection.execute(sa.text("select pg_backend_pid()")).scalar_one()
    def sleeps(connection):
        connection.execute(sa.text("select pg_sleep(600)"))
"""


def program(text: str, url: str) -> str:
    """Run it in a process of its own, and return what it prints."""
    code = LIGHT + textwrap.dedent(PREAMBLE) + textwrap.dedent(text)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, url],
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


def test_a_child_has_connections_of_its_own(database_url: str) -> None:
    """Also while the parent's pool is full, and from event loops; the parent's survives the child, idle or in use."""
    said = program(
        """
        def fork():
            child = os.fork()
            if child == 0:
                theirs = database.run(pid)
                assert theirs != mine
                assert asyncio.run(database.arun(pid)) == theirs
                database.close()
                os._exit(0)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        mine = database.run(pid)
        asyncio.run(database.arun(pid))
        print(fork(), database.run(pid) == mine)
        with database.connection() as held:
            print(fork(), pid(held) == mine)
        print(database.run(pid) == mine, database.in_use)
        database.close()
        """,
        database_url,
    )
    assert said.split() == ["0", "True", "0", "True", "True", "0"]


def test_a_fork_while_another_thread_works(database_url: str) -> None:
    """The child neither waits for that thread's connection nor for a lock that it held; never closing is no noise."""
    said = program(
        """
        inside, go_on = threading.Event(), threading.Event()
        def waits(connection):
            inside.set()
            go_on.wait(30)
            return pid(connection)
        found = []
        thread = threading.Thread(target=lambda: found.append(database.run(waits)))
        thread.start()
        inside.wait(30)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            print("child", isinstance(database.run(pid), int), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        go_on.set()
        thread.join()
        print("parent", database.run(pid) == found[0])
        """,
        database_url,
    )
    assert said.split() == ["child", "True", "parent", "True"]


def test_the_interpreter_ends_although_a_query_runs(database_url: str) -> None:
    """Nobody waits ten minutes for it; and a database that was never closed is no reason to warn."""
    said = program(
        """
        async def main():
            task = asyncio.create_task(database.arun(sleeps))
            while not database.in_use:
                await asyncio.sleep(0.01)
            print("running")
            os.kill(os.getpid(), signal.SIGUSR1)
            await task
        def leave(*_):
            raise SystemExit(0)
        signal.signal(signal.SIGUSR1, leave)
        asyncio.run(main())
        """,
        database_url,
    )
    assert said.split() == ["running"]
