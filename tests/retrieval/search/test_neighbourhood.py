"""The passages around a vector, with their vectors: what the search finds, in one statement."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from langgraph_prefetch.ports import NeighbourhoodSource
from langgraph_prefetch.retrieval import PgVectorStore
from tests.retrieval.search.made import DIMENSIONS, Given, unit
from tests.retrieval.search.stores import QUERIES, VECTORS


@pytest.mark.parametrize("filtering", [None, {"even": True}])
@pytest.mark.parametrize("exact", [True, False])
def test_a_neighbourhood_is_the_search_with_vectors(
    store: PgVectorStore, exact: bool, filtering: dict[str, Any] | None
) -> None:
    """Ids, texts, metadata and order as a search has them, with each passage's own vector as it is stored."""
    anchor = QUERIES[0]
    around = store.neighbourhood(anchor, 300, filter=filtering, exact=exact)
    found = store.nearest(anchor, 300, filter=filtering, exact=exact)
    assert around.ids == tuple(hit.id for hit in found.hits)
    assert around.texts == tuple(hit.text for hit in found.hits)
    assert list(around.metadatas) == [hit.metadata for hit in found.hits]
    kind = np.float16 if store.collection.spec.storage == "halfvec" else np.float32
    stored = VECTORS[[int(key) for key in around.ids]].astype(kind).astype(np.float32)
    np.testing.assert_array_equal(around.vectors, stored)
    assert around.vectors.dtype == np.float32
    assert not around.vectors.flags.writeable
    assert (around.exact, around.whole, around.metric) == (exact, False, store.metric)
    assert around.epoch == store.epoch()


def test_a_neighbourhood_is_one_statement(cosine: PgVectorStore) -> None:
    """One round trip, without a transaction's; what it needs to know of the collection is looked up now and then."""
    cosine.neighbourhood(QUERIES[0], 10)
    assert len(sent(cosine, lambda: cosine.neighbourhood(QUERIES[0], 500))) == 1
    assert len(sent(cosine, lambda: cosine.nearest(QUERIES[0], 5))) == 1


def sent(store: PgVectorStore, act: Callable[[], object]) -> list[str]:
    statements_: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        statements_.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    return statements_


def test_a_neighbourhood_of_all_there_is(cosine: PgVectorStore) -> None:
    """Fewer than asked for: whole and exact. None at all: empty, of the right shape."""
    some = cosine.neighbourhood(QUERIES[0], 100, filter={"part": 3})
    assert (len(some.ids), some.whole, some.exact) == (30, True, True)
    none = cosine.neighbourhood(QUERIES[0], 10, filter={"part": -3})
    assert (none.ids, none.texts, none.metadatas) == ((), (), ())
    assert none.vectors.shape == (0, DIMENSIONS)
    assert none.whole


async def test_a_store_is_a_source_of_neighbourhoods(cosine: PgVectorStore) -> None:
    """What near-miss answers ask for is there, awaited as well."""
    assert isinstance(cosine, NeighbourhoodSource)
    around = await cosine.aneighbourhood(QUERIES[0], 5)
    assert around.ids == tuple(hit.id for hit in (await cosine.anearest(QUERIES[0], 5)).hits)
    assert around.epoch == await cosine.aepoch()


def test_texts_of_all_scripts_come_as_they_are(shared_database_url: str) -> None:
    """They travel as one string: empty ones, characters of every length and control characters part it nowhere."""
    texts = ["plain", "", "ü\x01,", "日本語", "𝄞👩‍👩‍👧", "a'\\\n\"", "e\u0301"]
    given = dict(zip(texts, unit(len(texts)), strict=True))
    with PgVectorStore(Given(given), url=shared_database_url, collection="scripts", dimensions=DIMENSIONS) as scripts:
        written = {f"é{at}": text for at, text in enumerate(texts) if text}
        scripts.add_texts(list(written.values()), ids=list(written))
        around = scripts.neighbourhood(given["plain"], 10)
        assert dict(zip(around.ids, around.texts, strict=True)) == written
        for vector, text in zip(around.vectors, around.texts, strict=True):
            assert np.array_equal(vector, given[text])
