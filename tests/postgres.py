"""A real PostgreSQL with pgvector for tests: the server that `DATABASE_URL` names, or one of our own from the wheel."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from langgraph_prefetch.retrieval.embedded import temporary


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The libpq URL of a server whose `postgres` user may make databases."""
    given = os.environ.get("DATABASE_URL")
    if given:
        yield given
        return
    with temporary(durable=False) as server:
        yield server.url


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """The SQLAlchemy URL of an empty database on that server, dropped afterwards."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    try:
        yield _in_database(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"drop database if exists {name} with (force)".encode())


@pytest.fixture
def database_url(postgres_server: str) -> Iterator[str]:
    """An empty database of the test's own, as a SQLAlchemy URL."""
    with fresh_database(postgres_server) as url:
        yield url


def _in_database(server: str, name: str) -> str:
    info = psycopg.conninfo.conninfo_to_dict(server)
    user, password = info.get("user", "postgres"), info.get("password", "")
    host, port = info.get("host", ""), info.get("port", 5432)
    login = f"{user}:{password}@" if password else f"{user}@"
    if str(host).startswith("/"):
        return f"postgresql+psycopg://{login}/{name}?host={host}"
    return f"postgresql+psycopg://{login}{host}:{port}/{name}"
