"""A collection that the tests of searches share, and searches that go through its index."""

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from langgraph_prefetch.passages import Metric, Neighbourhood
from langgraph_prefetch.retrieval import Nearest, PgVectorStore, SearchOptions
from langgraph_prefetch.retrieval.schema import Storage
from tests.retrieval.search.made import DIMENSIONS, Given, numbered, unit

ROWS, PARTS = 3_000, 100
VECTORS = unit(ROWS)
QUERIES = unit(20, seed=2)
FORCED = "enable_sort = off"
METRICS: list[Metric] = ["cosine", "l2", "inner_product"]
STORAGES: list[Storage] = ["vector", "halfvec"]


def open_store(url: str, metric: Metric, storage: Storage, vectors: NDArray[np.float32] = VECTORS) -> PgVectorStore:
    given = numbered(vectors)
    store = PgVectorStore(
        Given(given), url=url, collection=f"{metric} {storage}", metric=metric, storage=storage, dimensions=DIMENSIONS
    )
    if not store.count():
        data = [{"part": at % PARTS, "even": at % 2 == 0} for at in range(len(vectors))]
        store.add_texts(list(given), data, ids=[f"{at:04}" for at in range(len(vectors))])
        store.create_index()
    return store


def through_the_index(
    store: PgVectorStore,
    query: NDArray[np.float32],
    k: int,
    fits: dict[str, Any] | None = None,
    *,
    and_set: str = FORCED,
    exact: bool | None = False,
) -> Nearest:
    """A search for which PostgreSQL finds sorting too dear: of few rows it would rather sort all."""
    search = store._searcher.nearest(query, k, SearchOptions(filter=fits, exact=exact))

    def work(connection: sa.Connection) -> Nearest:
        connection.exec_driver_sql(f"set local {FORCED}; set local {and_set}")
        return search(connection)

    return store.database.run(work)


def around_through_the_index(
    store: PgVectorStore, anchor: NDArray[np.float32], n: int, fits: dict[str, Any]
) -> Neighbourhood:
    """As ``through_the_index``, with vectors."""
    search = store._searcher.neighbourhood(anchor, n, SearchOptions(filter=fits, exact=False))

    def work(connection: sa.Connection) -> Neighbourhood:
        connection.exec_driver_sql(f"set local {FORCED}")
        return search(connection)

    return store.database.run(work)
