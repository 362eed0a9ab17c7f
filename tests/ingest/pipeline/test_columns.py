"""Columns pass from the splitter to the writer as they are."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError, DocumentOrderError
from langgraph_prefetch.ingest import IngestSettings, ingest
from langgraph_prefetch.ingest.rows import keyed, parts_of, runs
from langgraph_prefetch.ingest.splitting import PIECES
from tests.ingest.pipeline.corpus import documents, embed, rows_of, store

UNCOPIED = ("source", "text", "metadata")


def addresses(batch: pa.RecordBatch, names: tuple[str, ...]) -> dict[str, list[int | None]]:
    return {name: [None if each is None else each.address for each in batch.column(name).buffers()] for name in names}


def pieces(*rows: tuple[str, str]) -> pa.RecordBatch:
    columns = [[source for source, _ in rows], [text for _, text in rows], ["{}"] * len(rows)]
    return pa.RecordBatch.from_arrays([pa.array(each, pa.string()) for each in columns], schema=PIECES)


class _Splitter:
    """Keeps what it gave, so that memory that is freed cannot be taken for memory that was kept."""

    identity = "one"

    def __init__(self) -> None:
        self.given: list[pa.RecordBatch] = []

    def split(self, documents: Any) -> pa.RecordBatch:
        made = pieces(*[(each.source, line) for each in documents for line in each.text.splitlines()])
        self.given.append(made)
        return made


@pytest.mark.parametrize("writers", [1, 3])
async def test_no_column_is_copied_from_split_to_write(writers: int) -> None:
    """Source, text and metadata have, at the writer, the buffers that the splitter made."""
    splitter, passages = _Splitter(), store()
    await ingest(documents(40), splitter, embed, passages, settings=IngestSettings(batch_rows=8, writers=writers))
    made = {tuple(addresses(each, UNCOPIED)["text"]): addresses(each, UNCOPIED) for each in splitter.given}
    assert len(passages.batches) > writers
    for batch in passages.batches:
        found = addresses(batch, UNCOPIED)
        assert made[tuple(found["text"])] == found


async def test_the_vectors_of_a_request_become_the_column() -> None:
    """A batch that is one request takes the embedder's own memory."""
    given: list[Any] = []

    def remembered(texts: Any) -> Any:
        given.append(embed(texts))
        return given[-1]

    passages = store()
    await ingest(documents(2), _Splitter(), remembered, passages, settings=IngestSettings(request_items=100))
    (batch,) = passages.batches
    column = batch.column("embedding")
    assert isinstance(column, pa.FixedSizeListArray)
    assert column.flatten().to_numpy().ctypes.data == given[0].ctypes.data


async def test_a_record_batch_is_a_source_and_is_not_copied() -> None:
    """Its ids, where it has them, are the rows' ids."""
    batch = pieces(*[(f"{number}.md", f"text {number}") for number in range(5)])
    named = batch.append_column("id", pa.array([f"key {number}" for number in range(5)]))
    passages = store()
    report = await ingest(named, None, embed, passages)
    assert sorted(passages.rows) == [f"key {number}" for number in range(5)]
    assert addresses(passages.batches[0], (*UNCOPIED, "id")) == addresses(named, (*UNCOPIED, "id"))
    assert report.written.added == 5
    again = await ingest(named, None, embed, passages)
    assert (again.unchanged, again.embedded) == (5, 0)


@pytest.mark.parametrize("writers", [1, 3])
@pytest.mark.parametrize("cut", [1, 2, 7, 100])
async def test_batches_of_any_size_give_the_same_rows(cut: int, writers: int) -> None:
    """A source may go over several batches; a reader, a table and a list do."""
    rows = [("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("c", "5"), ("c", "6"), ("d", "7")]
    whole, parts = store(), store()
    await ingest(pieces(*rows), None, embed, whole)
    batches = [pieces(*rows[start : start + cut]) for start in range(0, len(rows), cut)]
    reader = pa.RecordBatchReader.from_batches(PIECES, batches)
    await ingest(reader, None, embed, parts, settings=IngestSettings(batch_rows=2, writers=writers))
    assert rows_of(whole) == rows_of(parts)
    assert parts.remembered.keys() == {"a", "b", "c", "d"}
    await ingest(pa.Table.from_batches(batches), None, embed, parts)
    assert rows_of(whole) == rows_of(parts)


async def test_changed_rows_of_a_batch_replace_the_old() -> None:
    """And only those of changed sources are embedded."""
    passages = store()
    await ingest(pieces(("a", "1"), ("b", "2"), ("b", "3")), None, embed, passages)
    report = await ingest(pieces(("a", "1"), ("b", "3"), ("b", "4")), None, embed, passages)
    assert sorted(row["text"] for row in passages.rows.values()) == ["1", "3", "4"]
    assert (report.unchanged, report.embedded, report.deleted) == (1, 2, 1)


async def test_a_batch_that_cannot_be_read_is_refused() -> None:
    """Missing columns, wrong types, nulls, sources in several places."""
    with pytest.raises(ConfigurationError, match="'text'"):
        await ingest(pieces(("a", "1")).drop_columns(["text"]), None, embed, store())
    with pytest.raises(ConfigurationError, match="'id' must be string"):
        await ingest(pieces(("a", "1")).append_column("id", pa.array([1])), None, embed, store())
    with pytest.raises(DocumentOrderError):
        await ingest(pieces(("a", "1"), ("b", "2"), ("a", "3")), None, embed, store())


_texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)


@given(
    rows=st.lists(st.tuples(_texts, _texts), min_size=1, max_size=6), skipped=st.integers(0, 3), most=st.integers(1, 4)
)
def test_ids_are_hashes_of_what_a_row_is(rows: list[tuple[str, str]], skipped: int, most: int) -> None:
    """Also of a slice, whose strings do not begin where its buffers do; other embedders, other contents."""
    batch = pieces(*[("x", "y")] * skipped, *rows).slice(skipped)
    made = keyed(batch, bytes(16))
    for (source, text), key, content in zip(
        rows, made.column("id").to_pylist(), made.column("content_hash").to_pylist(), strict=True
    ):
        parts = source.encode(), text.encode()
        told = b"%d,%d," % (len(parts[0]), len(parts[1])) + b"".join(parts) + b"{}"
        digest = hashlib.blake2b(told, digest_size=32).digest()
        assert (key, content) == (digest[:16].hex(), digest[16:])
    other = keyed(batch, bytes([1] * 16))
    assert other.column("id") == made.column("id")
    assert not np.any([a == b for a, b in zip(other.column("content_hash"), made.column("content_hash"), strict=True)])
    cut = parts_of(made, most)
    assert pa.Table.from_batches(cut).to_pylist() == made.to_pylist()
    assert max(each.num_rows for each in cut) <= most
    assert [name for name, start, end in runs(made) for _ in range(start, end)] == [source for source, _ in rows]
