"""What has not changed is passed over, what has is replaced, and deletes follow LangChain's modes."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_prefetch.ingest import IngestSettings, ingest, ingest_sync
from langgraph_prefetch.ingest.settings import Cleanup
from langgraph_prefetch.testing.passages import MemoryPassages
from tests.ingest.pipeline.corpus import by_line, documents, embed, rows_of, store, texts_of


class _Counted:
    """An embedder, and a splitter, that count."""

    def __init__(self) -> None:
        self.texts = self.splits = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        return embed(texts)

    def split(self, text: str) -> list[str]:
        self.splits += 1
        return by_line(text)


async def test_an_unchanged_corpus_costs_nothing() -> None:
    """No split, no embedding, no write; a changed document only itself."""
    passages, counted = store(), _Counted()
    await ingest(documents(6), counted.split, counted.embed, passages)
    before, counted.texts, counted.splits = rows_of(passages), 0, 0
    report = await ingest(documents(6), counted.split, counted.embed, passages)
    assert (report.unchanged, counted.splits, counted.texts, len(passages.batches)) == (6, 0, 0, 1)
    changed = [*documents(5), Document(page_content="a 5.0\nnew", metadata={"source": "5.md"})]
    report = await ingest(changed, counted.split, counted.embed, passages)
    assert (counted.splits, counted.texts, report.deleted) == (1, 2, 2)
    kept = {key: row for key, row in before.items() if row[0] != "5.md"}
    assert kept.items() < rows_of(passages).items()
    assert len(passages.rows) == 17


@pytest.mark.parametrize("changes", ["splitter", "embedder", "identity", "forced"])
async def test_another_splitter_or_embedder_changes_every_document(changes: str) -> None:
    """They are part of what a document's rows are made of."""

    def other_split(text: str) -> list[str]:
        return [text]

    def other_embed(texts: Sequence[str]) -> Any:
        return embed(texts) + 1

    passages = store()
    await ingest(documents(3), by_line, embed, passages)
    report = await ingest(
        documents(3),
        other_split if changes == "splitter" else by_line,
        other_embed if changes == "embedder" else embed,
        passages,
        embedder_identity="v2" if changes == "identity" else None,
        force_update=changes == "forced",
    )
    assert (report.unchanged, report.documents) == (0, 3)
    assert len(passages.rows) == (3 if changes == "splitter" else 9)
    if changes in ("embedder", "identity"):
        assert report.written.updated == 9


_Corpus = dict[str, list[str]]
_corpora = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.sampled_from("uvwx"), min_size=1, max_size=3), min_size=1
)


def _documents(corpus: _Corpus) -> list[Document]:
    return [
        Document(page_content=text, metadata={"source": source}) for source, texts in corpus.items() for text in texts
    ]


@pytest.mark.parametrize("cleanup", [None, "incremental", "full", "scoped_full"])
@pytest.mark.parametrize("recorded", [False, True])
@settings(max_examples=25)
@given(runs=st.lists(_corpora, min_size=1, max_size=4))
def test_every_mode_leaves_what_langchain_leaves(cleanup: Cleanup | None, recorded: bool, runs: list[_Corpus]) -> None:
    """After any series of runs, in the ledger or in a RecordManager."""
    passages = store()
    ours = InMemoryRecordManager("ours") if recorded else None
    theirs, target = InMemoryRecordManager("theirs"), InMemoryVectorStore(DeterministicFakeEmbedding(size=2))
    for corpus in runs:
        ingest_sync(_documents(corpus), lambda text: [text], embed, passages, cleanup=cleanup, records=ours)
        index(
            _documents(corpus), theirs, target, cleanup=cleanup, source_id_key="source", key_encoder="blake2b",
            batch_size=1_000,
        )  # fmt: skip
    expected = sorted((row["metadata"]["source"], row["text"]) for row in target.store.values())
    assert sorted((row["source"], row["text"]) for row in passages.rows.values()) == expected


async def test_rows_left_by_a_run_without_cleanup_go_with_the_next_that_cleans() -> None:
    """Though the document itself has not changed since, and nothing is embedded for it."""
    passages, counted = store(), _Counted()
    for text in ("old", "new"):
        await ingest([_a(text)], by_line, counted.embed, passages, cleanup=None)
    assert texts_of(passages) == ["new", "old"]
    counted.texts = 0
    report = await ingest([_a("new")], by_line, counted.embed, passages)
    assert texts_of(passages) == ["new"]
    assert (counted.texts, report.deleted) == (0, 1)
    assert (await ingest([_a("new")], by_line, counted.embed, passages)).unchanged == 1


