"""One plan type says how rows move, and the plain interpreter does what it says."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import PlanError
from langgraph_prefetch.ingest.plan import (
    INGEST,
    MEMORY,
    REDUCE_CONTEXT,
    RETRIEVE,
    Operator,
    Pattern,
    Plan,
    interpret,
)


def test_the_plan_of_an_ingestion_prints_each_operator_with_its_pattern() -> None:
    """load, split and embed are independent; upsert shuffles by key to one writer each and reduces."""
    assert INGEST.explain() == (
        "ingest\n"
        "├─ load    [independent]            read documents; pass over those that have not changed\n"
        "├─ split   [independent]            cut them into passages, with an id each\n"
        "├─ embed   [independent]            give each passage its vector\n"
        "└─ upsert  [shuffle by id, reduce]  merge duplicates; one writer a key writes each row once"
    )


def test_retrieval_context_and_memory_are_plans_of_the_same_type() -> None:
    """Broadcast and top-k, a reduction, an exchange: nothing needs a type of its own."""
    patterns = [[each.moves for each in plan.operators] for plan in (RETRIEVE, REDUCE_CONTEXT, MEMORY)]
    assert patterns == [
        ["broadcast", "independent", "reduce"],
        ["shuffle by id, reduce", "reduce"],
        ["independent", "exchange"],
    ]


@pytest.mark.parametrize(
    ("patterns", "key"),
    [
        ((), None),
        ((Pattern.REDUCE, Pattern.SHUFFLE), "id"),
        ((Pattern.SHUFFLE,), None),
        ((Pattern.INDEPENDENT,), "id"),
    ],
)
def test_an_operator_that_means_nothing_is_refused(patterns: tuple[Pattern, ...], key: str | None) -> None:
    """A shuffle needs a key, and only a reduction may follow it."""
    with pytest.raises(PlanError, match="'odd'"):
        Operator(name="odd", patterns=patterns, does="", key=key)


def test_a_plan_needs_operators_of_different_names() -> None:
    """Traces and work are told by name."""
    with pytest.raises(PlanError):
        Plan(name="empty", operators=())
    with pytest.raises(PlanError):
        Plan(name="twice", operators=(INGEST["load"], INGEST["load"]))


def test_work_that_is_missing_is_named() -> None:
    """Before anything runs."""
    with pytest.raises(PlanError, match="'global top-k'"):
        interpret(RETRIEVE, {"broadcast": lambda _, rows: rows, "local top-k": lambda _, rows: rows}, [[1]])


_numbers = st.lists(st.integers(-1_000, 1_000), max_size=40)


@given(shards=st.lists(_numbers, min_size=1, max_size=5), query=st.integers(-1_000, 1_000), k=st.integers(1, 8))
def test_local_and_global_top_k_equal_one_table(shards: list[list[int]], query: int, k: int) -> None:
    """Whatever the partitions, the k nearest of the k nearest are the k nearest of all."""

    def nearest(rows: list[int]) -> list[int]:
        return sorted(rows, key=lambda each: (abs(each - query), each))[:k]

    work = {
        "broadcast": lambda _, rows: rows,
        "local top-k": lambda number, rows: [each for _ in rows for each in nearest(shards[number])],
        "global top-k": lambda _, rows: nearest(list(rows)),
    }
    held, _ = interpret(RETRIEVE, work, [[query]], workers=len(shards))
    assert held == (tuple(nearest([each for shard in shards for each in shard])),)


@given(searches=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=4))
def test_a_shuffle_brings_equal_keys_together(searches: list[list[str]]) -> None:
    """So that merging on each worker alone leaves each passage once."""

    def once(_: int, rows: tuple[Any, ...]) -> list[Any]:
        return list({row["id"]: row for row in rows}.values())

    inputs = [[{"id": each} for each in found] for found in searches]
    held, _ = interpret(REDUCE_CONTEXT, {"merge": once, "fit": lambda _, rows: rows}, inputs)
    assert Counter(row["id"] for row in held[0]) == Counter({each for found in searches for each in found})


def test_an_exchange_tells_every_worker_what_each_has() -> None:
    """A write to memory is known to every process."""
    work = {"write": lambda _, rows: rows, "epoch": lambda _, rows: rows}
    held, _ = interpret(MEMORY, work, [["a"], ["b"], []])
    assert held == (("a", "b"),) * 3
