"""Passages in, out and gone: what cannot be stored is named, and nothing is half written."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from langgraph_prefetch.errors import (
    CollectionMismatchError,
    ConfigurationError,
    RefusedPassagesError,
    UnknownOptionError,
    WrongVectorsError,
)
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.schema.vectors import decode, encode_array
from langgraph_prefetch.retrieval.store import adding, reading
from langgraph_prefetch.retrieval.store import store as store_module
from langgraph_prefetch.retrieval.store.adding import batch
from tests.retrieval.search.made import DIMENSIONS, Given, unit


@pytest.fixture
def store(shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[PgVectorStore]:
    name = request.node.name[:200]
    with PgVectorStore(Given(), url=shared_database_url, collection=name) as opened:
        yield opened
        opened.drop_collection()


def nothing_changed(store: PgVectorStore, epoch: int) -> bool:
    return store.count() == 0 and store.epoch() == epoch


@pytest.mark.parametrize(
    ("texts", "metadatas", "ids", "at", "why"),
    [
        (["fine", "a\0b"], None, None, 1, "NUL"),
        (["fine", "x"], [{}, {"k": "a\0"}], None, 1, "NUL"),
        (["fine", "x"], None, ["1", "a\0"], 1, "NUL"),
        (["fine", "\ud800"], None, None, 1, "surrogate"),
        (["fine", 3], None, None, 1, "is int, not text"),
        (["fine", None], None, None, 1, "is NoneType, not text"),
        (["fine", "x"], [{}, {"k": object()}], None, 1, "not JSON"),
        (["fine", "x"], [{}, {"k": float("nan")}], None, 1, "not JSON"),
        (["fine", "x"], [{}, {1: 2}], None, 1, "no mapping"),
        (["fine", "x"], [{}, "k"], None, 1, "no mapping"),
        (["fine", "x"], None, ["1", ""], 1, "no text"),
        (["fine", "x"], None, ["1", 2], 1, "no text"),
        (["fine", "x"], None, ["1", "i" * 1_025], 1, "id of 1,025 bytes"),
        (["fine", "x"], None, ["1", "1"], 1, "of number 0 and says something else"),
    ],
)
def test_what_cannot_be_stored_is_named(
    store: PgVectorStore, texts: Any, metadatas: Any, ids: Any, at: int, why: str
) -> None:
    """Which of them, and why; the others of the call are not written either, and the epoch stays."""
    epoch = store.epoch()
    with pytest.raises(RefusedPassagesError, match="none was written") as caught:
        store.add_texts(texts, metadatas, ids=ids)
    assert list(caught.value.refused) == [at]
    assert why in caught.value.refused[at]
    assert nothing_changed(store, epoch)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.0])
def test_a_vector_without_a_direction_is_named(store: PgVectorStore, bad: float) -> None:
    """NaN, infinity and, under cosine, zeros: at ingestion by position, in a search at once."""
    store.embeddings.vectors["bad"] = [bad] * DIMENSIONS  # type: ignore[union-attr]
    epoch = store.epoch()
    with pytest.raises(RefusedPassagesError, match="number 1: its vector") as caught:
        store.add_texts(["fine", "bad"])
    assert list(caught.value.refused) == [1]
    assert nothing_changed(store, epoch)
    with pytest.raises(WrongVectorsError, match="the embedder's vector"):
        store.similarity_search("bad")


@pytest.mark.parametrize(
    ("metric", "storage", "number", "ok"),
    [
        ("l2", "vector", 0.0, True),
        ("inner_product", "vector", 0.0, True),
        ("cosine", "halfvec", 1e-9, False),
        ("cosine", "vector", 1e-25, False),
        ("cosine", "vector", 1e25, False),
        ("cosine", "vector", 1e-15, True),
        ("cosine", "vector", 1e15, True),
        ("l2", "vector", 1e-25, True),
        ("l2", "halfvec", 65_510.0, True),
        ("l2", "halfvec", 70_000.0, False),
        ("l2", "vector", 70_000.0, True),
    ],
)
def test_what_a_metric_and_a_storage_take(
    shared_database_url: str, metric: Metric, storage: Any, number: float, ok: bool
) -> None:
    """Zeros have a length and a product; a number may be too small or too large for half the space."""
    embeddings = Given({"x": [number] * DIMENSIONS})
    name = f"{metric} {storage} {number}"
    with PgVectorStore(
        embeddings, url=shared_database_url, collection=name, metric=metric, storage=storage, dimensions=DIMENSIONS
    ) as store:
        if ok:
            store.add_texts(["x"])
            assert [each.page_content for each in store.similarity_search("x")] == ["x"]
            assert 0 <= store.similarity_search_with_relevance_scores("x")[0][1] <= 1  # NaN is not
        else:
            with pytest.raises(WrongVectorsError):
                store.add_texts(["x"])


class Miscounting(Given):
    """Gives one vector more or fewer than there are texts."""

    def __init__(self, off_by: int) -> None:
        super().__init__()
        self.off_by = off_by

    def embed_documents(self, texts: Any) -> list[Any]:
        return [[1.0] * DIMENSIONS] * (len(texts) + self.off_by)


@pytest.mark.parametrize("off_by", [1, -1])
async def test_an_embedder_that_miscounts_is_refused(store: PgVectorStore, off_by: int) -> None:
    """Which vector belongs to which text cannot be told, so nothing is written."""
    store._embeddings = Miscounting(off_by)
    for size in (2, 1_000):
        with pytest.raises(WrongVectorsError, match="cannot be told"):
            await store.aadd_texts(["a", "b", "c"], batch_size=size)
    assert await store.acount() == 0


def test_an_embedder_of_another_length_is_found_at_the_start(store: PgVectorStore, shared_database_url: str) -> None:
    """The model was changed: opening says so, before anything is searched or written; given by hand it says so too."""
    name = store.collection.spec.name
    with pytest.raises(CollectionMismatchError, match="embedding model changed") as caught:
        PgVectorStore(Given(dimensions=DIMENSIONS + 1), url=shared_database_url, collection=name)
    assert (caught.value.has, caught.value.asked) == (DIMENSIONS, DIMENSIONS + 1)
    with pytest.raises(WrongVectorsError, match="has 9 numbers"):
        store.similarity_search_by_vector([1.0] * 9)
    store._embeddings = Given(dimensions=9)
    with pytest.raises(WrongVectorsError, match=f"has 9 numbers, and collection .* takes {DIMENSIONS}"):
        store.add_texts(["x"])


async def test_checking_many_passages_keeps_no_loop_waiting(
    store: PgVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It happens on another thread, and so does turning lists of numbers into an array."""
    threads: list[int] = []
    for module, name in ((store_module, "batch"), (adding, "checked_vectors")):
        plain = getattr(module, name)

        def noted(*arguments: Any, plain: Any = plain) -> Any:
            threads.append(threading.get_ident())
            return plain(*arguments)

        monkeypatch.setattr(module, name, noted)
    await store.aadd_texts(["a", "b"])
    assert len(threads) == 2
    assert threading.get_ident() not in threads


