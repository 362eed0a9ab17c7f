"""A table to write into, in a database that the tests of a module share."""

from collections.abc import Iterator

import pytest

from langgraph_prefetch.retrieval.database import Database
from tests.postgres import fresh_database
from tests.retrieval.writing.batches import Table, table


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[Database]:
    with fresh_database(postgres_server) as url, Database.open(url) as opened:
        yield opened


@pytest.fixture
def passages(database: Database) -> Iterator[Table]:
    with table(database) as made:
        yield made
