"""Rows come out complete, once, with the same ids, in the same batches, whatever the timing."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_text_splitters import CharacterTextSplitter

from langgraph_prefetch.errors import ConfigurationError, DocumentOrderError
from langgraph_prefetch.ingest import IngestSettings, ingest, ingest_sync
from langgraph_prefetch.ingest.plan import INGEST, interpret
from langgraph_prefetch.ingest.plan.interpret import Work
from langgraph_prefetch.testing.passages import MemoryPassages
from tests.ingest.pipeline.corpus import DIMENSIONS, aembed, by_line, documents, embed, rows_of, store, texts_of, vector

SMALL = IngestSettings(batch_rows=5, queued_batches=2, request_items=2, in_flight=3, writers=2)


@pytest.mark.parametrize("embedder", [embed, aembed])
async def test_every_passage_is_written_with_its_vector(embedder: Any) -> None:
    """Text, source, metadata and vector belong together, by a function or a coroutine."""
    passages = store()
    report = await ingest(documents(7), by_line, embedder, passages, settings=SMALL)
    assert texts_of(passages) == sorted(f"a {number}.{line}" for number in range(7) for line in range(3))
    for row in passages.rows.values():
        assert row["source"] == row["text"][2] + ".md"
        assert row["metadata"] == f'{{"source":"{row["source"]}"}}'
        assert row["embedding"] == vector(row["text"]).tolist()
    assert (report.documents, report.passages, report.embedded, report.written.added) == (7, 21, 21, 21)
    assert passages.open_writers == 0


class _Delays:
    """Everything that may take time takes some, at random."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def wait(self) -> None:
        time.sleep(self._random.choice([0, 0, 0.0005, 0.002]))

    def documents(self) -> Iterator[Document]:
        for each in documents(9):
            self.wait()
            yield each

    def split(self, text: str) -> list[str]:
        self.wait()
        return by_line(text)

    async def embed(self, texts: Sequence[str]) -> Any:
        await asyncio.sleep(self._random.choice([0, 0.0005, 0.003]))
        return embed(texts)


@pytest.mark.allow_blocking(reason="the delays are the test's own")
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), writers=st.integers(1, 3))
def test_timing_changes_nothing(seed: int, writers: int) -> None:
    """Random delays in every stage: the same ids, rows, batches and trace as without any."""
    cut = IngestSettings(batch_rows=4, request_items=3, in_flight=4, writers=writers, queued_batches=2, splitters=2)
    calm, shaken = store(), store()
    delays = _Delays(seed)
    settled: dict[str, Any] = {"settings": cut, "trace": True, "embedder_identity": "the same"}
    first = ingest_sync(iter(documents(9)), by_line, embed, calm, **settled)
    second = ingest_sync(delays.documents(), delays.split, delays.embed, shaken, **settled)
    assert rows_of(calm) == rows_of(shaken)
    assert first.trace is not None
    assert second.trace is not None
    assert first.trace.difference(second.trace) is None
    assert {step.operator for step in first.trace} == {"load", "split", "embed", "upsert"}
    batches = [sorted(tuple(each.column("id").to_pylist()) for each in of.batches) for of in (calm, shaken)]
    assert batches[0] == batches[1]


_lines = st.lists(st.sampled_from(["u", "v", "w", "x"]), max_size=4)


@settings(max_examples=25)
@given(corpus=st.dictionaries(st.sampled_from("abcdef"), _lines, max_size=6), writers=st.integers(1, 3))
def test_the_rows_are_those_of_the_plan_run_in_the_plainest_way(corpus: dict[str, list[str]], writers: int) -> None:
    """One operator after the other, on lists: the pipeline adds speed and nothing else."""

    def split(_: int, rows: tuple[Any, ...]) -> list[dict[str, Any]]:
        found = [(source, line) for source, lines in rows for line in lines]
        return [{"id": f"{source}/{line}", "source": source, "text": line} for source, line in found]

    work: dict[str, Work] = {
        "load": lambda _, rows: rows,
        "split": split,
        "embed": lambda _, rows: [{**row, "vector": vector(row["text"]).tolist()} for row in rows],
        "upsert": lambda _, rows: {row["id"]: row for row in rows}.values(),
    }
    held, _ = interpret(INGEST, work, [corpus.items()], workers=writers)
    expected = sorted((row["source"], row["text"], row["vector"]) for rows in held for row in rows)
    given = [
        Document(page_content="\n".join(lines), metadata={"source": name}) for name, lines in corpus.items() if lines
    ]
    passages = store()
    cut = IngestSettings(batch_rows=2, request_items=1, writers=writers)
    ingest_sync(given, by_line, embed, passages, settings=cut)
    found = sorted((row["source"], row["text"], row["embedding"]) for row in passages.rows.values())
    assert found == expected


