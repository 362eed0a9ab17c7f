"""The schema's steps: run once, in any schema, by any number of processes, and never edited afterwards."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError, SchemaVersionError
from langgraph_prefetch.retrieval.schema import migration
from langgraph_prefetch.retrieval.schema.migration import VERSION_TABLE, migrate, newest, version
from tests.retrieval.light import LIGHT

FOLDER = Path(migration.__file__).with_name("migrations")
RECORDED = Path(__file__).with_name("migrations.sha256")


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(database_url)
    yield made
    made.dispose()


def digests() -> dict[str, str]:
    steps = sorted(FOLDER.glob("m*.py"))
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in steps}


def test_steps_are_only_ever_appended() -> None:
    """A recorded step is as it was; a new one must be recorded, with the next number, after those that were there."""
    recorded = dict(line.split()[::-1] for line in RECORDED.read_text().splitlines())
    found = digests()
    assert list(found) == list(recorded), "record a new step: its line goes to the end of migrations.sha256"
    assert found == recorded, "a step was edited; databases have run it: make a new one"


def test_steps_are_numbered_without_a_gap() -> None:
    """Step m0002 follows m0001, and says so in its revision."""
    for number, name in enumerate(digests(), start=1):
        text = (FOLDER / name).read_text()
        assert name.startswith(f"m{number:04}_")
        assert f'revision = "{number:04}"\n' in text
        before = f'"{number - 1:04}"' if number > 1 else None
        assert f"down_revision = {before}\n" in text


@pytest.mark.parametrize("schema", ["public", "prefetch", "With Spaces-and Case"])
def test_a_fresh_database_and_an_existing_one(engine: sa.Engine, schema: str) -> None:
    """The first run makes everything, in whatever schema; the next finds nothing to do."""
    with engine.begin() as connection:
        migrate(connection, schema)
        assert version(connection, schema) == newest()
    with engine.begin() as connection:
        connection.exec_driver_sql("set transaction read only")  # nothing to do means nothing written
        migrate(connection, schema)


def test_an_older_database_is_brought_up_to_date(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """From each earlier version, with what stands in it."""
    record = "insert into {}.prefetch_records values ('n', 'k', '{}', 1)"
    versions = [each.revision for each in reversed(list(migration._steps().walk_revisions()))]
    for number in versions[:-1]:
        schema = f"from_{number}"
        with monkeypatch.context() as older, engine.begin() as connection:
            steps = migration._steps()
            older.setattr(migration, "newest", lambda number=number: number)
            upgrade = steps._upgrade_revs
            older.setattr(steps, "_upgrade_revs", lambda _, now, number=number, upgrade=upgrade: upgrade(number, now))
            migrate(connection, schema)
            assert version(connection, schema) == number
            if number >= "0002":
                connection.exec_driver_sql(record.format(schema, "short"))
        with engine.begin() as connection:
            migrate(connection, schema)
            assert version(connection, schema) == newest() == versions[-1]
            connection.exec_driver_sql(record.format(schema, "x").replace("'k'", "'other'"))
    with engine.begin() as connection:
        assert connection.exec_driver_sql("select count(*) from from_0002.prefetch_records").scalar() == 2


def test_schemas_of_one_database_are_apart(engine: sa.Engine) -> None:
    """Each schema has its own tables and its own version."""
    with engine.begin() as connection:
        migrate(connection, "one")
        assert version(connection, "two") is None
        migrate(connection, "two")
    for schema in ("one", "two"):
        assert {VERSION_TABLE, "prefetch_collections"} <= set(sa.inspect(engine).get_table_names(schema))
    assert sa.inspect(engine).get_table_names("public") == []


def test_a_failed_run_leaves_nothing(engine: sa.Engine) -> None:
    """All steps or none: what went before the failure is undone with it."""
    with engine.begin() as connection:  # in the way of a table that the steps make
        connection.exec_driver_sql("create table prefetch_collections (mine int)")
    with pytest.raises(sa.exc.ProgrammingError), engine.begin() as connection:
        migrate(connection, "public")
    with engine.begin() as connection:
        assert version(connection, "public") is None
        assert sa.inspect(connection).get_sequence_names() == []


def test_many_threads_at_once(engine: sa.Engine) -> None:
    """Threads that start together all find the schema up to date in the end."""

    def start(_: int) -> None:
        with engine.begin() as connection:
            migrate(connection, "public")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(start, range(4)))
    with engine.begin() as connection:
        assert version(connection, "public") == newest()


PROCESS = """
import sys, sqlalchemy as sa
from langgraph_prefetch.retrieval.schema import migrate
engine = sa.create_engine(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
with engine.begin() as connection:
    migrate(connection, "shared")
"""


@pytest.mark.slow
def test_many_processes_at_once(database_url: str, engine: sa.Engine) -> None:
    """Processes that start together do not get into each other's way."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", f"{LIGHT}{PROCESS}", database_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for each in started:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in started:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    assert [(each.communicate(timeout=50)[1], each.returncode) for each in started] == [("", 0)] * 2
    with engine.begin() as connection:
        assert version(connection, "shared") == newest()


def test_a_newer_schema_is_refused(engine: sa.Engine) -> None:
    """An old package does not touch what a newer one made, and says what to do."""
    with engine.begin() as connection:
        migrate(connection, "public")
        connection.exec_driver_sql(f"update {VERSION_TABLE} set version_num = '9999'")
    with engine.begin() as connection, pytest.raises(SchemaVersionError, match=r"9999.*upgrade langgraph-prefetch"):
        migrate(connection, "public")


@pytest.mark.parametrize("schema", ["", "a'b", 'a"b', "a;b", ":x", "%s", "x" * 64, "a\n", "pg_mine", "a\0", 3])
def test_a_name_that_is_none_is_refused(engine: sa.Engine, schema: Any) -> None:
    """What cannot stand in SQL as a name is refused before any SQL is made of it."""
    with engine.begin() as connection, pytest.raises(ConfigurationError, match="schema's name"):
        migrate(connection, schema)
