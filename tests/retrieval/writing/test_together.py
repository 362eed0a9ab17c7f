"""Several writers at once, and writers that are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest
import sqlalchemy as sa

from langgraph_prefetch.passages import Written
from langgraph_prefetch.retrieval import driver
from langgraph_prefetch.retrieval.writing import CopyWriter
from tests.retrieval.light import LIGHT
from tests.retrieval.writing.batches import Passage, Table, batch, many

CHILD = f"""{LIGHT}
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.schema import find
from langgraph_prefetch.retrieval.writing import CopyWriter, writer
from tests.retrieval.writing.batches import batch, many

url, name = sys.argv[1:3]
whole = writer.copy_stream

def cut_off(*arguments, **options):
    for number, piece in enumerate(whole(*arguments, **options, block=2_000)):
        yield piece
        if number == 3:
            print("in the middle", flush=True)
            sys.stdin.read()

database = Database.open(url)
into = CopyWriter(database, database.run(lambda connection: find(connection, name, "public")))
print(into.write(batch(many(100))), flush=True)
writer.copy_stream = cut_off
into.write(batch(many(100, first=int(sys.argv[3]))))
"""


def at_once(*work: Callable[[], Written]) -> list[Written]:
    """Run functions on threads that start together."""
    barrier = threading.Barrier(len(work))

    def start(each: Callable[[], Written]) -> Written:
        barrier.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as threads:
        return list(threads.map(start, work))


def test_two_writers_of_the_same_rows_in_opposite_order(passages: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """They wait for each other instead of locking each other out; each row is of one of them, and the counts add up."""
    monkeypatch.setattr(driver, "_ATTEMPTS", 1)  # a deadlock would be an error
    for round_ in range(8):
        rows = many(400, first=round_ // 2 * 400)  # new ones, then the same again
        ours = [replace(row, text=f"ours {round_}") for row in rows]
        theirs = [replace(row, text=f"theirs {round_}") for row in rows][::-1]
        done = at_once(*(partial(_write, passages, [each]) for each in (ours, theirs)))
        texts = {row[1] for key, row in passages.rows().items() if key in {each.id for each in rows}}
        assert len(texts) == 1, "the whole batch of whoever came last"
        assert texts <= {f"ours {round_}", f"theirs {round_}"}
        new = 400 if round_ % 2 == 0 else 0
        assert done[0] + done[1] == Written(added=new, updated=800 - new)


def test_overlapping_batches_of_many_writers(passages: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four writers whose batches share rows by halves: no row is lost, none is there twice."""
    monkeypatch.setattr(driver, "_ATTEMPTS", 1)
    rows = many(600)

    def write(start: int) -> Callable[[], Written]:
        parts = [rows[place : place + 200] for place in (start, (start + 100) % 400)]
        return partial(_write, passages, parts)

    total = sum(at_once(*(write(start) for start in (0, 100, 200, 400))), start=Written())
    assert total.added == len(passages.rows()) == 600
    assert total == Written(added=600, unchanged=4 * 2 * 200 - 600)


def test_a_row_that_another_writer_commits_just_so_meanwhile(passages: Table) -> None:
    """It was not there when the upsert began, which waited for it: compared again, and neither written nor counted."""
    known, new = many(2)
    _write(passages, [[known]])
    CopyWriter(passages.database, passages.collection, tenant="other").write(batch([new]))
    fields = "id, source, text, metadata, content_hash, embedding"
    table = passages.collection.table_name
    waiting = f"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%{table}%%'"
    with ThreadPoolExecutor(1) as thread:
        with passages.database.connection() as theirs:
            theirs.exec_driver_sql(
                f"insert into {table} (tenant, {fields}) select '', {fields} from {table} where tenant = 'other'"
            )
            ours = thread.submit(_write, passages, [[replace(known, text="changed"), new]])
            with passages.database.connection(autocommit=True) as asking:
                while not asking.exec_driver_sql(waiting).scalar_one():
                    assert not ours.done()
                    time.sleep(0.01)
        assert ours.result(60) == Written(updated=1, unchanged=1)


def _write(passages: Table, parts: Sequence[Sequence[Passage]]) -> Written:
    into = CopyWriter(passages.database, passages.collection)
    return sum((into.write(batch(part)) for part in parts), start=Written())


@pytest.fixture
def child(passages: Table) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    address = passages.database._joined().address
    assert isinstance(address, sa.URL)
    url = address.render_as_string(hide_password=False)

    def start(*, first: int) -> subprocess.Popen[str]:
        arguments = [url, passages.collection.spec.name, str(first)]
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("first", [100, 50], ids=["straight", "staged"])
def test_a_writer_that_is_killed_in_the_middle(
    passages: Table, child: Callable[..., subprocess.Popen[str]], first: int
) -> None:
    """Whole batches stand, the one that was cut off left nothing, and a rerun gives the rows of an undisturbed run."""
    killed = child(first=first)
    assert killed.stdout is not None
    assert killed.stdout.readline().startswith("Written(added=100")
    assert killed.stdout.readline() == "in the middle\n"
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    expected: list[Passage] = many(100)
    assert set(passages.rows()) == {row.id for row in expected}
    into = CopyWriter(passages.database, passages.collection)
    assert into.write(batch(expected)) == Written(unchanged=100)
    assert into.write(batch(many(100, first=first))) == Written(added=first, updated=100 - first)
    assert len(passages.rows()) == 100 + first
