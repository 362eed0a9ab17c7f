"""LangChain's own ``index`` and ``aindex`` with our record manager and our store, in every cleanup mode."""

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, RecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.records import PgRecordManager
from tests.postgres import fresh_database

Mode = Literal["incremental", "full", "scoped_full"]
EMBEDDINGS = DeterministicFakeEmbedding(size=6)


def corpus(**sources: str) -> list[Document]:
    """One passage for each word of each source."""
    return [
        Document(word, metadata={"source": source, "word": word})
        for source, words in sources.items()
        for word in words.split()
    ]


RUNS = [
    corpus(a="one two three", b="four five"),
    corpus(a="one two three", b="four five"),  # unchanged
    corpus(a="one three new", b="four five"),  # a passage changed
    corpus(a="one", c="six seven six"),  # a source is gone, another came; a duplicate
    [],
    corpus(b="four five six"),
]


@pytest.fixture(scope="module")
def url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as made:
        yield made


@pytest.fixture
def ours(url: str) -> Iterator[tuple[PgRecordManager, PgVectorStore]]:
    name = uuid.uuid4().hex
    with PgVectorStore(EMBEDDINGS, url=url, collection=name) as store:
        manager = PgRecordManager(name, url)
        manager.create_schema()
        yield manager, store
        manager.close()


def sync(docs: Sequence[Document], manager: RecordManager, store: VectorStore, **options: Any) -> Any:
    return index(list(docs), manager, store, source_id_key="source", key_encoder="blake2b", **options)


def through_a_loop(docs: Sequence[Document], manager: RecordManager, store: VectorStore, **options: Any) -> Any:
    return asyncio.run(aindex(list(docs), manager, store, source_id_key="source", key_encoder="blake2b", **options))


def contents(store: VectorStore) -> list[str]:
    return sorted(document.page_content for document in store.similarity_search("one", k=100))


@pytest.mark.parametrize("mode", [None, "incremental", "full", "scoped_full"])
@pytest.mark.parametrize("run", [sync, through_a_loop])
def test_as_with_langchains_own_in_memory(
    ours: tuple[PgRecordManager, PgVectorStore], mode: Mode | None, run: Callable[..., Any]
) -> None:
    """Run after run the same counts, and the same passages in the store."""
    manager, store = ours
    model, memory = InMemoryRecordManager("tests"), InMemoryVectorStore(EMBEDDINGS)
    for docs in RUNS:
        expected = run(docs, model, memory, cleanup=mode, batch_size=3)
        assert run(docs, manager, store, cleanup=mode, batch_size=3) == expected
        assert contents(store) == contents(memory)
        assert sorted(manager.list_keys()) == sorted(model.list_keys())


def test_an_index_that_is_broken_off_is_completed_by_the_next(
    ours: tuple[PgRecordManager, PgVectorStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written but not yet recorded: the rerun writes those again, and no more."""
    manager, store = ours
    with monkeypatch.context() as patched:
        patched.setattr(manager, "update", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sync(RUNS[0], manager, store, cleanup="incremental")
    assert sync(RUNS[0], manager, store, cleanup="incremental")["num_added"] == 5
    assert sync(RUNS[0], manager, store, cleanup="incremental")["num_skipped"] == 5
    assert contents(store) == ["five", "four", "one", "three", "two"]
