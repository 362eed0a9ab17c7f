"""The certificate: what is proved is what an exact search of the same epoch returns, whatever the vectors are."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.near.ranking import Ranked, rank
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.near.surroundings import Surroundings
from langgraph_prefetch.passages import Metric
from tests.near.stores import (
    KINDS,
    METRICS,
    Array,
    as_stored_in_floats,
    kinds_of_vectors,
    names,
    searched,
    seeds,
    store,
)


def around(source: MemorySource, anchors: list[Array], n: int, *, exact: bool = True) -> Surroundings:
    found = Surroundings()
    for anchor in anchors:
        found.add(dataclasses.replace(source.neighbourhood(anchor, n), exact=exact))
    return found


def ranked(found: Surroundings, query: Array, k: int, norm_bound: float | None = None) -> Ranked | None:
    union = found.union()
    assert union is not None
    return rank(union, query, k, norm_bound)


@settings(max_examples=400, deadline=None)
@given(
    seed=seeds,
    kind=st.sampled_from(KINDS),
    metric=st.sampled_from(METRICS),
    count=st.integers(1, 60),
    dimensions=st.integers(1, 8),
    n=st.integers(1, 60),
    k=st.integers(1, 8),
    anchors=st.integers(1, 4),
    apart=st.sampled_from([0.0, 1e-7, 0.01, 0.3, 3.0]),
)
def test_what_is_proved_is_what_an_exact_search_returns(
    seed: int, kind: str, metric: Metric, count: int, dimensions: int, n: int, k: int, anchors: int, apart: float
) -> None:
    """Never wrong: in order and ties, against two searches that share no code, one of them in 32-bit floats."""
    rng = np.random.default_rng(seed)
    vectors = kinds_of_vectors(rng, kind, count, dimensions)
    source = store(metric, vectors)
    query = vectors[rng.integers(count)] + np.float32(apart) * rng.normal(size=dimensions).astype(np.float32)
    around_it = [query + np.float32(apart) * rng.normal(size=dimensions).astype(np.float32) for _ in range(anchors)]
    longest = float(np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1)).max()) * (1 + 1e-6)
    found = ranked(around(source, around_it, n), query, k, longest)
    if found is None or not found.proved:
        return
    local = tuple(names(count)[int(name[1:])] for name in _ids(source, around_it, n, found))
    assert local == searched(metric, names(count), vectors, query, k)
    assert local == as_stored_in_floats(metric, names(count), vectors, query, k)


def _ids(source: MemorySource, anchors: list[Array], n: int, found: Ranked) -> list[str]:
    union = around(source, anchors, n).union()
    assert union is not None
    return [union.ids[row] for row in found.rows]


@pytest.mark.parametrize("metric", METRICS)
def test_much_is_proved_where_the_anchor_is_near(metric: Metric) -> None:
    """A certificate that never holds would pass every test of being right."""
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(400, 6)).astype(np.float32)
    source = store(metric, vectors)
    longest = float(np.linalg.norm(vectors, axis=1).max()) * 1.001
    proved = 0
    for _ in range(100):
        query = rng.normal(size=6).astype(np.float32)
        anchor = query + np.float32(0.03) * rng.normal(size=6).astype(np.float32)
        found = ranked(around(source, [anchor], 200), query, 3, longest)
        assert found is not None
        proved += found.proved
    assert proved > 60


def test_an_index_that_may_have_missed_some_proves_nothing() -> None:
    """An approximate list does not bound what is not in it."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(50, 4)).astype(np.float32)
    source = store("cosine", vectors)
    exact = ranked(around(source, [vectors[0]], 40), vectors[0], 2)
    missed = ranked(around(source, [vectors[0]], 40, exact=False), vectors[0], 2)
    assert exact is not None
    assert missed is not None
    assert exact.proved
    assert not missed.proved
    assert exact.reach == missed.reach


def test_the_inner_product_proves_nothing_without_a_bound_on_lengths() -> None:
    """A passage that is long enough is nearest from anywhere: here one that no list has."""
    vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [-1.0, 400.0]], dtype=np.float32)
    source = store("inner_product", vectors)
    anchor = np.array([1.0, 0.0], dtype=np.float32)
    query = np.array([1.0, 0.02], dtype=np.float32)
    assert searched("inner_product", names(4), vectors, query, 1) == ("p00003",)
    found = ranked(around(source, [anchor], 3), query, 1)
    assert found is not None
    assert not found.proved
    bounded = ranked(around(source, [anchor], 3), query, 1, 401.0)
    assert bounded is not None
    assert not bounded.proved


def test_a_vector_longer_than_the_bound_takes_the_proof_away() -> None:
    """The user's bound is checked against what was fetched."""
    vectors = np.array([[3.0, 0.0], [0.9, 0.1], [0.1, 0.2]], dtype=np.float32)
    source = store("inner_product", vectors)
    found = ranked(around(source, [vectors[0]], 4), vectors[0], 1, 1.0)
    assert found is not None
    assert not found.proved


@settings(max_examples=60, deadline=None)
@given(seed=seeds, metric=st.sampled_from(METRICS))
def test_lists_of_one_filter_prove_answers_under_that_filter(seed: int, metric: Metric) -> None:
    """A filtered list bounds what the filter lets through; its proof is about the filtered search."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(60, 4)).astype(np.float32)
    kept = np.flatnonzero(rng.random(60) < 0.5)
    kept_names = [names(60)[row] for row in kept]
    if len(kept) < 3:
        return
    source = MemorySource(kept_names, vectors[kept], metric=metric)
    query = rng.normal(size=4).astype(np.float32)
    found_around = around(source, [query + np.float32(0.05) * rng.normal(size=4).astype(np.float32)], 20)
    union = found_around.union()
    assert union is not None
    found = rank(union, query, 3, 100.0)
    if found is not None and found.proved:
        assert [union.ids[row] for row in found.rows] == list(searched(metric, kept_names, vectors[kept], query, 3))


def test_beyond_a_half_turn_nothing_is_proved() -> None:
    """The point opposite the anchor is in no list, and nearer to the query than the triangle inequality shows."""

    def at(turn: float) -> Array:
        return np.array([np.cos(turn), np.sin(turn)], dtype=np.float32)

    vectors = np.stack([at(0.9), at(-2.6), at(np.pi)])
    source = store("cosine", vectors)
    query = at(2.4)
    found = ranked(around(source, [at(0.0)], 2), query, 2)
    assert found is not None
    assert searched("cosine", names(3), vectors, query, 2) == ("p00002", "p00001")
    assert [names(3)[row] for row in found.rows] == ["p00001", "p00000"]
    assert not found.proved
