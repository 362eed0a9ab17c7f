"""The collection, in every metric and storage, or under cosine."""

from collections.abc import Iterator

import pytest

from langgraph_prefetch.retrieval import PgVectorStore
from tests.retrieval.search.stores import METRICS, STORAGES, open_store


@pytest.fixture(scope="module", params=[(m, s) for m in METRICS for s in STORAGES], ids=lambda p: f"{p[0]}-{p[1]}")
def store(shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[PgVectorStore]:
    with open_store(shared_database_url, *request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def cosine(shared_database_url: str) -> Iterator[PgVectorStore]:
    with open_store(shared_database_url, "cosine", "vector") as opened:
        yield opened