def test_counts_must_agree(store: PgVectorStore) -> None:
    """Ids and metadata are one for each text."""
    with pytest.raises(ConfigurationError, match="2 texts with 1 ids"):
        store.add_texts(["a", "b"], ids=["1"])
    with pytest.raises(ConfigurationError, match="2 texts with 3 metadatas"):
        store.add_texts(["a", "b"], [{}, {}, {}])
    with pytest.raises(UnknownOptionError, match="Did you mean 'batch_size'"):
        store.add_texts(["a"], batchsize=3)


def test_equal_passages_of_one_id_are_one(store: PgVectorStore) -> None:
    """The same twice is written once, and both keep their id."""
    assert store.add_texts(["a", "b", "a"], ids=["1", "2", "1"]) == ["1", "2", "1"]
    assert store.count() == 2


def test_a_very_long_text(shared_database_url: str) -> None:
    """Megabytes are stored whole, also where their words are indexed; a text beyond all measure is refused."""
    with PgVectorStore(Given(), url=shared_database_url, collection="long", text_search="simple") as store:
        text = " ".join(f"{at:x}" for at in range(600_000))
        store.add_texts([text], ids=["long"])
        assert store.get_by_ids(["long"])[0].page_content == text
        with pytest.raises(RefusedPassagesError, match="there is room for 67,108,864"):
            store.add_texts(["x" * (64 << 20) + "x"])


