"""Opening a store: everything that is wrong with it is said at the start, with what to do."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import (
    ConfigurationError,
    DatabaseClosedError,
    ExtensionMissingError,
    ReadOnlyServerError,
    RefusedPassagesError,
    ServerUnreachableError,
    UnknownOptionError,
)
from langgraph_prefetch.retrieval import Database, PgVectorStore
from langgraph_prefetch.retrieval.schema import Storage
from langgraph_prefetch.retrieval.search import indexes
from tests.retrieval.search.made import DIMENSIONS, Given

VECTOR = [1.0] * DIMENSIONS


def read_only(url: str) -> str:
    """The same database through sessions that take no writes, as a replica's do."""
    made = sa.make_url(url).update_query_dict({"options": "-c default_transaction_read_only=on"})
    return made.render_as_string(hide_password=False)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """No connection: the error says where it was looked for."""
    with pytest.raises(ServerUnreachableError, match="nobody-there"):
        PgVectorStore(Given(), url=f"postgresql://postgres@/nobody-there?host={tmp_path}")


def test_a_read_only_server(database_url: str) -> None:
    """It serves what is there, and says that nothing can be made or written."""
    with pytest.raises(ReadOnlyServerError):
        PgVectorStore(Given(), url=read_only(database_url))
    with PgVectorStore.from_texts(["x"], Given(), url=database_url):
        pass
    with PgVectorStore(Given(), url=read_only(database_url)) as replica:
        assert [each.page_content for each in replica.similarity_search("x")] == ["x"]
        assert len(replica.neighbourhood(VECTOR, 3).ids) == 1
        with pytest.raises(ReadOnlyServerError):
            replica.add_texts(["y"])
        with pytest.raises(ReadOnlyServerError):
            replica.delete(everything=True)