async def test_incremental_deletes_while_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document's older passages are gone before a later document is embedded."""
    monkeypatch.setattr("langgraph_prefetch.ingest.pipeline._FINISHED_AT_ONCE", 1)
    passages = store()
    await ingest([_a("old")], by_line, embed, passages)

    async def after_the_first(texts: Sequence[str]) -> Any:
        async with asyncio.timeout(20):
            while "b" in texts and "old" in texts_of(passages):  # noqa: ASYNC110 - the store has no event for it
                await asyncio.sleep(0.005)
        return embed(texts)

    given = [_a("new"), Document(page_content="b", metadata={"source": "b"})]
    cut = IngestSettings(batch_rows=1, request_items=1)
    report = await ingest(given, by_line, after_the_first, passages, settings=cut)
    assert (texts_of(passages), report.deleted, report.skipped_count) == (["b", "new"], 1, 0)


@pytest.mark.parametrize("cleanup", ["full", "scoped_full"])
async def test_nothing_is_deleted_at_the_end_of_a_run_that_failed(cleanup: Cleanup) -> None:
    """What was there is there until all that replaces it is."""
    passages = store()
    await ingest([_a("old"), *documents(2)], by_line, embed, passages, cleanup=cleanup)

    def failing() -> Any:
        yield _a("new")
        raise OSError

    with pytest.raises(Exception, match="load"):
        await ingest(failing(), by_line, embed, passages, cleanup=cleanup)
    assert {"old", "a 0.0"} < set(texts_of(passages))
    report = await ingest([_a("new")], by_line, embed, passages, cleanup=cleanup)
    assert report.deleted == (7 if cleanup == "full" else 1)
    assert "old" not in texts_of(passages)
    assert ("a 0.0" in texts_of(passages)) == (cleanup == "scoped_full")


async def test_what_could_not_be_read_is_not_deleted() -> None:
    """A document that is broken today keeps yesterday's rows, also where all others that are gone go."""
    passages = store()
    await ingest([_a("fine"), *documents(1)], by_line, embed, passages)

    def refusing(text: str) -> list[str]:
        if "fine" in text:
            raise ValueError
        return by_line(text)

    report = await ingest([_a("fine and changed")], refusing, embed, passages, cleanup="full")
    assert report.skipped_count == 1
    assert texts_of(passages) == ["fine"]


async def test_records_are_kept_by_row() -> None:
    """Of a changed document only the changed passages are embedded."""
    passages, records, counted = store(), InMemoryRecordManager("r"), _Counted()
    await ingest([_a("1\n2\n3")], by_line, counted.embed, passages, records=records)
    counted.texts = 0
    report = await ingest([_a("1\n2\n4")], by_line, counted.embed, passages, records=records)
    assert counted.texts == 1
    assert (report.written.added, report.written.unchanged, report.deleted) == (1, 2, 1)
    assert texts_of(passages) == ["1", "2", "4"]
    assert sorted(records.list_keys()) == sorted(passages.rows)


def _a(text: str) -> Document:
    return Document(page_content=text, metadata={"source": "a"})


def test_the_double_is_a_store() -> None:
    """So that what is true with it can be true with a real one."""
    from langgraph_prefetch.ports import PassageStore, PassageWriter, SourceLedger

    double = MemoryPassages(dimensions=2)
    assert isinstance(double, PassageStore)
    assert isinstance(double, PassageWriter)
    assert isinstance(double, SourceLedger)


@pytest.mark.parametrize("cleanup", ["full", "scoped_full", "incremental"])
@pytest.mark.parametrize("recorded", [False, True])
async def test_a_source_of_which_something_was_skipped_keeps_what_it_had(cleanup: Cleanup, recorded: bool) -> None:
    """What is gone cannot be told from what could not be read."""
    records = InMemoryRecordManager("r") if recorded else None
    first, other, unreadable = (Document(text, metadata={"source": "s"}) for text in ("first", "other", " "))
    passages = store()
    await ingest([first, other], by_line, embed, passages, cleanup=cleanup, records=records)
    report = await ingest([first, unreadable], by_line, embed, passages, cleanup=cleanup, records=records)
    assert (report.skipped_count, report.deleted) == (1, 0)
    assert texts_of(passages) == ["first", "other"]