def test_written_again_unchanged(store: PgVectorStore) -> None:
    """The same passages again leave the rows as they are; another text or other metadata replaces them."""
    documents = [Document(id="1", page_content="a", metadata={"k": [1, {"x": None}]})]
    store.add_documents(documents)
    where = f"select xmin from {store.collection.table_name}"
    before = store.database.run(lambda connection: connection.exec_driver_sql(where).scalar())
    store.add_documents(documents)
    assert store.database.run(lambda connection: connection.exec_driver_sql(where).scalar()) == before
    store.add_documents([Document(id="1", page_content="a", metadata={"k": 2})])
    assert store.get_by_ids(["1"])[0].metadata == {"k": 2}


@pytest.mark.parametrize("change", ["text", "metadata", "vector", "nothing"])
def test_each_part_of_a_passage_is_replaced(store: PgVectorStore, change: str) -> None:
    """Its vector as well, where the model alone is another; the hash of an ingestion goes with what it stood for."""
    embeddings: Any = store.embeddings
    embeddings.vectors["x"] = [1.0] * DIMENSIONS
    store.add_texts(["x"], [{"k": 1}], ids=["1"])
    table = store.collection.table_name
    store.database.run(lambda connection: connection.exec_driver_sql(f"update {table} set content_hash = 'abc'"))
    text = "y" if change == "text" else "x"
    vector = [2.0] * DIMENSIONS if change == "vector" else [1.0] * DIMENSIONS
    embeddings.vectors |= {"x": vector, "y": vector}
    store.add_texts([text], [{"k": 2 if change == "metadata" else 1}], ids=["1"])
    query = f"select text, metadata, embedding::real[], content_hash is null from {table}"
    row = store.database.run(lambda connection: connection.exec_driver_sql(query).one())
    assert tuple(row) == (text, {"k": 2 if change == "metadata" else 1}, vector, change != "nothing")


def test_several_writers_of_the_same_rows(store: PgVectorStore) -> None:
    """They wait for each other, in whatever order each has its rows; none is turned away."""
    ids = [f"{at:03}" for at in range(200)]

    def write(turn: int) -> None:
        order = ids if turn % 2 else ids[::-1]
        store.add_texts([f"{key} {turn}" for key in order], ids=list(order))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(8)))
    assert store.count() == 200


