"""The driver's own cursor inside a transaction of SQLAlchemy, for what only the driver can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.retrieval.schema.vectors import takes_binary


@contextmanager
def driver_cursor(connection: sa.Connection) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor of psycopg's, which takes ``Binary`` parameters and gives binary results.

    Raises:
        sqlalchemy.exc.DBAPIError: the driver raised, as it would be from SQLAlchemy's own methods.
    """
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


def fetch_one(cursor: psycopg.Cursor[Any], query: str, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row of a query that gives one.

    Planned anew each time: a plan made while a table was empty would read it whole when it is full.
    """
    row: tuple[Any, ...] | None = cursor.execute(query.encode(), parameters, prepare=False).fetchone()
    assert row is not None
    return row


def copy_in(cursor: psycopg.Cursor[Any], table: str, fields: Iterable[str], stream: Iterable[memoryview]) -> None:
    """Send a binary COPY stream, piece by piece, as it is made."""
    statement = f"copy {table} ({', '.join(fields)}) from stdin (format binary)"
    with cursor.copy(statement.encode()) as copy:
        for piece in stream:
            copy.write(piece)
