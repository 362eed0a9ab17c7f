"""The certificate against a real PostgreSQL: what is proved is what its own exact search returns."""

from collections.abc import Iterator

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.run import LocalAnswer, NearMiss, NearRun
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.schema import Storage
from tests.near.stores import METRICS, Array
from tests.postgres import fresh_database, postgres_server

__all__ = ["postgres_server"]
ROWS, DIMENSIONS = 400, 16


class Given(Embeddings):
    """The vectors of rows, by their numbers."""

    def __init__(self, vectors: Array) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        made: list[list[float]] = self._vectors[[int(text) for text in texts]].tolist()
        return made

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def passages() -> Array:
    """Clusters, with copies and near copies among them."""
    rng = np.random.default_rng(4)
    found = rng.normal(size=(8, DIMENSIONS))[rng.integers(0, 8, ROWS)] + 0.5 * rng.normal(size=(ROWS, DIMENSIONS))
    found[1::40] = found[0::40]
    found[2::40] = found[0::40] + 1e-6
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float32)


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.mark.parametrize("storage", ["vector", "halfvec"])
@pytest.mark.parametrize("metric", METRICS)
def test_what_is_proved_is_what_the_database_returns(database: str, metric: Metric, storage: Storage) -> None:
    """In order and ties, in the database's own arithmetic and with queries rounded as its storage rounds them."""
    vectors = passages()
    with PgVectorStore(
        Given(vectors),
        url=database,
        collection=f"{metric} {storage}",
        metric=metric,
        storage=storage,
        dimensions=DIMENSIONS,
    ) as store:
        store.add_texts([str(at) for at in range(ROWS)], ids=[f"{at:04}" for at in range(ROWS)])
        rng = np.random.default_rng(1)
        settings = NearSettings(norm_bound=1.01)
        proved = 0
        for at in range(25):
            run = NearRun(settings, Controls(settings), tool="search", scope=None)
            query = (vectors[at * 10] + 0.01 * rng.normal(size=DIMENSIONS)).astype(np.float32)
            for _ in range(2):
                anchor = (query + 0.03 * rng.normal(size=DIMENSIONS)).astype(np.float32)
                run.add(store.neighbourhood(anchor, 120, exact=True))
            found = run.answer(query, k=4, epoch=store.epoch(), draw=0.9)
            assert isinstance(found, LocalAnswer)
            if found.tier == "proved":
                proved += 1
                assert found.ids == tuple(hit.id for hit in store.nearest(query, 4, exact=True).hits)
        assert proved > 4 or (metric, storage) == ("l2", "halfvec")
        through_index = store.neighbourhood(vectors[0], 50, exact=False)
        store.add_texts(["0"], ids=["new"])
        run = NearRun(settings, Controls(settings), tool="search", scope=None)
        run.add(through_index)
        assert run.answer(vectors[0], k=4, epoch=store.epoch(), draw=0.9) == NearMiss("the index has changed")
