"""What a server lacks is said at the start: no pgvector, one in another schema, one without half-precision floats."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from pgvector import HalfVector, Vector

from langgraph_prefetch.errors import ExtensionMissingError, ReadOnlyServerError
from langgraph_prefetch.retrieval.database import Abilities, Database
from langgraph_prefetch.retrieval.database.abilities import numbers
from langgraph_prefetch.retrieval.database.address import parse
from langgraph_prefetch.retrieval.database.checking import complaint

ABLE: dict[str, Any] = {
    "server": "18.6",
    "server_number": 180006,
    "pgvector": "0.8.6",
    "extension_schema": "public",
    "available": "0.8.6",
    "halfvec": True,
    "iterative_scan": True,
    "read_only": False,
    "may_create_tables": True,
}
HERE = parse("postgresql://ann:hush@h/d")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database.open(database_url) as opened:
        yield opened


def run(database: Database, sql: str, **values: object) -> object:
    def work(connection: sa.Connection) -> object:
        result = connection.execute(sa.text(sql), values)
        return result.scalar() if result.returns_rows else None

    return database.run(work)


def test_what_is_wrong() -> None:
    """The first thing to do something about, with what to do."""
    assert complaint(Abilities(**ABLE), HERE, writable=True) is None
    replica = Abilities(**ABLE | {"read_only": True})
    assert isinstance(complaint(replica, HERE, writable=True), ReadOnlyServerError)
    assert complaint(replica, HERE, writable=False) is None
    bare = complaint(Abilities(**ABLE | {"pgvector": None}), HERE, writable=True)
    assert str(bare) == (
        "PostgreSQL at ann@h/d has no extension vector: run `create extension if not exists vector` there"
    )
    without = complaint(Abilities(**ABLE | {"pgvector": None, "available": None}), HERE, writable=True)
    assert "install it on the server" in str(without)


@pytest.mark.parametrize(("text", "found"), [("0.8.6", (0, 8, 6)), ("0.10", (0, 10)), (None, ()), ("0.8-dev", (0, 8))])
def test_versions(text: str | None, found: tuple[int, ...]) -> None:
    """They compare as numbers."""
    assert numbers(text) == found


def test_the_extension_is_created(database: Database) -> None:
    """Where it may be; connections that were opened before know its types afterwards."""
    assert run(database, "select 1") == 1
    assert database.abilities().pgvector is None
    found = database.check()
    assert found == database.abilities()
    assert (found.extension_schema, found.halfvec, found.iterative_scan) == ("public", True, True)
    assert (found.read_only, found.may_create_tables) == (False, True)
    assert run(database, "select '[1,2]'::vector") == Vector([1, 2])
    assert run(database, "select :v <-> '[3,4]'::vector", v=np.zeros(2, np.float32)) == 5.0


def test_the_extension_is_missing(database: Database) -> None:
    """And must not be created: the SQL is in the message."""
    with pytest.raises(ExtensionMissingError, match="run `create extension if not exists vector`") as caught:
        database.check(create_extension=False)
    assert caught.value.sql == "create extension if not exists vector"


def test_a_user_without_the_right(database: Database, database_url: str) -> None:
    """The server's reason, and the SQL for whoever may."""
    role = f"poor_{sa.make_url(database_url).database}"
    run(database, f"create role {role} login")
    try:
        with Database.open(sa.make_url(database_url).set(username=role)) as poor:
            with pytest.raises(ExtensionMissingError, match="permission denied") as caught:
                poor.check()
            assert caught.value.sql
            assert not poor.abilities().may_create_tables
    finally:
        run(database, f"drop role {role}")


def test_the_extension_in_another_schema(database: Database) -> None:
    """Its types are known all the same, and the schema is told to whoever writes the SQL."""
    run(database, "create schema ext")
    run(database, "create extension vector schema ext")
    assert database.check().extension_schema == "ext"
    assert run(database, "select '[1,2]'::ext.vector") == Vector([1, 2])
    assert run(database, "select '[1,2]'::ext.halfvec") == HalfVector([1, 2])


def test_an_extension_without_half_precision(database: Database) -> None:
    """As versions before 0.7: one ability fewer, and no error, neither now nor at a query."""
    run(database, "create extension vector")
    run(database, "alter extension vector drop type halfvec")
    found = database.check()
    assert not found.halfvec
    assert found.pgvector
    assert run(database, "select '[1,2]'::vector") == Vector([1, 2])


def test_an_extension_that_is_dropped(database: Database) -> None:
    """Connections that knew it still work, and so do those that are opened now."""
    database.check()
    run(database, "drop extension vector")
    with database.connection() as first, database.connection() as second:
        assert first.execute(sa.text("select 1")).scalar() == second.execute(sa.text("select 1")).scalar() == 1
    assert database.abilities().pgvector is None


def test_a_read_only_database(database: Database, database_url: str) -> None:
    """Said at the start, unless no writes are wanted."""
    database.check()
    name = sa.make_url(database_url).database
    run(database, f"alter database {name} set default_transaction_read_only = on")
    with Database.open(database_url, prepared_statements=False) as readers:
        with pytest.raises(ReadOnlyServerError):
            readers.check()
        assert readers.check(writable=False).read_only


def test_two_processes_create_it_at_once(database_url: str) -> None:
    """The second one waits, and finds it there."""
    start, found = threading.Barrier(4, timeout=30), list[str | None]()

    def create(statements: bool) -> None:
        with Database.open(database_url, prepared_statements=statements) as database:
            start.wait()
            found.append(database.check().pgvector)

    threads = [threading.Thread(target=create, args=(number % 2 == 0,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 4
    assert None not in found


def test_statements_are_prepared_unless_told(database_url: str) -> None:
    """Without a pooler in between the driver may prepare them, which saves their planning."""
    for wanted, threshold in ((None, 5), (True, 5), (False, None)):
        with Database.open(database_url, prepared_statements=wanted) as database, database.connection() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            assert driver.prepare_threshold == threshold