def test_a_missing_extension(database_url: str) -> None:
    """Who may not install pgvector is given the SQL for somebody who may."""
    engine = sa.create_engine(database_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        name = f"plain_{engine.url.database}"
        connection.exec_driver_sql(f"create role {name} login")
        connection.exec_driver_sql(f"grant create on schema public to {name}")
        try:
            url = engine.url.set(username=name).render_as_string(hide_password=False)
            with pytest.raises(ExtensionMissingError, match="create extension if not exists vector"):
                PgVectorStore(Given(), url=url)
        finally:
            connection.exec_driver_sql(f"drop owned by {name}")
            connection.exec_driver_sql(f"drop role {name}")
    engine.dispose()


@pytest.mark.parametrize("storage", ["vector", "halfvec"])
def test_an_extension_in_a_schema_of_its_own(database_url: str, storage: Storage) -> None:
    """Types, operators and operator classes are found wherever pgvector lives, and our tables in whatever schema."""
    engine = sa.create_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql('create schema "Ext"; create extension vector schema "Ext"')
    engine.dispose()
    with PgVectorStore(Given(), url=database_url, schema="my rag", storage=storage) as store:
        store.add_texts(["x", "longer"], ids=["1", "2"])
        store.add_texts(["x", "longest"], ids=["1", "2"])
        store.create_index()
        assert store.similarity_search("x", 1)[0].id == "1"
        assert store.nearest(VECTOR, 2, exact=False).hits
        assert store.neighbourhood(VECTOR, 2, exact=False).vectors.shape == (2, DIMENSIONS)


@pytest.fixture
def store(shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[PgVectorStore]:
    with PgVectorStore(Given(), url=shared_database_url, collection=request.node.name) as opened:
        yield opened


def again(store: PgVectorStore, **options: Any) -> PgVectorStore:
    return PgVectorStore(Given(), url=store.database, collection=store.collection.spec.name, **options)


@pytest.mark.parametrize(
    "index",
    [
        "using hnsw (embedding vector_l2_ops)",
        "using hnsw ((embedding::halfvec(8)) halfvec_cosine_ops)",
        "using ivfflat (embedding vector_cosine_ops)",
    ],
)
def test_an_index_that_no_search_uses(store: PgVectorStore, index: str) -> None:
    """An index of another operator class is refused at the start: searches would be slow, and nobody would know why."""
    table, name = store.collection.table_name, f"wrong_{len(index)}"
    store.database.run(lambda connection: connection.exec_driver_sql(f"create index {name} on {table} {index}"))
    if "::" in index:  # on an expression, which is the user's own business
        again(store)
        return
    with pytest.raises(ConfigurationError, match=r"vector_cosine_ops.*wrong.*drop index public.wrong_.*create_index"):
        again(store)
    store.database.run(lambda connection: connection.exec_driver_sql(f"drop index {name}"))
    store.create_index()
    store.create_index()  # there is one: nothing to do
    again(store)


@pytest.mark.parametrize("concurrently", [False, True])
def test_the_planner_knows_a_table_that_was_indexed(store: PgVectorStore, concurrently: bool) -> None:
    """Without statistics it would compare every passage until autovacuum comes by, whatever index there is."""
    store.add_texts(["x"] * 50)
    store.create_index(concurrently=concurrently)
    known = sa.text("select count(*) from pg_stats where tablename = :name and attname = 'tenant'")
    name = store.collection.table_name
    assert store.database.run(lambda connection: connection.scalar(known, {"name": name})) == 1


async def test_an_index_made_while_others_write(store: PgVectorStore) -> None:
    """Made concurrently, and again after a crash left it half made."""
    await store.acreate_index(concurrently=True)
    mark = f"update pg_index set indisvalid = false where indexrelid = '{store.collection.table_name}_hnsw'::regclass"
    await store.database.arun(lambda connection: connection.exec_driver_sql(mark))
    with pytest.raises(ConfigurationError, match="not finished"):
        again(store)
    await store.acreate_index(concurrently=True)
    again(store)
    store.drop_index()
    store.create_metadata_index()
    again(store)


def test_two_that_make_an_index(store: PgVectorStore) -> None:
    """Whoever comes second waits for the first, finds its index, and is content."""
    collection = store.collection
    with ThreadPoolExecutor(1) as threads, store.database.connection() as first:
        indexes.create(first, collection, m=16, ef_construction=64, memory_mb=8)
        second = threads.submit(store.create_index)
        until(store, "select count(*) from pg_locks where locktype = 'advisory' and not granted")
        first.commit()
        second.result(timeout=60)
    assert len(store.database.run(lambda connection: indexes.vector_indexes(connection, collection))) == 1


def test_while_an_index_is_made(store: PgVectorStore) -> None:
    """The store can be opened and searched; a second one that would be made meanwhile is refused, not the first."""
    store.add_texts(["x"])
    collection = store.collection
    with ThreadPoolExecutor(1) as threads, store.database.connection() as writer:
        writer.exec_driver_sql(f"update {collection.table_name} set text = 'y'")  # the index waits for its end
        first = threads.submit(store.create_index, concurrently=True)
        until(store, "select count(*) from pg_stat_progress_create_index where phase like 'waiting%%'")
        again(store)
        assert store.nearest(VECTOR, 1).exact
        with pytest.raises(ConfigurationError, match="at this moment"):
            store.create_index(concurrently=True)
        writer.rollback()
        first.result(timeout=60)
    assert len(store.database.run(lambda connection: indexes.vector_indexes(connection, collection))) == 1


def until(store: PgVectorStore, query: str) -> None:
    """Wait for something that only the server can tell."""
    for _ in range(6_000):
        if store.database.run(lambda connection: connection.exec_driver_sql(query).scalar(), autocommit=True):
            return
        time.sleep(0.01)
    raise AssertionError(f"never came: {query}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory_mb": "1; x"}, "memory_mb must be"),
        ({"m": 1}, "m must be"),
        ({"m": 16, "ef_construction": 20}, "from 32"),
        ({"memory_mb": 5, "concurrently": True}, "drop one"),
    ],
)
def test_an_index_that_cannot_be(store: PgVectorStore, arguments: dict[str, Any], message: str) -> None:
    """Numbers out of range are named before the database is asked."""
    with pytest.raises(ConfigurationError, match=message):
        store.create_index(**arguments)


def test_vectors_too_long_for_an_index(shared_database_url: str) -> None:
    """The error says what would do."""
    with (
        PgVectorStore(url=shared_database_url, collection="long", dimensions=2_001) as store,
        pytest.raises(ConfigurationError, match="halfvec' takes up to 4,000"),
    ):
        store.create_index()


