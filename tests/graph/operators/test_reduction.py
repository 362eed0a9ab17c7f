"""Passages of several searches become one context: a reduction, whatever the order in which they arrive."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.operators.reduction import (
    SEPARATOR,
    Pool,
    approximate_tokens,
    fitted,
    in_order,
    merged,
    passage_key,
    pooled,
    reduce_context,
)

documents = st.builds(
    Document,
    id=st.sampled_from(["a", "b", "c", "d", None]),
    page_content=st.text(alphabet="xy ", max_size=24),
    metadata=st.fixed_dictionaries(
        {}, optional={"score": st.sampled_from([0.1, 0.5, 0.9, float("nan"), "high", True])}
    ),
)
searches = st.lists(st.lists(documents, max_size=6), max_size=5)
score_keys = st.sampled_from([None, "score"])
pools = st.builds(pooled, st.lists(documents, max_size=6), score_keys)


def same(left: Pool, right: Pool) -> bool:
    orders = [{key: found.order for key, found in pool.items()} for pool in (left, right)]
    return orders[0] == orders[1]


@given(pools, pools, pools)
def test_merging_is_a_reduction(a: Pool, b: Pool, c: Pool) -> None:
    """Associative, commutative and idempotent, with nothing as its unit: any tree of merges gives the same pool."""
    assert same(merged(merged(a, b), c), merged(a, merged(b, c)))
    assert same(merged(a, b), merged(b, a))
    assert same(merged(a, a), a)
    assert same(merged(a, {}), a)


@given(searches, st.randoms(), st.integers(0, 40), score_keys, st.booleans())
def test_arrival_order_does_not_matter(
    found: list[list[Document]], random: Random, tokens: int, score_key: str | None, cut: bool
) -> None:
    """The context is the same whichever search comes first, and if one is read twice."""
    expected = reduce_context(found, max_tokens=tokens, score_key=score_key, cut=cut)
    again = [*found, *found[:1]]
    random.shuffle(again)
    assert reduce_context(again, max_tokens=tokens, score_key=score_key, cut=cut) == expected


@given(searches, st.integers(0, 60), st.booleans())
def test_fits_and_loses_nothing_that_fits(found: list[list[Document]], tokens: int, cut: bool) -> None:
    """At most the budget, each passage once and whole, and no passage left out that there was room for."""
    kept = reduce_context(found, max_tokens=tokens, cut=cut)
    assert approximate_tokens(SEPARATOR.join(document.page_content for document in kept)) <= tokens
    whole = [document for document in kept if not document.metadata.get("truncated")]
    everything = [document for search in found for document in search]
    assert all(document in everything for document in whole)
    keys = [passage_key(document) for document in kept]
    assert len(set(keys)) == len(keys)
    if not cut:
        left = tokens - sum(approximate_tokens(document.page_content + SEPARATOR) for document in kept)
        best = in_order(merged_all(found))
        missing = [document for document in best if document not in kept]
        assert all(approximate_tokens(document.page_content + SEPARATOR) > left for document in missing)


def merged_all(found: Sequence[Sequence[Document]]) -> Pool:
    pool: Pool = {}
    for search in found:
        pool = merged(pool, pooled(search))
    return pool


def texts(*contents: str) -> list[Document]:
    return [Document(content, id=content[:1]) for content in contents]


def test_the_best_place_in_any_search_decides() -> None:
    """A passage that one search had first and another last stands where it was first; equal places go by id."""
    kept = reduce_context([texts("a", "b", "c"), texts("c", "d")], max_tokens=100)
    assert [document.id for document in kept] == ["a", "c", "b", "d"]


def test_scores_decide_where_they_can_be_compared() -> None:
    """With a score the higher is better, across searches; what has none comes after."""
    low = [Document("a", id="a", metadata={"score": 0.2}), Document("n", id="n")]
    high = [Document("b", id="b", metadata={"score": 0.9}), Document("a", id="a", metadata={"score": 0.5})]
    kept = reduce_context([low, high], max_tokens=100, score_key="score")
    assert [(document.id, document.metadata.get("score")) for document in kept] == [("b", 0.9), ("a", 0.5), ("n", None)]


def test_without_an_id_the_text_tells() -> None:
    """Two passages of one text are one, unless ids tell them apart."""
    kept = reduce_context([[Document("same"), Document("other")], [Document("same")]], max_tokens=100)
    assert [document.page_content for document in kept] == ["same", "other"]
    assert len(reduce_context([[Document("same", id="1"), Document("same", id="2")]], max_tokens=100)) == 2


def test_a_passage_is_cut_only_if_asked() -> None:
    """What is too long makes room for what is not; asked for, it is shortened at the end of a word, and says so."""
    long, short = "seven words of text that go on", "tea"
    documents = [Document(long, id="1"), Document(short, id="2")]
    assert fitted(documents, 4) == [documents[1]]
    (cut,) = fitted(documents, 4, cut=True)
    assert (cut.page_content, cut.metadata) == ("seven words of", {"truncated": True})
    assert documents[0].page_content == long
    assert fitted(documents, 1, cut=True) == []


def test_tokens_are_counted_as_the_caller_says() -> None:
    """The counting function sees each passage; the approximation is only what stands in for none."""
    kept = reduce_context([texts("a a a", "b b", "c")], max_tokens=3, count_tokens=lambda text: len(text.split()))
    assert [document.id for document in kept] == ["a"]


@pytest.mark.parametrize("budget", [-1, "many"])
def test_bad_budget(budget: object) -> None:
    """A budget that is none is an error that says so."""
    with pytest.raises(ConfigurationError, match="max_tokens"):
        reduce_context([], max_tokens=budget)  # type: ignore[arg-type]
