"""Which rows of a batch PostgreSQL would refuse, or could store but never find again. Pure; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from langgraph_prefetch.passages import Metric, RefusedRow
from langgraph_prefetch.retrieval.schema.sizes import MAX_ENTRY_BYTES
from langgraph_prefetch.retrieval.vector_faults import faulty_vectors
from langgraph_prefetch.retrieval.writing.columns import TEXTS, columns, kernels
from langgraph_prefetch.retrieval.writing.json_objects import faulty_objects

if TYPE_CHECKING:
    from langgraph_prefetch.retrieval.writing.columns import Column

MAX_TEXT_BYTES = (1 << 28) - 1
"""What ``jsonb`` takes as one string; ``text`` would take four times that."""

Fault = tuple[int, str]


def faults(batch: pa.RecordBatch, *, tenant: str, metric: Metric, storage: str) -> tuple[RefusedRow, ...]:
    """The rows that cannot be stored, each with the first thing that is wrong with it.

    Args:
        batch: its schema was checked.
        tenant: whose rows they would be.
        metric: under ``"cosine"`` a vector needs a direction.
        storage: ``"halfvec"`` holds smaller numbers than ``"vector"``.
    """
    reasons: dict[int, str] = {}
    for row, reason in _all(batch, tenant, metric, storage):
        reasons.setdefault(row, reason)
    ids = batch.column("id")
    return tuple(RefusedRow(row=row, id=_id(ids[row]), reason=reasons[row]) for row in sorted(reasons))


def without(batch: pa.RecordBatch, refused: tuple[RefusedRow, ...]) -> pa.RecordBatch:
    """The other rows; the batch itself, its buffers untouched, where nothing was refused."""
    if not refused:
        return batch
    kept = np.ones(batch.num_rows, bool)
    kept[[each.row for each in refused]] = False
    return batch.filter(pa.array(kept))


def strictly_increasing(ids: Column) -> bool:
    """Whether each id comes after the one before it, by bytes; then none is there twice, and none is null."""
    if ids.null_count:
        return False
    if not len(ids):
        return True
    return bool(kernels.all(kernels.less(ids.slice(0, len(ids) - 1), ids.slice(1)), min_count=0).as_py())


def _all(batch: pa.RecordBatch, tenant: str, metric: Metric, storage: str) -> Iterator[Fault]:
    for name in batch.schema.names:
        if batch.column(name).null_count:
            yield from ((row, f"{name} is null") for row in _where(kernels.is_null(batch.column(name))))
    broken: set[int] = set()
    for name in TEXTS:
        for row in _no_utf8(batch.column(name)):
            broken.add(row)
            yield row, f"{name} is not valid UTF-8"
    if broken:  # the checks below read texts
        whole = pa.array([row not in broken for row in range(batch.num_rows)])
        places = np.flatnonzero(whole.to_numpy(zero_copy_only=False))
        yield from ((int(places[row]), reason) for row, reason in _of_whole_texts(batch.filter(whole), tenant))
    else:
        yield from _of_whole_texts(batch, tenant)
    for row, reason in faulty_vectors(columns(batch).vectors, metric=metric, storage=storage):
        yield row, f"the vector {reason}"


def _of_whole_texts(batch: pa.RecordBatch, tenant: str) -> Iterator[Fault]:
    for name in ("id", "source", "text"):
        yield from ((row, f"{name} has a NUL character") for row in _nul(batch.column(name)))
    for name, most in (("id", MAX_ENTRY_BYTES), ("source", MAX_ENTRY_BYTES), ("text", MAX_TEXT_BYTES)):
        most = most - len(tenant.encode()) if name in ("id", "source") else most
        lengths = kernels.binary_length(batch.column(name))
        yield from ((row, f"{name} is longer than {most:,} bytes") for row in _where(kernels.greater(lengths, most)))
    yield from ((row, "an earlier row has the same id") for row in _repeated(batch.column("id")))
    yield from faulty_objects(batch.column("metadata"))


def _no_utf8(texts: Column) -> Iterator[int]:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary())
        for row, value in enumerate(raw):
            try:
                (value.as_py() or b"").decode()
            except UnicodeDecodeError:
                yield row


def _nul(texts: Column) -> NDArray[np.intp]:
    offsets: Any
    data: Any
    offsets, data = texts.buffers()[1:]
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if data is None or not len(texts):
        return _NONE
    ends = np.frombuffer(offsets, width, len(texts) + 1, texts.offset * np.dtype(width).itemsize)
    span = np.frombuffer(data, np.uint8, int(ends[-1] - ends[0]), int(ends[0]))
    if span.all():  # no byte is 0
        return _NONE
    return _where(kernels.match_substring(texts, "\0"))


def _repeated(ids: Column) -> NDArray[np.intp]:
    if strictly_increasing(ids) or kernels.count_distinct(ids, mode="all").as_py() == len(ids):
        return _NONE
    codes = ids.dictionary_encode(null_encoding="encode").indices.to_numpy()
    again = np.ones(len(ids), bool)
    again[np.unique(codes, return_index=True)[1]] = False
    return np.flatnonzero(again)


_NONE = np.zeros(0, np.intp)


def _where(mask: Column) -> NDArray[np.intp]:
    return np.flatnonzero(kernels.fill_null(mask, False).to_numpy(zero_copy_only=False))


def _id(value: Any) -> str | None:
    try:
        found: str | None = value.as_py()
    except UnicodeDecodeError:
        found = None
    return found
