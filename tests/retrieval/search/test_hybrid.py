"""Words and meaning together, options, scores: what the store offers on top of the nearest."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError, TextSearchOffError, UnknownOptionError
from langgraph_prefetch.retrieval import PgVectorStore, SearchOptions
from langgraph_prefetch.retrieval.search.query import relevance, words_query
from langgraph_prefetch.retrieval.search.rank import fuse
from tests.retrieval.search.made import Given, numbered, unit
from tests.retrieval.search.stores import (
    FORCED,
    PARTS,
    QUERIES,
    ROWS,
    VECTORS,
)


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
