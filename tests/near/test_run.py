"""One run's near misses: what is answered, what is a miss, and that an answer is what the store would say."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.run import LocalAnswer, NearMiss, NearRun
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.passages import Neighbourhood
from tests.near.stores import Array, names, seeds, store

SETTINGS = NearSettings(n=20, epsilon=0.3, confidence=0.6, audit_share=0.5)


def opened(**changes: Any) -> NearRun:
    given = dataclasses.replace(SETTINGS, **changes)
    return NearRun(given, Controls(given), tool="search", scope=None)


def local(run: NearRun, query: Array, source: MemorySource, *, k: int = 3, draw: float = 0.9) -> LocalAnswer:
    found = run.answer(query, k=k, epoch=source.epoch(), draw=draw)
    assert isinstance(found, LocalAnswer)
    return found


@pytest.fixture
def source() -> MemorySource:
    return store("cosine", np.random.default_rng(1).normal(size=(80, 6)).astype(np.float32))


def vector(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=6).astype(np.float32)


def test_the_union_answers_with_documents_as_the_store_has_them(source: MemorySource) -> None:
    run = opened()
    for seed in (2, 3):
        run.add(source.neighbourhood(vector(seed), 40))
    found = local(run, vector(2), source)
    real = source.neighbourhood(vector(2), 3)
    assert (found.ids, found.texts, found.metadatas) == (real.ids, real.texts, real.metadatas)
    assert found.tier == "proved"


def test_nothing_fetched_is_a_miss(source: MemorySource) -> None:
    assert opened().answer(vector(1), k=3, epoch=0, draw=0.5) == NearMiss("nothing fetched")


def test_an_index_that_changed_is_a_miss(source: MemorySource) -> None:
    """A passage that was added may be the nearest: proofs and lists of another epoch are void."""
    run = opened()
    run.add(source.neighbourhood(vector(1), 79))
    assert local(run, vector(1), source).tier == "proved"
    source.replace([*names(80), "new"], np.vstack([np.zeros((80, 6), dtype=np.float32) + 1, vector(1)]))
    assert run.answer(vector(1), k=3, epoch=source.epoch(), draw=0.5) == NearMiss("the index has changed")


@settings(max_examples=40, deadline=None)
@given(seed=seeds, changes=st.lists(st.sampled_from(["insert", "delete", "fetch", "call"]), min_size=4, max_size=20))
def test_no_proved_answer_is_wrong_after_inserts_and_deletes(seed: int, changes: list[str]) -> None:
    rng = np.random.default_rng(seed)
    held = {name: rng.normal(size=4).astype(np.float32) for name in names(30)}
    source = MemorySource(list(held), np.stack(list(held.values())))
    run, point = opened(), rng.normal(size=4).astype(np.float32)
    for at, change in enumerate(changes):
        if change == "insert":
            held[f"new {at}"] = point + np.float32(0.1) * rng.normal(size=4).astype(np.float32)
        elif change == "delete" and len(held) > 5:
            held.pop(source.search(point, 1)[0], None)
        if change in ("insert", "delete"):
            source.replace(list(held), np.stack(list(held.values())))
        elif change == "fetch":
            run.add(source.neighbourhood(point, 15))
        else:
            found = run.answer(point, k=2, epoch=source.epoch(), draw=0.9)
            if isinstance(found, LocalAnswer) and found.tier == "proved":
                assert found.ids == source.search(point, 2)


def test_a_list_of_an_older_epoch_does_not_join_those_of_a_newer_one(source: MemorySource) -> None:
    run = opened()
    late = source.neighbourhood(vector(1), 40)
    source.replace(names(10), np.random.default_rng(9).normal(size=(10, 6)).astype(np.float32))
    run.add(source.neighbourhood(vector(1), 5))
    run.add(late)
    assert isinstance(run.answer(vector(1), k=3, epoch=source.epoch(), draw=0.5), NearMiss)


def test_an_index_that_changes_while_a_call_is_checked_teaches_nothing(source: MemorySource) -> None:
    run = opened()
    run.add(source.neighbourhood(vector(1), 79))
    found = local(run, vector(1), source, draw=0.1)
    assert found.check == "search"
    assert run.learn(found, ("other",), epoch=source.epoch() + 1) is None
    assert run.learn(found, ("other",), epoch=source.epoch()) is True
    assert run.learn(found, source.search(vector(1), 3), epoch=source.epoch()) is False


@pytest.mark.parametrize(
    "query",
    [np.zeros(6, dtype=np.float32), np.full(6, np.nan, dtype=np.float32), np.ones(5, dtype=np.float32)],
    ids=["no direction", "no number", "other length"],
)
def test_a_query_that_cannot_be_compared_is_a_miss(source: MemorySource, query: Array) -> None:
    run = opened()
    run.add(source.neighbourhood(vector(1), 40))
    assert isinstance(run.answer(query, k=3, epoch=source.epoch(), draw=0.5), NearMiss)


def test_more_passages_than_were_fetched_are_a_miss(source: MemorySource) -> None:
    run = opened()
    run.add(source.neighbourhood(vector(1), 5))
    assert run.answer(vector(1), k=6, epoch=source.epoch(), draw=0.5) == NearMiss("too few passages")


def test_fewer_than_k_in_the_whole_store_are_all_there_are() -> None:
    """A store of two passages answers k = 5 with two, as its own search does."""
    small = store("cosine", np.eye(2, dtype=np.float32))
    run = opened()
    run.add(small.neighbourhood(np.array([1, 0.1], dtype=np.float32), 20))
    found = local(run, np.array([0.1, 1], dtype=np.float32), small, k=5)
    assert found.ids == ("p00001", "p00000")
    assert found.tier == "proved"


def test_an_empty_store_is_answered_with_nothing() -> None:
    empty = MemorySource([], np.zeros((0, 6), dtype=np.float32))
    run = opened()
    run.add(empty.neighbourhood(vector(1), 20))
    found = local(run, vector(2), empty)
    assert (found.ids, found.tier) == ((), "proved")


@pytest.mark.parametrize(
    "spoilt",
    [
        {"ids": ("a", "a")},
        {"texts": ("one",)},
        {"vectors": np.full((2, 2), np.inf, dtype=np.float32)},
        {"vectors": np.ones((2, 3), dtype=np.float32)},
    ],
)
def test_a_store_that_answers_with_broken_lists_is_refused(spoilt: dict[str, Any]) -> None:
    """An error to whoever fetched, who counts it; what was held before stays as it was."""
    point = np.array([1, 0.2], dtype=np.float32)
    whole = store("cosine", np.eye(2, dtype=np.float32)).neighbourhood(point, 2)
    run = opened()
    run.add(whole)
    with pytest.raises(ValueError, match="passages"):
        run.add(dataclasses.replace(whole, **spoilt))
    assert isinstance(run.answer(point, k=1, epoch=0, draw=0.5), LocalAnswer)


def test_an_anchor_that_has_not_moved_is_not_wanted(source: MemorySource) -> None:
    run = opened(min_degrees=30.0)
    anchor = np.array([1, 0, 0, 0, 0, 0], dtype=np.float32)
    assert run.wants(anchor)
    run.add(source.neighbourhood(anchor, 10))
    turned = [np.array([np.cos(turn), np.sin(turn), 0, 0, 0, 0], dtype=np.float32) for turn in np.radians([29, 31])]
    assert [run.wants(each) for each in turned] == [False, True]


def test_memory_is_bounded_and_the_latest_lists_are_kept(source: MemorySource) -> None:
    run = opened()
    for seed in range(60):
        run.add(source.neighbourhood(vector(seed), 10))
    found = local(run, vector(59), source)
    assert found.ids == source.search(vector(59), 3)


def test_an_answer_does_not_change_when_more_arrives(source: MemorySource) -> None:
    """What was handed out is the caller's: later lists grow the union, they do not reach into answers."""
    run = opened()
    run.add(source.neighbourhood(vector(1), 10))
    before = local(run, vector(1), source)
    kept = dataclasses.replace(before)
    for seed in range(20):
        run.add(source.neighbourhood(vector(seed), 30))
    assert before == kept


def test_the_lists_may_not_be_of_two_metrics(source: MemorySource) -> None:
    run = opened()
    run.add(source.neighbourhood(vector(1), 10))
    other: Neighbourhood = dataclasses.replace(source.neighbourhood(vector(1), 10), metric="l2")
    with pytest.raises(ValueError, match="another metric"):
        run.add(other)