def test_an_index_that_another_process_made_is_used(store: PgVectorStore) -> None:
    """Within half a minute; until then all is compared, and said to be exact."""
    now = [0.0]
    store._searcher._clock = lambda: now[0]
    store.add_texts([f"{'x' * at}" for at in range(1, 2_102)])
    assert store.nearest(VECTOR, 3).exact
    again(store).create_index()
    assert store.nearest(VECTOR, 3).exact
    now[0] = 31.0
    assert not store.nearest(VECTOR, 3).exact


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"colection": "x"}, UnknownOptionError, "Did you mean 'collection'"),
        ({"collection": "no such", "create": False}, ConfigurationError, "no collection 'no such'.*create=False"),
        ({"schema": "nowhere", "create": False}, ConfigurationError, "There are: none"),
        ({"ef_search": 0}, ConfigurationError, "ef_search must be"),
        ({"exact": "yes"}, ConfigurationError, "exact must be"),
        ({"url": "sqlite://"}, ConfigurationError, "postgresql"),
        ({"collection": "a\0", "create": False}, ConfigurationError, "name is text of 1 to 200"),
        ({"schema": 'x"; drop schema public', "create": False}, ConfigurationError, "a schema's name"),
        ({"schema": "pg_catalog"}, ConfigurationError, "does not begin with pg_"),
        ({"dimensions": "8"}, ConfigurationError, "dimensions must be a whole number"),
    ],
)
def test_a_wrong_option(
    shared_database_url: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Said at once, with what was meant."""
    with pytest.raises(error, match=message):
        PgVectorStore(Given(), **{"url": shared_database_url} | options)


def test_a_new_collection_without_an_embedder(shared_database_url: str) -> None:
    """Nothing says how long its vectors are; one that exists is opened as it is, whatever the defaults."""
    with pytest.raises(ConfigurationError, match="give embeddings, or dimensions="):
        PgVectorStore(url=shared_database_url, collection="new")
    PgVectorStore(url=shared_database_url, collection="new", dimensions=3, metric="l2", storage="halfvec").close()
    with PgVectorStore(url=shared_database_url, collection="new") as store:
        assert (store.dimensions, store.metric, store.collection.spec.storage) == (3, "l2", "halfvec")
        with pytest.raises(ConfigurationError, match="without embeddings"):
            store.similarity_search("x")


async def test_opened_on_an_event_loop(shared_database_url: str) -> None:
    """Nothing blocks the loop: opening, filling, searching, deleting."""
    async with await PgVectorStore.afrom_texts(
        ["x", "yy"], Given(), url=shared_database_url, collection="async"
    ) as store:
        assert [each.page_content for each in await store.asimilarity_search("x", 1)] == ["x"]
        assert await store.asimilarity_search_with_score("x", 1)
        assert await store.asimilarity_search_by_vector(VECTOR, 1)
        assert await store.asimilarity_search_with_relevance_scores("x", 1)
        assert await store.amax_marginal_relevance_search("x", 1)
        assert await store.amax_marginal_relevance_search_by_vector(VECTOR, 1)
        assert await store.adelete(everything=True)
        assert await store.acount() == 0
        await store.acreate_index()
        await store.acreate_metadata_index()
        await store.adrop_index()
        assert await store.database.arun(lambda connection: indexes.vector_indexes(connection, store.collection)) == []
        await store.adrop_collection()
        with pytest.raises(ConfigurationError, match="was dropped"):
            await store.aepoch()
    with pytest.raises(DatabaseClosedError):
        await store.acount()
    with pytest.raises(ConfigurationError, match="no collection 'async'"):
        await PgVectorStore.aopen(Given(), url=shared_database_url, collection="async", create=False)
    with pytest.raises(RefusedPassagesError):
        await PgVectorStore.afrom_texts(["a\0"], Given(), url=shared_database_url, collection="async")


def test_a_database_that_was_given_stays_open(shared_database_url: str) -> None:
    """Who opened it closes it; a store that opened its own closes that, and a failed opening leaves none."""
    with Database.open(shared_database_url) as database:
        PgVectorStore(Given(), url=database).close()
        with pytest.raises(ConfigurationError):
            PgVectorStore(Given(), url=database, collection="none", create=False)
        assert PgVectorStore(Given(), url=database).count() == 0


def test_no_secret_is_shown(shared_database_url: str) -> None:
    """Neither password nor passages stand in what is printed."""
    url = sa.make_url(shared_database_url).set(password="hunter2")
    with PgVectorStore(Given(), url=url, collection="quiet") as store:
        assert "hunter2" not in repr(store) + repr(store.database)
