"""Passages in the binary format of PostgreSQL's COPY, made column by column: no Python runs for a single row.

The format is that of https://www.postgresql.org/docs/current/sql-copy.html (binary format): per row the number of
fields, then per field its length and its bytes, all numbers big-endian. Fields are in the form that the type's
``recv`` function reads: texts as they are, ``jsonb`` after the version byte 1, ``vector`` and ``halfvec`` as two 16-bit
numbers (dimensions, 0) and the floats.

How often the bytes of a batch are copied on their way:

1. vectors and hashes, from the Arrow buffers into fields, which turns the bytes of the floats around (once);
2. everything, from the Arrow buffers or those fields into the stream, row after row (once);
3. by libpq into its output buffer (once), from where the kernel takes it.

So a text is copied once in this package and a vector twice, a block of ``BLOCK_BYTES`` at a time, so that memory does
not grow with the batch. Blocks are large since each is a score of calls into Arrow, and after each of those the thread
waits for its turn. The stream goes to the driver as views of that block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from langgraph_prefetch.retrieval.driver import COPY_HEADER, COPY_TRAILER
from langgraph_prefetch.retrieval.writing.columns import HASH_BYTES, TEXTS, Columns, kernels

if TYPE_CHECKING:
    from langgraph_prefetch.retrieval.writing.columns import Column

FIELDS = ("tenant", *TEXTS, "content_hash", "embedding")
"""The fields of a row, in order."""
BLOCK_BYTES = 1 << 20
POOL = pa.system_memory_pool()
"""Arrow's own pool takes memory by the megabyte, all of which is cleared first, for each thread anew: in a process that
has just begun that costs more than making the stream."""
_JSONB_VERSION = b"\x01"
_FLOATS = {"vector": ">f4", "halfvec": ">f2"}


def copy_stream(
    columns: Columns, *, tenant: str, storage: str, order: NDArray[np.int64] | None = None, block: int = BLOCK_BYTES
) -> Iterator[memoryview]:
    """The whole stream of a batch, header and trailer included, in pieces of about ``block`` bytes.

    Args:
        columns: without nulls, every value one that PostgreSQL takes.
        tenant: whose they are; the first field of each row.
        storage: ``"vector"`` or ``"halfvec"``.
        order: the rows to send, in this order; as they are if None.
        block: a piece ends with the first row that makes it longer.
    """
    yield memoryview(COPY_HEADER)
    for rows in _blocks(columns, order, block):
        yield memoryview(encoded_rows(columns, rows, tenant=tenant.encode(), storage=storage))
    yield memoryview(COPY_TRAILER)


def encoded_rows(columns: Columns, rows: slice | NDArray[np.int64], *, tenant: bytes, storage: str) -> pa.Buffer:
    """Some rows of a batch as they stand in the stream."""
    large = any(pa.types.is_large_string(column.type) for column in columns.texts.values())
    kind = pa.large_binary() if large else pa.binary()
    opening = np.array([len(FIELDS)], ">i2").tobytes() + _length(len(tenant)) + tenant
    pieces: list[Column] = []
    for name in TEXTS:
        text = columns.texts[name]
        text = text[rows] if isinstance(rows, slice) else kernels.take(text, rows, memory_pool=POOL)
        before, after = opening if name == "id" else b"", _JSONB_VERSION if name == "metadata" else b""
        pieces += [_announced(text, kind, before, after), text.cast(kind)]
    pieces.append(_fixed_width(_tail(columns.hashes[rows], columns.vectors[rows], storage), kind))
    joined = kernels.binary_join_element_wise(*pieces, pa.scalar(b"", kind), memory_pool=POOL)
    offsets = np.frombuffer(joined.buffers()[1], np.int64 if large else np.int32, len(joined) + 1, 0)
    stream: pa.Buffer = joined.buffers()[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    return stream


def text_array(texts: Column) -> bytes:
    """Texts as one value of the type ``text[]``, in its binary form (``array_recv``)."""
    kind = pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()
    header = np.array([1, 0, _TEXT_OID, len(texts), 1] if len(texts) else [0, 0, _TEXT_OID], ">i4")
    if not len(texts):
        return header.tobytes()
    joined = kernels.binary_join_element_wise(_announced(texts, kind, b"", b""), texts.cast(kind), pa.scalar(b"", kind))
    elements: bytes = joined.buffers()[2].to_pybytes()
    return header.tobytes() + elements


_TEXT_OID = 25


def _blocks(columns: Columns, order: NDArray[np.int64] | None, block: int) -> Iterator[slice | NDArray[np.int64]]:
    sizes = sum(
        (
            kernels.binary_length(text).to_numpy(zero_copy_only=False).astype(np.int64)
            for text in columns.texts.values()
        ),
        start=np.full(len(columns), 4 * columns.vectors.shape[1] + HASH_BYTES, np.int64),
    )
    ends = np.cumsum(sizes if order is None else sizes[order])
    cuts = np.flatnonzero(np.diff(ends // block)) + 1
    for start, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(ends)], strict=True):
        if end > start:
            yield slice(start, end) if order is None else order[start:end]


def _length(length: int) -> bytes:
    return length.to_bytes(4, "big", signed=True)


def _announced(texts: Column, kind: pa.DataType, before: bytes, after: bytes) -> Column:
    """What comes before each text: its length, between bytes that are the same for all."""
    lengths = kernels.binary_length(texts).to_numpy(zero_copy_only=False) + len(after)
    made = np.empty((len(texts), len(before) + 4 + len(after)), np.uint8)
    made[:, : len(before)] = np.frombuffer(before, np.uint8)
    made[:, len(before) : len(before) + 4] = lengths.astype(">i4").view(np.uint8).reshape(-1, 4)
    made[:, len(before) + 4 :] = np.frombuffer(after, np.uint8)
    return _fixed_width(made, kind)


def _tail(hashes: NDArray[np.uint8], vectors: NDArray[np.float32], storage: str) -> NDArray[np.void]:
    """The last two fields of each row, hash and vector."""
    rows, dimensions = vectors.shape
    floats = np.dtype(_FLOATS[storage])
    fields = [
        ("hash_length", ">i4"),
        ("hash", np.uint8, (HASH_BYTES,)),
        ("length", ">i4"),
        ("dimensions", ">u2"),
        ("unused", ">u2"),
        ("floats", floats, (dimensions,)),
    ]
    made = np.empty(rows, np.dtype(fields))  # packed: no gaps between the fields
    made["hash_length"], made["hash"] = HASH_BYTES, hashes
    made["length"], made["dimensions"], made["unused"] = 4 + floats.itemsize * dimensions, dimensions, 0
    made["floats"] = vectors
    return made


def _fixed_width(rows: NDArray[Any], kind: pa.DataType) -> Column:
    """The bytes of each row of an array as one Arrow value, over the array's own memory."""
    width = rows.nbytes // len(rows)
    ends = width * np.arange(len(rows) + 1, dtype=np.int64)
    offsets: Any = ends if kind == pa.large_binary() else ends.astype(np.int32)
    memory: Any = rows
    return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(memory)])
