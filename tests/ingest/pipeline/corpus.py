"""Documents, splitters and embedders for the tests of ingestion."""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from langchain_core.documents import Document
from numpy.typing import NDArray

from langgraph_prefetch.testing.passages import MemoryPassages

DIMENSIONS = 4


def vector(text: str) -> NDArray[np.float32]:
    """One that belongs to the text, and is never all zeros."""
    return np.frombuffer(blake2b(text.encode(), digest_size=DIMENSIONS).digest(), np.uint8).astype(np.float32) + 1


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([vector(each) for each in texts], np.float32).reshape(-1, DIMENSIONS)


async def aembed(texts: Sequence[str]) -> NDArray[np.float32]:
    await asyncio.sleep(0)
    return embed(texts)


def by_line(text: str) -> list[str]:
    return text.splitlines()


def documents(count: int, lines: int = 3, *, of: str = "a") -> list[Document]:
    return [
        Document(
            page_content="\n".join(f"{of} {number}.{line}" for line in range(lines)),
            metadata={"source": f"{number}.md"},
        )
        for number in range(count)
    ]


def store(before_write: Callable[[pa.RecordBatch], object] | None = None) -> MemoryPassages:
    return MemoryPassages(dimensions=DIMENSIONS, before_write=before_write)


def rows_of(passages: MemoryPassages) -> dict[str, tuple[Any, ...]]:
    """What a search could tell apart."""
    return {
        key: (row["source"], row["text"], row["metadata"], row["content_hash"], tuple(row["embedding"]))
        for key, row in passages.rows.items()
    }


def texts_of(passages: MemoryPassages) -> list[str]:
    return sorted(row["text"] for row in passages.rows.values())
