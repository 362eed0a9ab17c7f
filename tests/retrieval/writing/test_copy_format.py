"""The COPY stream says what the batch says, whatever is in it, and is made with as few copies as promised."""

import struct
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.retrieval.driver import COPY_HEADER, COPY_TRAILER
from langgraph_prefetch.retrieval.writing.columns import columns, matrix
from langgraph_prefetch.retrieval.writing.copy_format import (
    FIELDS,
    POOL,
    copy_stream,
    encoded_rows,
    text_array,
)
from tests.retrieval.writing.batches import Passage, batch, many

FLOATS = {"vector": ">f4", "halfvec": ">f2"}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
numbers = st.floats(-60_000, 60_000, width=16)
rows = st.lists(
    st.builds(Passage, id=texts, source=texts, text=texts, metadata=texts, vector=st.tuples(numbers, numbers, numbers)),
    min_size=1,
    max_size=12,
)


def parsed(stream: bytes) -> Iterator[list[bytes]]:
    """The fields of each row, by the letter of PostgreSQL's documentation of the format."""
    assert stream.startswith(COPY_HEADER)
    at = len(COPY_HEADER)
    while (count := struct.unpack_from(">h", stream, at)[0]) != -1:
        at += 2
        fields = []
        for _ in range(count):
            (length,) = struct.unpack_from(">i", stream, at)
            at += 4
            fields.append(stream[at : at + length])
            at += length
        yield fields
    assert stream[at:] == COPY_TRAILER


def expected(passages: Sequence[Passage], tenant: str, storage: str) -> list[list[bytes]]:
    floats = FLOATS[storage]
    return [
        [
            tenant.encode(),
            each.id.encode(),
            each.source.encode(),
            each.text.encode(),
            b"\x01" + each.metadata.encode(),
            each.content_hash,
            struct.pack(">HH", len(each.vector), 0) + np.array(each.vector).astype(floats).tobytes(),
        ]
        for each in passages
    ]


@given(
    rows,
    texts,
    st.sampled_from(["vector", "halfvec"]),
    st.booleans(),
    st.integers(1, 300),
    st.data(),
)
def test_it_says_what_the_batch_says(
    passages: list[Passage], tenant: str, storage: str, large: bool, block: int, data: st.DataObject
) -> None:
    """Any texts, any slice of a batch, any order and any size of pieces: the stream has exactly those rows."""
    start = data.draw(st.integers(0, len(passages) - 1))
    end = data.draw(st.integers(start + 1, len(passages)))
    order = data.draw(st.none() | st.permutations(range(end - start)))
    sliced = batch(passages, large=large).slice(start, end - start)
    pieces = copy_stream(
        columns(sliced),
        tenant=tenant,
        storage=storage,
        order=None if order is None else np.array(order, np.int64),
        block=block,
    )
    chosen = [passages[start:end][place] for place in order or range(end - start)]
    assert list(parsed(b"".join(pieces))) == expected(chosen, tenant, storage)


def test_no_rows_are_an_empty_stream() -> None:
    """Nothing but header and trailer."""
    stream = copy_stream(columns(batch([])), tenant="", storage="vector")
    assert b"".join(stream) == COPY_HEADER + COPY_TRAILER


@given(st.lists(texts, max_size=10), st.booleans(), st.data())
def test_texts_as_an_array(values: list[str], large: bool, data: st.DataObject) -> None:
    """An array is its header and each text after its length, also of a slice."""
    start = data.draw(st.integers(0, len(values)))
    found = text_array(pa.array(values, pa.large_string() if large else pa.string())[start:])
    kept = [each.encode() for each in values[start:]]
    header = struct.pack(">iiiii", 1, 0, 25, len(kept), 1) if kept else struct.pack(">iii", 0, 0, 25)
    assert found == header + b"".join(struct.pack(">i", len(each)) + each for each in kept)


@pytest.mark.parametrize("block", [1_000, 10_000, 1 << 20])
def test_pieces_are_bounded(block: int) -> None:
    """No piece is longer than a block and one row, and all but the last are about that long."""
    pieces = [len(each) for each in copy_stream(columns(batch(many(2_000))), tenant="t", storage="vector", block=block)]
    longest = max(len(each) for each in copy_stream(columns(batch(many(50))), tenant="t", storage="vector", block=1))
    overhead = 4 * (len(FIELDS) + 2)  # lengths are not counted when rows are put into blocks
    assert max(pieces) <= (block + longest) * (1 + overhead / 60)
    assert sum(pieces) == len(b"".join(copy_stream(columns(batch(many(2_000))), tenant="t", storage="vector")))


def test_columns_are_views_of_the_batch() -> None:
    """What the encoder reads lies where Arrow put it: unchanged addresses, of slices as well."""
    whole = batch(many(100))
    for part, start in ((whole, 0), (whole.slice(30, 40), 30)):
        seen = columns(part)
        vectors: Any = whole.column("embedding")
        assert seen.vectors.ctypes.data == vectors.values.buffers()[1].address + start * 4 * 4
        hashes = whole.column("content_hash").buffers()[1]
        assert hashes is not None
        assert seen.hashes.ctypes.data == hashes.address + start * 16
        for name, column in seen.texts.items():
            assert [each and each.address for each in column.buffers()] == [
                each and each.address for each in whole.column(name).buffers()
            ]
        said = np.array([row.vector for row in many(100)], np.float32)[start : start + len(seen)]
        assert np.array_equal(matrix(part.column("embedding")), said)


def test_a_text_is_copied_once_and_a_vector_twice() -> None:
    """Encoding takes memory for the vectors once, with their bytes turned, and for the stream once: nothing else."""
    text, dimensions, count = "x" * 10_000, 1_000, 200
    made = columns(batch([Passage(id=f"{n:04}", text=text, vector=(1.0,) * dimensions) for n in range(count)]))
    pool = POOL
    encoded_rows(made, slice(0, count), tenant=b"", storage="vector")  # what is made once is made

    def taken() -> tuple[int, int]:
        before = pool.bytes_allocated()
        tracemalloc.start()
        try:
            stream = encoded_rows(made, slice(0, count), tenant=b"", storage="vector")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        sizes.add(stream.size)
        return peak, pool.bytes_allocated() - before

    # Threads that other tests left allocate too: what the least of five tries took is the encoder's own.
    sizes = set[int]()
    tries = [taken() for _ in range(5)]
    in_numpy, in_arrow = (min(each) for each in zip(*tries, strict=True))
    vectors, (everything,) = count * dimensions * 4, sizes
    assert everything > count * (len(text) + 4 * dimensions)
    assert vectors <= in_numpy <= 1.1 * vectors
    assert everything <= in_arrow <= 1.1 * everything


def test_the_stream_goes_out_as_it_was_made() -> None:
    """The pieces are views of the encoder's own memory: handing them over copies nothing."""
    made = columns(batch(many(50)))
    buffer = encoded_rows(made, slice(0, 50), tenant=b"", storage="vector")
    view = memoryview(buffer)
    assert np.frombuffer(view, np.uint8).ctypes.data == buffer.address
    assert all(isinstance(piece, memoryview) for piece in copy_stream(made, tenant="", storage="vector"))
