"""This project's store and writer, for its own arm and for the rivals that are given the writer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

import langgraph_prefetch.retrieval.writing  # noqa: F401 - else the first write would; imports count for no arm
from benchmarks.rivals.standin import DIMENSIONS
from langgraph_prefetch.retrieval import PgVectorStore

COLLECTION = "passages"


@cache
def copy_store(url: str) -> PgVectorStore:
    """The collection, made if it is not there, once for each process."""
    return PgVectorStore(None, url=url, collection=COLLECTION, dimensions=DIMENSIONS)


def rows_sql(url: str) -> str:
    """What selects the rows as ``(key, text, vector)``."""
    collection = copy_store(url).collection
    return f'select metadata->>\'key\', text, embedding from "{collection.schema}"."{collection.table_name}"'


def batch_of(passages: Sequence[dict[str, str]], vectors: Any) -> pa.RecordBatch:
    """A batch as the writer takes it, of passages with ``id``, ``key`` and ``text``."""
    keys, texts = [each["key"] for each in passages], [each["text"] for each in passages]
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    hashes = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
    columns: dict[str, pa.Array[Any]] = {
        "id": pa.array([each["id"] for each in passages], pa.string()),
        "source": pa.array(keys, pa.string()),
        "text": pa.array(texts, pa.string()),
        "metadata": pa.array([json.dumps({"key": key}) for key in keys], pa.string()),
        "content_hash": pa.array(hashes, pa.binary(16)),
        "embedding": pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), DIMENSIONS),
    }
    return pa.RecordBatch.from_pydict(columns)
