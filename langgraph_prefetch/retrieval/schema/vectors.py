"""Vectors as pgvector sends and receives them: binary, big-endian, no digits printed or parsed.

``vector`` is two 16-bit numbers (dimensions, 0) and 32-bit floats, ``halfvec`` the same with 16-bit floats
(``vector_send`` and ``halfvec_send`` in pgvector's source).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format

from langgraph_prefetch.retrieval.schema.collections import Storage

if TYPE_CHECKING:
    import sqlalchemy as sa
    from numpy.typing import NDArray

_FLOAT = {"vector": ">f4", "halfvec": ">f2"}


class Binary(bytes):
    """Sent as it is, in the binary format of whatever type the server expects at its place."""

    __slots__ = ()


class _BinaryDumper(Dumper):
    format = Format.BINARY
    oid = 0

    def dump(self, obj: bytes) -> bytes:
        return obj


def takes_binary(connection: sa.Connection) -> None:
    """Let a connection send ``Binary``; does nothing the second time."""
    if "prefetch_binary" not in connection.info:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.adapters.register_dumper(Binary, _BinaryDumper)
        connection.info["prefetch_binary"] = True


def encode(vector: NDArray[np.float32], storage: Storage) -> Binary:
    """One vector, as a parameter."""
    return Binary(_rows(vector.reshape(1, -1), storage).tobytes())


def encode_array(vectors: NDArray[np.float32], storage: Storage, oid: int) -> Binary:
    """Vectors, shape ``(n, dimensions)``, as one parameter that is an array of them; ``oid`` is the element type's."""
    rows = _rows(vectors, storage)
    cells = np.empty(len(rows), np.dtype([("length", ">i4"), ("row", rows.dtype)]))
    cells["length"], cells["row"] = rows.dtype.itemsize, rows
    header = np.array([1 if len(rows) else 0, 0, oid, len(rows), 1], ">i4")  # dimensions, nulls, type, length, base
    return Binary((header if len(rows) else header[:3]).tobytes() + cells.tobytes())


def decode(
    sent: bytes | memoryview, dimensions: int, storage: Storage, order: Sequence[int] | None = None
) -> NDArray[np.float32]:
    """Vectors sent one after the other, as a read-only array of shape ``(n, dimensions)``; reordered if asked."""
    rows = np.frombuffer(sent, _row(dimensions, storage))
    vectors = rows["numbers"].astype(np.float32, order="C")
    if order is not None:
        vectors = vectors[order]
    vectors.flags.writeable = False
    return vectors


def _row(dimensions: int, storage: Storage) -> np.dtype[np.void]:
    return np.dtype([("dimensions", ">u2"), ("unused", ">u2"), ("numbers", _FLOAT[storage], (dimensions,))])


def _rows(vectors: NDArray[np.float32], storage: Storage) -> NDArray[np.void]:
    count, dimensions = vectors.shape
    rows = np.zeros(count, _row(dimensions, storage))
    rows["dimensions"], rows["numbers"] = dimensions, vectors
    return rows
