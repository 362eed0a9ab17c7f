"""Searches: through the right index or over everything, of one tenant, never silently short."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError, TextSearchOffError, UnknownOptionError
from langgraph_prefetch.passages import Metric, Neighbourhood
from langgraph_prefetch.ports import NeighbourhoodSource
from langgraph_prefetch.retrieval import Nearest, PgVectorStore, SearchOptions
from langgraph_prefetch.retrieval.schema import Storage
from langgraph_prefetch.retrieval.schema.vectors import encode, takes_binary
from langgraph_prefetch.retrieval.search import statements
from langgraph_prefetch.retrieval.search.paths import Facts, ef_search, is_exact
from langgraph_prefetch.retrieval.search.query import relevance, words_query
from langgraph_prefetch.retrieval.search.rank import fuse
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


@pytest.fixture(scope="module", params=[(m, s) for m in METRICS for s in STORAGES], ids=lambda p: f"{p[0]}-{p[1]}")
def store(shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[PgVectorStore]:
    with open_store(shared_database_url, *request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def cosine(shared_database_url: str) -> Iterator[PgVectorStore]:
    with open_store(shared_database_url, "cosine", "vector") as opened:
        yield opened


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


def test_words_and_meaning_together(shared_database_url: str) -> None:
    """Hybrid search finds what only words or only vectors find; it ranks first what both do."""
    given = {
        "the quick brown fox": unit(1, seed=1)[0],
        "a lazy dog": unit(1, seed=2)[0],
        "zebras graze": unit(1, seed=3)[0],
        "zebra": unit(1, seed=1)[0],
    }
    url, name = shared_database_url, "words"
    with PgVectorStore(Given(given), url=url, collection=name, text_search="english") as store:
        store.add_texts(list(given)[:3], ids=["fox", "dog", "zebras"])
        assert {each.id for each in store.hybrid_search("zebra", 2)} == {"fox", "zebras"}
        assert store.as_retriever(search_type="hybrid", k=1).invoke("quick foxes zebra")
        assert store.hybrid_search("!!", 1)  # no words: by meaning alone
        found = store.hybrid_search("zebra", 3, filter={"no": "such"})
        assert found == []


def test_words_are_ranked_by_how_well_they_fit(shared_database_url: str) -> None:
    """Where all vectors are alike, the passage that says the word most often is first, though its id is the last."""
    texts = ["nothing of it", "one zebra among other animals", "zebra and zebra"]
    given = dict.fromkeys([*texts, "zebra"], unit(1)[0])
    options: dict[str, Any] = {"url": shared_database_url, "collection": "fit", "text_search": "english"}
    with PgVectorStore(Given(given), **options) as store:
        store.add_texts(texts, ids=["a", "b", "c"])
        assert [each.id for each in store.hybrid_search("zebra", 3)] == ["c", "b", "a"]


def test_hybrid_search_looks_for_what_does_not_come_out_of_the_index(shared_database_url: str) -> None:
    """Nor does it lose passages where the index gives up before the filter has let enough of them through."""
    given = numbered(VECTORS)
    options: dict[str, Any] = {"url": shared_database_url, "collection": "both", "text_search": "simple"}
    with PgVectorStore(Given(given), **options) as store:
        store.add_texts(list(given), [{"part": at % PARTS} for at in range(ROWS)])
        store.create_index()

        def found(exact: bool | None, and_set: str) -> list[str]:
            wanted = SearchOptions(filter={"part": 7}, exact=exact)
            search = store._searcher.hybrid("nothing of it", QUERIES[0], 10, wanted)

            def work(connection: sa.Connection) -> list[Any]:
                connection.exec_driver_sql(f"set local {and_set}")
                return [hit.text for hit in search(connection)]

            return store.database.run(work)

        truth = found(True, FORCED)
        assert len(truth) == 10
        gives_up = f"{FORCED}; set local enable_bitmapscan = off; set local hnsw.max_scan_tuples = 1"
        assert len(found(False, gives_up)) < 10
        assert found(None, gives_up) == truth


def test_words_are_opt_in(cosine: PgVectorStore) -> None:
    """Without a text index the error says how to get one."""
    with pytest.raises(TextSearchOffError, match="text_search="):
        cosine.hybrid_search("passage 1")


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None, 10_001])
def test_a_number_of_rows_without_meaning_is_refused(cosine: PgVectorStore, k: Any) -> None:
    """As is a neighbourhood of more than 2,000."""
    with pytest.raises(ConfigurationError, match=r"k must be a whole number from 1 to 10,000"):
        cosine.similarity_search_by_vector(QUERIES[0], k)
    with pytest.raises(ConfigurationError, match=r"n must be a whole number from 1 to 2,000"):
        cosine.neighbourhood(QUERIES[0], 2_001 if k == 10_001 else k)


@pytest.mark.parametrize("option", ["tenant", "filters", "efsearch", "score"])
def test_an_unknown_option_is_refused(cosine: PgVectorStore, option: str) -> None:
    """A misspelled filter would otherwise find everything; a tenant is never a call's."""
    error = ConfigurationError if option == "tenant" else UnknownOptionError
    with pytest.raises(error, match="the tenant is the store's" if option == "tenant" else "unknown option"):
        cosine.similarity_search("passage 1", 1, **{option: "x"})


