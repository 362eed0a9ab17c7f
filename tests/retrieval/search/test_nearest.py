"""Searches: through the right index or over everything, of one tenant, never silently short."""

from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from langgraph_prefetch.retrieval import Nearest, PgVectorStore
from langgraph_prefetch.retrieval.schema.vectors import encode, takes_binary
from langgraph_prefetch.retrieval.search import statements
from langgraph_prefetch.retrieval.search.paths import Facts, ef_search, is_exact
from tests.retrieval.search.made import DIMENSIONS, Given, numbered, unit
from tests.retrieval.search.stores import FORCED, PARTS, QUERIES, VECTORS, around_through_the_index, through_the_index


def distances(store: PgVectorStore, query: NDArray[np.float32]) -> NDArray[np.float64]:
    """By NumPy."""
    kind = np.float16 if store.collection.spec.storage == "halfvec" else np.float32
    rows, anchor = VECTORS.astype(kind).astype(np.float64), query.astype(kind).astype(np.float64)
    if store.metric == "l2":
        return np.asarray(np.linalg.norm(rows - anchor, axis=1))
    products = rows @ anchor
    if store.metric == "inner_product":
        return np.asarray(-products)
    return np.asarray(1 - products / (np.linalg.norm(rows, axis=1) * np.linalg.norm(anchor)))


def recall(found: Nearest, truth: Nearest) -> float:
    ids = {hit.id for hit in truth.hits}
    return len(ids & {hit.id for hit in found.hits}) / len(ids)


def test_an_exact_search_is_exact(store: PgVectorStore) -> None:
    """Ids, order and distances are those of plain arithmetic, for every metric and storage."""
    for query in QUERIES[:5]:
        found = store.nearest(query, 10, exact=True)
        expected = distances(store, query)
        order = np.argsort(expected, kind="stable")[:10]
        assert [hit.id for hit in found.hits] == [f"{at:04}" for at in order]
        np.testing.assert_allclose([hit.distance for hit in found.hits], expected[order], atol=1e-5)
        assert (found.exact, found.whole, found.possibly_short) == (True, False, False)


def test_a_search_uses_the_index_of_its_metric_and_storage(store: PgVectorStore) -> None:
    """The statement that is sent is served by HNSW in order, without a sort of all rows; the exact one never is."""
    spec = store.collection.spec
    shorthand = {"cosine": "cosine", "l2": "l2", "inner_product": "ip"}[spec.metric]
    assert f"{spec.storage}_{shorthand}_ops" in index_definition(store)
    for make in (statements.filtered_nearest, statements.neighbourhood):
        indexed = plan(store, make(store.collection, (), exact=False, iterative=True))
        assert f"Index Scan using {store.collection.table_name}_hnsw" in indexed
        assert "One-Time Filter" in indexed  # the settings hold before the first row is read
        assert "hnsw" not in plan(store, make(store.collection, (), exact=True, iterative=True))


def index_definition(store: PgVectorStore) -> str:
    query = sa.text("select indexdef from pg_indexes where indexname = :name")
    name = {"name": f"{store.collection.table_name}_hnsw"}
    return str(store.database.run(lambda connection: connection.scalar(query, name)))


def plan(store: PgVectorStore, statement: sa.Select[Any]) -> str:
    def work(connection: sa.Connection) -> str:
        takes_binary(connection)
        connection.exec_driver_sql(f"set local {FORCED}")
        compiled = statement.compile(dialect=connection.dialect)
        anchor = encode(QUERIES[0], store.collection.spec.storage)
        values = dict(compiled.params) | {"anchor": anchor, "tenant": "", "k": 5, "fetch": 10, "ef_search": "40"}
        return "\n".join(connection.exec_driver_sql(f"explain {compiled.string}", values).scalars())

    return store.database.run(work)


def test_an_indexed_search_finds_what_there_is(store: PgVectorStore) -> None:
    """Through the index recall@10 is at least 0.95, also for a filter that one in a hundred passages fits."""
    plain, filtered = [], []
    for at, query in enumerate(QUERIES):
        fits = {"part": at % PARTS}
        plain.append(recall(through_the_index(store, query, 10), store.nearest(query, 10, exact=True)))
        found = through_the_index(store, query, 10, fits)
        assert len(found.hits) == 10
        assert found.hits == tuple(sorted(found.hits, key=lambda hit: (hit.distance, hit.id)))
        assert around_through_the_index(store, query, 10, fits).ids == tuple(hit.id for hit in found.hits)
        filtered.append(recall(found, store.nearest(query, 10, filter=fits, exact=True)))
    assert np.mean(plain) >= 0.95
    assert np.mean(filtered) >= 0.95


