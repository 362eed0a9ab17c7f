"""The columns of a batch, looked at where Arrow keeps them: no value is converted, no buffer copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError

HASH_BYTES = 16
TEXTS = ("id", "source", "text", "metadata")
_TEXT_TYPES = (pa.string(), pa.large_string())

if TYPE_CHECKING:
    Column = pa.Array[Any]

# Of any column: the stubs of pyarrow want to know of which kind.
kernels: Any = pc


def schema(dimensions: int) -> pa.Schema:
    """The schema of a batch of passages; ``large_string`` will do for ``string``, in any order of columns."""
    types: dict[str, pa.DataType] = {name: pa.string() for name in TEXTS}
    types["content_hash"] = pa.binary(HASH_BYTES)
    types["embedding"] = pa.list_(pa.float32(), dimensions)
    return pa.schema(types)


def check_schema(batch: pa.RecordBatch, dimensions: int) -> None:
    """Look at names and types only.

    Raises:
        ConfigurationError: a column is missing, unknown or of another type; among them vectors of another length.
    """
    wanted = schema(dimensions)
    if sorted(batch.schema.names) != sorted(wanted.names):
        raise ConfigurationError(
            f"a batch of passages has the columns {', '.join(wanted.names)}, not {', '.join(batch.schema.names)}"
        )
    for field in wanted:
        found = batch.schema.field(field.name).type
        if found == field.type or (field.name in TEXTS and found in _TEXT_TYPES):
            continue
        if pa.types.is_fixed_size_list(found) and found.value_type == pa.float32():
            raise ConfigurationError(
                f"the collection takes vectors of {dimensions} numbers, not {found.list_size}: was it made for another "
                "embedding model?"
            )
        raise ConfigurationError(f"column {field.name!r} must be {field.type}, not {found}: cast it")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A batch as the encoder reads it: ``texts`` by name, and two arrays over the batch's own buffers."""

    texts: dict[str, Column]
    hashes: NDArray[np.uint8]
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.vectors)


def columns(batch: pa.RecordBatch) -> Columns:
    """The columns of a batch whose schema was checked. Where a value is null, the arrays hold anything."""
    return Columns(
        texts={name: batch.column(name) for name in TEXTS},
        hashes=_fixed(batch.column("content_hash"), HASH_BYTES),
        vectors=matrix(batch.column("embedding")),
    )


def matrix(embedding: Any) -> NDArray[np.float32]:
    """The vectors of a column, shape ``(rows, dimensions)``, over its own buffer; NaN where a number is null."""
    dimensions = embedding.type.list_size
    numbers = embedding.values.slice(embedding.offset * dimensions, len(embedding) * dimensions)
    if numbers.null_count:
        numbers = kernels.fill_null(numbers, np.nan)
    flat: NDArray[np.float32] = numbers.to_numpy(zero_copy_only=True)
    return flat.reshape(len(embedding), dimensions)


def _fixed(column: Column, width: int) -> NDArray[np.uint8]:
    data: Any = column.buffers()[1]
    if data is None:
        return np.zeros((len(column), width), np.uint8)
    flat = np.frombuffer(data, np.uint8, len(column) * width, column.offset * width)
    return flat.reshape(len(column), width)
