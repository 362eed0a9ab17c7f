"""Several databases, one answer: that of one big table."""

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError, FilterError, ServerUnreachableError, ShardError
from langgraph_prefetch.retrieval import Hit, Nearest, PgVectorStore, ShardedRetriever
from langgraph_prefetch.retrieval.store.merging import merge
from tests.postgres import fresh_database
from tests.retrieval.search.made import Given, numbered, unit

ROWS = 60
VECTORS = unit(ROWS // 2, seed=4)
TEXTS = numbered([*VECTORS, *VECTORS])  # each vector twice: every distance is a tie


def top(hits: Sequence[tuple[float, str]], k: int) -> Nearest:
    chosen = sorted(hits)[:k]
    listed = tuple(Hit(id=key, text="", metadata={}, distance=far) for far, key in chosen)
    return Nearest(hits=listed, exact=True, whole=len(chosen) < k, possibly_short=False)


@given(
    rows=st.lists(st.tuples(st.integers(0, 3).map(float), st.integers(0, 4)), max_size=30),
    k=st.integers(1, 12),
)
def test_merged_is_as_if_it_had_been_one(rows: list[tuple[float, int]], k: int) -> None:
    """However the rows are split, ties and all: the local top-k merge to the top-k of one table."""
    keyed = [(far, f"{at:02}") for at, (far, _) in enumerate(rows)]
    shards = [[row for row, (_, shard) in zip(keyed, rows, strict=True) if shard == part] for part in range(5)]
    assert merge([top(each, k) for each in shards], k) == top(keyed, k)


def test_an_id_in_several_shards_counts_once() -> None:
    """Where it is nearest."""
    found = merge([top([(2.0, "a")], 3), top([(1.0, "a"), (3.0, "b")], 3)], 3)
    assert [(hit.id, hit.distance) for hit in found.hits] == [("a", 1.0), ("b", 3.0)]


@pytest.fixture(scope="module")
def other_database_url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def parts(shared_database_url: str, other_database_url: str) -> Iterator[list[PgVectorStore]]:
    """One collection with everything, then two in its database and one in another."""
    places = [(shared_database_url, "whole"), (shared_database_url, "first"), (shared_database_url, "second")]
    places.append((other_database_url, "third"))
    opened = [PgVectorStore(Given(dict(TEXTS)), url=url, collection=name) for url, name in places]
    yield opened
    for each in opened:
        each.close()


@given(split=st.lists(st.integers(1, 3), min_size=ROWS, max_size=ROWS), k=st.integers(1, ROWS + 5))
@settings(max_examples=8)
def test_shards_answer_as_one_table(parts: list[PgVectorStore], split: list[int], k: int) -> None:
    """Random splits over collections and databases, sync, against one table with all of it."""
    texts, ids = list(TEXTS), [f"{at:02}" for at in range(ROWS)]
    for at, store in enumerate(parts):
        store.delete(everything=True)
        mine = [row for row in range(ROWS) if at in (0, split[row])]
        store.add_texts(
            [texts[row] for row in mine], [{"even": row % 2 == 0} for row in mine], ids=[ids[r] for r in mine]
        )
    shards = ShardedRetriever(shards={f"shard {at}": store for at, store in enumerate(parts[1:], 1)})
    whole = parts[0]
    for options in ({}, {"filter": {"even": True}}):
        assert shards.nearest("passage 7", k, **options) == whole.nearest("passage 7", k, **options)
    assert shards.invoke("passage 7", k=k) == whole.as_retriever(k=k).invoke("passage 7")


async def test_awaited(parts: list[PgVectorStore]) -> None:
    """The same without blocking the loop."""
    shards = ShardedRetriever(shards={str(at): store for at, store in enumerate(parts[1:])}, k=7)
    assert await shards.ainvoke("passage 3") == await parts[0].as_retriever(k=7).ainvoke("passage 3")


class Dead(PgVectorStore):
    """A store whose server went away."""

    def __init__(self, like: PgVectorStore) -> None:
        self._stand(like.embeddings, like._setup, like.database, like.collection)

    def _run(self, work: Any) -> Any:
        raise ServerUnreachableError("there", "gone")

    async def _arun(self, work: Any) -> Any:
        raise ServerUnreachableError("there", "gone")


async def test_a_dead_shard_is_an_error(parts: list[PgVectorStore]) -> None:
    """A wrong answer is worse than none: the error names the shard and what it takes to go on without."""
    shards = ShardedRetriever(shards={"left": parts[1], "right": Dead(parts[2])})
    with pytest.raises(ShardError, match=r"1 of 2 shards.*right: no connection.*on_failure") as caught:
        shards.invoke("passage 3")
    assert list(caught.value.failed) == ["right"]
    with pytest.raises(ShardError):
        await shards.ainvoke("passage 3")


async def test_a_partial_answer_says_that_it_is_one(parts: list[PgVectorStore]) -> None:
    """By choice the others' answer comes, marked; where nobody answers there is none."""
    shards = ShardedRetriever(shards={"left": parts[1], "right": Dead(parts[2])}, on_failure="partial")
    for found in (shards.nearest("passage 3", 100), await shards.anearest("passage 3", 100)):
        assert (found.failed, found.exact, found.whole, found.possibly_short) == (("right",), False, False, True)
    assert all(each.metadata["missing_shards"] == ["right"] for each in shards.invoke("passage 3"))
    with pytest.raises(ShardError, match="2 of 2"):
        ShardedRetriever(shards={"one": Dead(parts[1]), "two": Dead(parts[2])}, on_failure="partial").invoke(
            "passage 3"
        )


async def test_a_shard_that_the_server_stops(parts: list[PgVectorStore], shared_database_url: str) -> None:
    """A search that its server breaks off is no answer, and the error does not show the statement."""
    sick = Dead(parts[2])
    broken = "do $$ begin raise exception 'gave up' using errcode = 'query_canceled'; end $$"
    fail = partial(parts[2].database.run, lambda connection: connection.exec_driver_sql(broken))
    sick._run = lambda work: fail()  # type: ignore[method-assign]
    shards = ShardedRetriever(shards={"left": parts[1], "sick": sick}, on_failure="partial")
    assert shards.nearest("passage 3").failed == ("sick",)
    with pytest.raises(ShardError, match=r"sick: .*gave up") as caught:
        ShardedRetriever(shards={"left": parts[1], "sick": sick}).nearest("passage 3")
    assert "do $$" not in str(caught.value)


class Slow(PgVectorStore):
    """A store that does not answer until it is let."""

    def __init__(self, like: PgVectorStore) -> None:
        self._stand(like.embeddings, like._setup, like.database, like.collection)
        self.let = threading.Event()

    def nearest(self, query: Any, k: int = 4, **options: Any) -> Nearest:
        self.let.wait(30)
        return super().nearest(query, k, **options)


def test_a_shard_that_takes_too_long(parts: list[PgVectorStore]) -> None:
    """It is as good as dead, and is not waited for."""
    slow = Slow(parts[2])
    shards = ShardedRetriever(shards={"left": parts[1], "slow": slow}, on_failure="partial", timeout_seconds=0.5)
    try:
        assert shards.nearest("passage 3").failed == ("slow",)
    finally:
        slow.let.set()


def test_a_wrong_question_is_no_dead_shard(parts: list[PgVectorStore]) -> None:
    """It is wrong for all, and says so as it would for one."""
    shards = ShardedRetriever(shards={"left": parts[1], "right": parts[2]}, on_failure="partial")
    with pytest.raises(FilterError):
        shards.nearest("passage 3", filter={"a": {"$no": 1}})
    with pytest.raises(ConfigurationError, match="k must be"):
        shards.nearest("passage 3", 0)


def test_shards_of_two_kinds_are_refused(parts: list[PgVectorStore], shared_database_url: str, tmp_path: Path) -> None:
    """Their distances do not compare."""
    with PgVectorStore(Given(), url=shared_database_url, collection="other", metric="l2") as other:
        with pytest.raises(ConfigurationError, match="by cosine, 8 numbers by l2"):
            ShardedRetriever(shards={"one": parts[1], "other": other})
        with pytest.raises(ConfigurationError, match="not none"):
            ShardedRetriever(shards={})