@pytest.mark.parametrize("query", ["", " \n"])
def test_an_empty_query_is_refused(cosine: PgVectorStore, query: str) -> None:
    """There is nothing to be near to."""
    with pytest.raises(ConfigurationError, match="the query is empty"):
        cosine.similarity_search(query)


def test_diverse_results(cosine: PgVectorStore) -> None:
    """Maximal marginal relevance: the nearest first, then what differs; with 1, nearness alone."""
    by_nearness = cosine.max_marginal_relevance_search_by_vector(QUERIES[0], 5, 50, 1.0)
    assert [each.id for each in by_nearness] == [hit.id for hit in cosine.nearest(QUERIES[0], 5).hits]
    diverse = cosine.max_marginal_relevance_search("passage 3", k=5, fetch_k=50, lambda_mult=0.0)
    assert diverse[0].id == "0003"
    assert diverse != cosine.max_marginal_relevance_search("passage 3", k=5, fetch_k=50, lambda_mult=1.0)
    with pytest.raises(ConfigurationError, match="lambda_mult"):
        cosine.max_marginal_relevance_search("passage 3", lambda_mult=2)


def test_scores_and_relevance(store: PgVectorStore) -> None:
    """A score is the bare distance; a relevance lies between 0 and 1, whatever the metric, and thresholds cut by it."""
    scored = store.similarity_search_with_score("passage 5", 3)
    assert scored[0][0].id == "0005"
    relevant = store.similarity_search_with_relevance_scores("passage 5", 3)
    assert [score for _, score in relevant] == [pytest.approx(relevance(far, store.metric)) for _, far in scored]
    assert relevant[0][1] == pytest.approx(1, abs=0.05)
    retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.99})
    assert "0005" in [each.id for each in retriever.invoke("passage 5")]


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


def test_fusion() -> None:
    """The scores of the paper: 1 / (60 + rank), summed; equals by id; nothing lost below k."""
    assert fuse([["a", "b"], ["b", "c"]], 3) == [("b", 1 / 61 + 1 / 62), ("a", 1 / 61), ("c", 1 / 62)]
    assert fuse([["b"], ["a"]], 1) == [("a", 1 / 61)]
    assert fuse([], 3) == []


@pytest.mark.parametrize(
    ("said", "searched"),
    [("What is it?", "What or is or it"), ("-not 'quoted' & | ! ( ) :*", "not or quoted'"), ("?!", "")],
)
def test_words_of_a_query(said: str, searched: str) -> None:
    """Any of the words will do; signs that mean something to PostgreSQL are none of them."""
    assert words_query(said) == searched


def test_a_result_says_nothing_of_other_rows(cosine: PgVectorStore) -> None:
    """Metadata comes back as it was given."""
    hit = cosine.nearest("passage 11", 1).hits[0]
    assert json.loads(json.dumps(hit.metadata)) == {"part": 11, "even": False}
