"""Every test here may ask for a database of its own, or for one that it shares with the other tests of its file."""

from collections.abc import Iterator

import pytest

from tests.postgres import database_url, fresh_database, postgres_server

__all__ = ["database_url", "postgres_server", "shared_database_url"]


@pytest.fixture(scope="module")
def shared_database_url(postgres_server: str) -> Iterator[str]:
    """A database for all tests of a file, each of which names its own collections: making one takes a while."""
    with fresh_database(postgres_server) as url:
        yield url