@pytest.mark.parametrize("times", [2, 3])
async def test_the_victim_of_a_deadlock_tries_again(
    store: PgVectorStore, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Ingestions lock documents first and passages then; whoever the server turns away for it is not told, at first."""
    left = [times, times]

    def turned_away(at: int, work: Any) -> Any:
        def attempt(connection: sa.Connection, **arguments: Any) -> Any:
            done = work(connection, **arguments)
            if left[at]:
                left[at] -= 1
                connection.exec_driver_sql(
                    "do $$ begin raise exception 'x' using errcode = 'deadlock_detected'; end $$"
                )
            return done

        return attempt

    monkeypatch.setattr(adding, "upsert", turned_away(0, adding.upsert))
    monkeypatch.setattr(reading, "delete", turned_away(1, reading.delete))
    if times == 3:
        with pytest.raises(sa.exc.OperationalError):
            store.add_texts(["a"], ids=["a"])
        assert store.count() == 0
        return
    store.add_texts(["a", "b"], ids=["a", "b"])
    assert store.count() == 2
    await store.adelete(["a"])
    assert [each.id for each in store.get_by_ids(["a", "b"])] == ["b"]
    assert left == [0, 0]


def test_delete(store: PgVectorStore) -> None:
    """By ids, by a filter, or everything in so many words; never all because an id was forgotten."""
    store.add_texts(list("abcd"), [{"k": at} for at in range(4)], ids=list("abcd"))
    store.delete(["a", "no such", "nu\0l"])
    store.delete(filter={"k": {"$gte": 3}})
    assert {each.id for each in store.get_by_ids(list("abcd"))} == {"b", "c"}
    store.delete([])
    with pytest.raises(ConfigurationError, match="everything=True"):
        store.delete()
    with pytest.raises(ConfigurationError, match="list of texts"):
        store.delete("b")  # type: ignore[arg-type]
    assert store.count() == 2
    assert store.count({"k": 1}) == 1
    store.delete(everything=True)
    assert store.count() == 0


def test_what_does_not_exist_is_left_out(store: PgVectorStore) -> None:
    """Of ids, those that there are, in the order asked for, each once."""
    store.add_texts(["x", "y"], ids=["1", "2"])
    assert [each.id for each in store.get_by_ids(["2", "no", "1", "2", "\0", "\ud800", "x" * 5_000])] == ["2", "1"]
    store.delete(["\0", "\ud800", "x" * 5_000])
    assert store.count() == 2
    for wrong in ("1", None, 1, ["1", 2]):
        with pytest.raises(ConfigurationError, match="list of texts"):
            store.get_by_ids(wrong)  # type: ignore[arg-type]


# Larger numbers than a float tells apart come back as whole ones: JSON in PostgreSQL does not know floats.
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e15, 1e15)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(metadata=st.dictionaries(st.text(), JSON, max_size=3), text=st.text())
@settings(max_examples=50)
def test_what_is_accepted_comes_back(shared_database_url: str, metadata: dict[str, Any], text: str) -> None:
    """Any text and any JSON is stored as it is, or refused before the database is asked, and then for a reason."""
    said = repr((metadata, text))
    if "\\x00" in said or "\\ud" in said:
        with pytest.raises(RefusedPassagesError):
            batch([text], [metadata], ["1"])
        return
    store = _kept(shared_database_url)
    store.add_texts([text], [metadata], ids=["1"])
    assert store.get_by_ids(["1"]) == [Document(id="1", page_content=text, metadata=metadata)]


_stores: dict[str, PgVectorStore] = {}


def _kept(url: str) -> PgVectorStore:
    if url not in _stores:
        _stores[url] = PgVectorStore(Given(), url=url, collection="anything", dimensions=DIMENSIONS)
    return _stores[url]


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _stores:
        _stores.popitem()[1].close()


@pytest.mark.parametrize("storage", ["vector", "halfvec"])
def test_vectors_on_the_wire(storage: Any) -> None:
    """An array of vectors is as PostgreSQL writes arrays; what was sent one after the other is read back."""
    vectors = unit(3)
    sent = encode_array(vectors, storage, 77)
    assert sent[:20] == b"".join(each.to_bytes(4, "big") for each in (1, 0, 77, 3, 1))
    size = 4 + DIMENSIONS * (4 if storage == "vector" else 2)
    rows = b"".join(sent[20 + at * (size + 4) + 4 : 20 + (at + 1) * (size + 4)] for at in range(3))
    kind = np.float32 if storage == "vector" else np.float16
    np.testing.assert_array_equal(decode(rows, DIMENSIONS, storage), vectors.astype(kind).astype(np.float32))
    np.testing.assert_array_equal(decode(rows, DIMENSIONS, storage, [2, 0, 1]), vectors.astype(kind)[[2, 0, 1]])
