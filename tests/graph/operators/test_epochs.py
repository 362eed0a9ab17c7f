"""A store that marks its writes, so that what was read before is known to be out of date."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import AsyncPostgresStore, PoolConfig, PostgresStore

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.operators.epochs import EpochStore

ADA, BOB = ("memories", "ada"), ("memories", "bob")


@contextmanager
def in_memory(_: str) -> Iterator[BaseStore]:
    yield InMemoryStore()


@contextmanager
def in_postgres(url: str) -> Iterator[BaseStore]:
    pool: PoolConfig = {"min_size": 1, "max_size": 6}
    with PostgresStore.from_conn_string(url.replace("+psycopg", ""), pool_config=pool) as store:
        store.setup()
        yield store


@pytest.fixture(params=[in_memory, in_postgres], ids=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[EpochStore]:
    url = request.getfixturevalue("database_url") if request.param is in_postgres else ""
    with request.param(url) as inner:
        yield EpochStore(inner)


WRITES: dict[str, Callable[[BaseStore], Any]] = {
    "put": lambda store: store.put(ADA, "k", {"text": "new"}),
    "delete": lambda store: store.delete(ADA, "k"),
    "batch": lambda store: store.batch([PutOp(ADA, "k", {"text": "new"}), PutOp(ADA, "l", {"text": "more"})]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
def test_a_write_moves_its_epoch_and_those_above(store: EpochStore, write: Callable[[BaseStore], Any]) -> None:
    """A search reads all that lies below its namespace, so a write tells every namespace above; no other."""
    store.put(ADA, "k", {"text": "old"})
    store.put(BOB, "k", {"text": "bob's"})
    before = {namespace: store.epoch(namespace) for namespace in (ADA, BOB, ("memories",), ("other",))}
    write(store)
    after = {namespace: store.epoch(namespace) for namespace in before}
    assert [namespace for namespace in before if before[namespace] != after[namespace]] == [ADA, ("memories",)]


def test_reading_moves_nothing(store: EpochStore) -> None:
    """Searches, gets and listings leave the epoch where it is, also in a namespace that was never written."""
    assert store.epoch(ADA) == store.epoch(ADA) == ""
    store.put(ADA, "k", {"text": "tea"})
    before = store.epoch(ADA)
    store.search(ADA)
    store.get(ADA, "k")
    store.list_namespaces()
    assert store.epoch(ADA) == before


def test_epochs_are_not_seen(store: EpochStore) -> None:
    """The store holds what its users wrote, and nothing else that they could find."""
    store.put(ADA, "k", {"text": "tea"})
    assert [item.key for item in store.search(())] == ["k"]
    assert store.list_namespaces() == [ADA]
    item = store.get(ADA, "k")
    assert item is not None
    assert item.value == {"text": "tea"}


def test_two_wrappers_of_one_store(store: EpochStore) -> None:
    """The epoch lives in the store: another wrapper, as another process has one, sees it at once."""
    other = EpochStore(store.inner)
    before = store.epoch(ADA)
    other.put(ADA, "k", {"text": "tea"})
    assert store.epoch(ADA) == other.epoch(ADA) != before


def test_writers_at_once(store: EpochStore) -> None:
    """Many threads that write to namespaces of one root neither fail nor wait for ever, and all is there."""

    def write(number: int) -> None:
        for place in range(5):
            store.put((*ADA, str((number + place) % 3)), f"{number} {place}", {"text": "tea"})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(store.search(ADA, limit=100)) == 30


async def marks_its_writes(store: EpochStore) -> None:
    assert await store.aepoch(ADA) == ""
    await store.aput(ADA, "k", {"text": "tea"})
    first = await store.aepoch(ADA)
    assert [item.key for item in await store.asearch(())] == ["k"]
    await store.adelete(ADA, "k")
    assert "" != first != await store.aepoch(ADA)
    assert await store.asearch(()) == []


async def test_async() -> None:
    """The async half marks its writes likewise."""
    await marks_its_writes(EpochStore(InMemoryStore()))


async def test_async_postgres(database_url: str) -> None:
    """Also over a store that gathers what is asked of it at once into batches."""
    async with AsyncPostgresStore.from_conn_string(database_url.replace("+psycopg", "")) as inner:
        await inner.setup()
        await marks_its_writes(EpochStore(inner))


def test_an_item_is_there_before_its_epoch() -> None:
    """Also in a store that applies a batch one by one: whoever sees the new epoch sees the item."""
    seen: list[list[Any]] = []

    class Watched(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            seen.append(list(ops))
            return super().batch(seen[-1])

    EpochStore(Watched()).put(ADA, "k", {"text": "tea"})
    assert [op.namespace for op in seen[0]] == [
        ADA,
        ("langgraph_prefetch", "epochs", "memories"),
        ("langgraph_prefetch", "epochs", *ADA),
    ]


@pytest.mark.parametrize("inner", [{}, EpochStore(InMemoryStore())], ids=["no store", "twice"])
def test_wrong_use(inner: Any) -> None:
    """Something that is no store, or marks its writes already, is an error."""
    with pytest.raises(ConfigurationError):
        EpochStore(inner)