@pytest.mark.parametrize("changed", [{"batch_rows": 3}, {"writers": 3}, {"request_items": 1}, {"splitters": 2}, {}])
async def test_settings_change_no_row(changed: dict[str, int]) -> None:
    """Nor do those that are chosen while it runs."""
    first, second = store(), store()
    await ingest(documents(9), by_line, embed, first, settings=SMALL)
    await ingest(documents(9), by_line, embed, second, settings=IngestSettings(**changed))
    assert rows_of(first) == rows_of(second)


async def test_duplicates_are_written_once() -> None:
    """Equal passages of a source are one row, wherever in it they stand; those of another source are its own."""
    given = [
        Document(page_content="same\nother", metadata={"source": "a"}),
        Document(page_content="same", metadata={"source": "b"}),
        Document(page_content="same\nsame", metadata={"source": "a"}),
    ]
    passages = store()
    report = await ingest(given, by_line, embed, passages, settings=IngestSettings(batch_rows=1, writers=2))
    assert sorted((row["source"], row["text"]) for row in passages.rows.values()) == [
        ("a", "other"), ("a", "same"), ("b", "same"),
    ]  # fmt: skip
    assert report.duplicates == 2
    assert sum(batch.num_rows for batch in passages.batches) == 3


async def test_a_stream_must_keep_sources_together() -> None:
    """Else a rerun could not tell whether one has changed; a list is put in order."""
    mixed = [
        Document(page_content=text, metadata={"source": source})
        for text, source in [("1", "a"), ("2", "b"), ("3", "a")]
    ]
    await ingest(mixed, by_line, embed, store())
    with pytest.raises(DocumentOrderError, match="'a'"):
        await ingest(iter(mixed), by_line, embed, store())


async def test_a_source_too_large_to_hold_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be told unchanged, but its rows are the same."""
    monkeypatch.setattr("langgraph_prefetch.ingest.loading._HELD_DOCUMENTS", 4)
    given = [Document(page_content=f"text {number}", metadata={"source": "one"}) for number in range(20)]
    held, streamed = store(), store()
    await ingest(given, by_line, embed, held, settings=SMALL)
    report = await ingest(iter(given), by_line, embed, streamed, settings=SMALL)
    assert rows_of(held) == rows_of(streamed)
    assert report.documents == 20
    assert streamed.remembered.keys() == {"one"}


async def test_an_async_stream_of_documents_is_a_source() -> None:
    """Its items are read on its own loop, no faster than they are taken."""

    async def stream() -> AsyncIterator[Document]:
        for each in documents(5):
            await asyncio.sleep(0)
            yield each

    passages = store()
    await ingest(stream(), by_line, aembed, passages, settings=SMALL)
    assert len(passages.rows) == 15


async def test_langchain_parts_are_accepted() -> None:
    """A text splitter and an Embeddings."""
    passages = MemoryPassages(dimensions=6)
    splitter = CharacterTextSplitter(separator="\n", chunk_size=6, chunk_overlap=0)
    await ingest(documents(3), splitter, DeterministicFakeEmbedding(size=6), passages)
    assert len(passages.rows) == 9
    expected = np.asarray(DeterministicFakeEmbedding(size=6).embed_documents(["a 1.1"])[0], np.float32)
    found = next(row for row in passages.rows.values() if row["text"] == "a 1.1")
    assert found["embedding"] == expected.tolist()


async def test_wrong_arguments_are_refused_at_once() -> None:
    """By what they are."""
    with pytest.raises(ConfigurationError, match="embed takes"):
        await ingest(documents(1), by_line, "text-embedding-3", store())
    with pytest.raises(ConfigurationError, match="cleanup is"):
        await ingest(documents(1), by_line, embed, store(), cleanup="all")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="use await"):
        ingest_sync(documents(1), by_line, embed, store())
    with pytest.raises(ConfigurationError, match="batch_rows"):
        IngestSettings(batch_rows=0)
    with pytest.raises(ConfigurationError, match="engine is"):
        await ingest(documents(1), by_line, embed, store(), engine="ray")  # type: ignore[arg-type]


async def test_nothing_to_ingest_is_no_error() -> None:
    """An empty corpus, and documents that give no passage."""
    passages = store()
    report = await ingest([], by_line, embed, passages)
    assert (report.passages, report.skipped_count) == (0, 0)
    report = await ingest(documents(2), lambda text: [], embed, passages)
    assert report.documents == 2
    assert passages.rows == {}
    assert len(passages.remembered) == 2


def test_dimensions_of_the_corpus() -> None:
    """The helpers' vectors fit the helpers' store."""
    assert embed(["x"]).shape == (1, DIMENSIONS)
