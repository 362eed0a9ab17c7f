"""The columns of rows: from a splitter's pieces to what a writer takes, none of them copied on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.ingest.splitting.columns import POOL
from langgraph_prefetch.ingest.splitting.shapes import PIECES

try:
    import numpy as np
    import numpy.ma  # pyarrow asks for it at the first array of numbers, in the middle of a run
    import pyarrow as pa
    import pyarrow.compute as pc
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

ROWS: pa.Schema = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        *PIECES,
        pa.field("content_hash", pa.binary(16), nullable=False),
    ]
)
"""The columns of rows that still lack their vectors."""

_HASHED = ("source", "text", "metadata")
_kernels: Any = pc  # of any column: the stubs of pyarrow want to know of which kind
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Runs:
    """Neighbouring rows of one source: run ``i`` is ``sources[i]``, and its rows are ``starts[i]:starts[i + 1]``."""

    sources: tuple[str, ...]
    starts: tuple[int, ...]

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        return zip(self.sources, self.starts[:-1], self.starts[1:], strict=True)


def keyed(pieces: pa.RecordBatch, embedder: bytes) -> pa.RecordBatch:
    """Pieces with the ids of their rows, and a hash of what is stored under them.

    An id is the first 16 bytes, in hexadecimal, of a BLAKE2b hash of source, text and metadata. The content's hash is
    the next 16 bytes, changed by ``embedder``: other vectors are other contents.

    Args:
        pieces: a batch with the columns of ``PIECES``.
        embedder: 16 bytes that stand for the embedder.
    """
    digests = _digests(pieces)
    content = digests[:, 16:] ^ np.frombuffer(embedder, dtype=np.uint8)
    columns = {name: pieces.column(name) for name in PIECES.names}
    return pa.RecordBatch.from_arrays(
        [
            _hexadecimal(np.ascontiguousarray(digests[:, :16])),
            *columns.values(),
            pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(digests), [None, _buffer(content)]),
        ],
        schema=ROWS,
    )


def _digests(pieces: pa.RecordBatch) -> NDArray[np.uint8]:
    """32 bytes for each piece."""
    # The lengths come first, or two ways to cut the same characters would be one.
    source, text, metadata = (pieces.column(name).cast(pa.binary()) for name in _HASHED)
    lengths = [_kernels.binary_length(column).cast(pa.string()).cast(pa.binary()) for column in (source, text)]
    comma, nothing = pa.scalar(b",", pa.binary()), pa.scalar(b"", pa.binary())
    told_of = (lengths[0], comma, lengths[1], comma, source, text, metadata)
    joined = _kernels.binary_join_element_wise(*told_of, nothing, memory_pool=POOL)
    # Views of the buffer would be dearer than bytes: the garbage collector keeps count of every one.
    told = joined.to_numpy(zero_copy_only=False).tolist()
    digests = b"".join([blake2b(each, digest_size=32).digest() for each in told])
    return np.frombuffer(digests, dtype=np.uint8).reshape(-1, 32)


def _hexadecimal(digests: NDArray[np.uint8]) -> pa.StringArray:
    count, width = digests.shape
    letters = np.empty((count, width, 2), dtype=np.uint8)
    letters[:, :, 0] = _HEX[digests >> 4]
    letters[:, :, 1] = _HEX[digests & 15]
    offsets = np.arange(count + 1, dtype=np.int32) * (2 * width)
    return pa.StringArray.from_buffers(count, _buffer(offsets), _buffer(letters))


def _buffer(array: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(array).data)


def runs(batch: pa.RecordBatch) -> Runs:
    """Where the rows of each source begin."""
    count = batch.num_rows
    if not count:
        return Runs((), (0,))
    encoded = batch.column("source").dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()]
    names = encoded.dictionary.to_pylist()
    return Runs(tuple(str(names[codes[start]]) for start in starts), (*starts, count))


def with_vectors(rows: pa.RecordBatch, vectors: NDArray[np.float32]) -> pa.RecordBatch:
    """Rows with their vectors as one more column; the others, and the vectors' memory, are used as they are.

    Args:
        rows: ``n`` rows.
        vectors: shape ``(n, dimensions)``, C-contiguous.
    """
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    field = pa.field("embedding", column.type, nullable=False)
    return pa.RecordBatch.from_arrays([*rows.columns, column], schema=rows.schema.append(field))


def parts_of(rows: pa.RecordBatch, most: int) -> list[pa.RecordBatch]:
    """Rows cut into as few batches of at most ``most`` as possible, nearly equal ones; nothing is copied."""
    count = rows.num_rows
    if count <= most:
        return [rows] if count else []
    parts = -(-count // most)
    ends = [count * part // parts for part in range(parts + 1)]
    return [rows.slice(start, end - start) for start, end in pairwise(ends)]


def check_pieces(given: pa.RecordBatch) -> None:
    """A batch can be read as pieces.

    Raises:
        ConfigurationError: a column is missing or of another type.
    """
    for field in PIECES:
        if field.name not in given.schema.names:
            raise ConfigurationError(f"a batch needs a column {field.name!r} of type {field.type}")
        column = given.column(field.name)
        if column.type != field.type or column.null_count:
            raise ConfigurationError(f"column {field.name!r} must be {field.type} without nulls, not {column.type}")


def texts_of(rows: pa.RecordBatch, start: int, count: int) -> Sequence[str]:
    """The texts of some rows."""
    return strings(rows.slice(start, count), "text")


def strings(rows: pa.RecordBatch, name: str) -> list[str]:
    """A column of strings, as Python's."""
    # By way of an array of objects, which Arrow fills without a detour by a scalar for each.
    found: list[Any] = rows.column(name).to_numpy(zero_copy_only=False).tolist()
    return found
