"""The driver's own cursor inside a transaction, for what only the driver can do: COPY, binary values, plain plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from langgraph_prefetch.errors import MissingExtraError

try:
    import psycopg
    import sqlalchemy as sa
    from sqlalchemy.exc import DBAPIError
except ImportError as error:
    raise MissingExtraError(error.name or "psycopg", "postgres") from error

from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.schema.vectors import takes_binary

T = TypeVar("T")
Cursor = psycopg.Cursor[Any]
COPY_HEADER, COPY_TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
"""What a binary COPY stream begins and ends with."""
_ATTEMPTS = 3
VICTIM = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


def in_transaction(
    database: Database, work: Callable[[Cursor], T], *, again: tuple[type[psycopg.Error], ...] = VICTIM
) -> T:
    """Do work with a cursor of the driver's, in a transaction of its own.

    The cursor takes ``Binary`` parameters and gives binary results.

    Args:
        database: where.
        work: what; may be done several times, of which the last counts.
        again: after which errors: where the server chose it as the victim of a deadlock, if not said otherwise.

    Raises:
        sqlalchemy.exc.DBAPIError: the driver raised; the error is as it would be from SQLAlchemy's own methods.
        StoreError: see ``Database.run``.
    """

    def attempt(connection: sa.Connection) -> T:
        with driver_cursor(connection) as cursor:
            return work(cursor)

    for _ in range(_ATTEMPTS - 1):
        try:
            return database.run(attempt)
        except DBAPIError as error:
            if not isinstance(error.orig, again):
                raise
    return database.run(attempt)


def surviving(work: Callable[[sa.Connection], T]) -> Callable[[sa.Connection], T]:
    """Work on a connection in a transaction, done again where the server chose it as the victim of a deadlock.

    Each attempt is behind a savepoint, whose end lets go of what the attempt had locked; so it serves threads and event
    loops alike.
    """

    def attempt(connection: sa.Connection) -> T:
        with connection.begin_nested():
            return work(connection)

    def attempts(connection: sa.Connection) -> T:
        for _ in range(_ATTEMPTS - 1):
            try:
                return attempt(connection)
            except DBAPIError as error:
                if not isinstance(error.orig, psycopg.errors.DeadlockDetected):
                    raise
        return attempt(connection)

    return attempts


@contextmanager
def driver_cursor(connection: sa.Connection) -> Iterator[Cursor]:
    """The driver's cursor on a connection of SQLAlchemy's; see :func:`in_transaction`."""
    takes_binary(connection)
    driver = connection.connection.driver_connection
    assert driver is not None
    try:
        with driver.cursor(binary=True) as cursor:
            yield cursor
    except psycopg.Error as error:
        raised = DBAPIError.instance(
            None, None, error, psycopg.Error, hide_parameters=True, connection_invalidated=driver.closed
        )
        if driver.closed:
            connection.invalidate(error)
        raise raised from error


def execute(cursor: Cursor, query: str, parameters: tuple[Any, ...] = ()) -> int:
    """Run a statement; returns how many rows it changed.

    Planned anew each time: a plan made while a table was empty would read it whole when it is full.
    """
    return cursor.execute(query.encode(), parameters, prepare=False).rowcount


def fetch_one(cursor: Cursor, query: str, parameters: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The row of a query that gives one; planned anew as well."""
    row: tuple[Any, ...] | None = cursor.execute(query.encode(), parameters, prepare=False).fetchone()
    assert row is not None
    return row


def copy_in(cursor: Cursor, table: str, fields: Iterable[str], stream: Iterable[memoryview]) -> None:
    """Send a binary COPY stream, piece by piece, as it is made."""
    statement = f"copy {table} ({', '.join(fields)}) from stdin (format binary)"
    with cursor.copy(statement.encode()) as copy:
        for piece in stream:
            copy.write(piece)