def test_a_small_tenant_far_from_the_query_gets_its_rows(shared_database_url: str) -> None:
    """Ten passages of one tenant among a thousand of another: five are asked for, and five come."""
    near, far = unit(1, seed=5)[0], -unit(1, seed=5)[0]
    vectors = np.concatenate([near + 0.01 * unit(1_000, seed=6), far + 0.01 * unit(10, seed=7)]).astype(np.float32)
    given = numbered(vectors)
    texts = list(given)
    with PgVectorStore(Given(given), url=shared_database_url, collection="two", tenant="a") as a:
        a.add_texts(texts[:1_000])
        a.create_index()
        b = a.for_tenant("b")
        b.add_texts(texts[1_000:])
        for exact in (None, False, True):
            found = b.nearest(near, 5, exact=exact)
            assert len(found.hits) == 5
            assert all(hit.text in texts[1_000:] for hit in found.hits)
        assert b.nearest(near, 11).whole
        assert len(b.nearest(near, 11).hits) == 10


def test_a_small_tenant_of_a_large_collection_is_searched_exactly(cosine: PgVectorStore) -> None:
    """How much there is to compare is a matter of the tenant's own passages, however many others there are."""
    small = cosine.for_tenant("small")
    small.add_texts(["passage 1", "passage 2"])
    try:
        assert (small.nearest(QUERIES[0], 2).exact, cosine.nearest(QUERIES[0], 2).exact) == (True, False)
    finally:
        small.delete(everything=True)


def test_fewer_rows_come_with_a_reason(cosine: PgVectorStore) -> None:
    """Where fewer exist all are there and it says so; where only the index was asked, it says that it cannot know."""
    fits = {"part": {"$in": [0]}, "even": True}
    many = cosine.nearest(QUERIES[0], 100, filter=fits)
    assert (len(many.hits), many.exact, many.whole, many.possibly_short) == (30, True, True, False)
    nothing = cosine.nearest(QUERIES[0], 5, filter={"part": -1}, exact=False)
    assert (nothing.hits, nothing.exact, nothing.whole, nothing.possibly_short) == ((), False, False, True)


def test_what_does_not_come_out_of_the_index_is_looked_for(cosine: PgVectorStore) -> None:
    """The index gives up after so many rows; then all are compared, and nothing is missing."""
    few = through_the_index(cosine, QUERIES[0], 10, {"part": 7}, and_set="hnsw.max_scan_tuples = 1")
    assert (len(few.hits) < 10, few.exact, few.possibly_short) == (True, False, True)
    found = through_the_index(cosine, QUERIES[0], 10, {"part": 7}, and_set="hnsw.max_scan_tuples = 1", exact=None)
    assert (len(found.hits), found.exact) == (10, True)
    assert found.hits == cosine.nearest(QUERIES[0], 10, filter={"part": 7}, exact=True).hits


def test_equals_are_ordered_by_id(shared_database_url: str) -> None:
    """The same question has the same answer, whatever order the rows were written in; ids compare by their bytes."""
    ids = ["b", "B", "a", "é", "z", "_"]
    with PgVectorStore(Given(), url=shared_database_url, collection="ties") as store:
        for key in ids:  # one by one, or they would be written in order
            store.add_texts(["same"], ids=[key])
        store.create_index()
        for exact in (True, False):
            assert [hit.id for hit in store.nearest("same", 6, exact=exact).hits] == sorted(ids)
        assert store.neighbourhood([1.0] * DIMENSIONS, 6, exact=False).ids == tuple(sorted(ids))


def test_settings_end_with_the_search(cosine: PgVectorStore) -> None:
    """Behind a pooler the session is the next client's: nothing is left in it."""
    asked = sa.text("select current_setting('hnsw.ef_search'), current_setting('hnsw.iterative_scan')")
    before = cosine.database.run(lambda connection: tuple(connection.execute(asked).one()), autocommit=True)
    cosine.nearest(QUERIES[0], 5, exact=False, ef_search=200)
    assert cosine.database.run(lambda connection: tuple(connection.execute(asked).one()), autocommit=True) == before


@pytest.mark.parametrize(
    ("wanted", "indexed", "small", "exact"),
    [(None, False, False, True), (None, True, True, True), (None, True, False, False), (False, False, True, False)],
)
def test_the_choice_of_a_path(wanted: bool | None, indexed: bool, small: bool, exact: bool) -> None:
    """As wanted; else all are compared where there is no index or little to compare."""
    assert is_exact(wanted, Facts(indexed=indexed, small=small, iterative=True)) is exact


def test_candidates_are_never_fewer_than_asked_for() -> None:
    """And never more than pgvector takes."""
    assert [ef_search(*each) for each in [(None, 4), (None, 500), (100, 10), (10, 50), (None, 2_000)]] == [
        40,
        500,
        100,
        50,
        1_000,
    ]
