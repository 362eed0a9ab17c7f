"""Where the work of a plan's independent operators runs: here, or on a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from langgraph_prefetch.errors import IngestError, MissingExtraError
from langgraph_prefetch.ingest.embedders import Embedder, as_matrix
from langgraph_prefetch.ingest.rows import keyed
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped
from langgraph_prefetch.ingest.splitting.shapes import PIECES, Splitter
from langgraph_prefetch.ingest.workers import Workers

try:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


@dataclass(frozen=True, slots=True)
class Cut:
    """What a splitter made of some documents.

    Attributes:
        rows: the passages, with ids.
        seconds: it took.
        cpu_seconds: how long a thread of this process computed for it; 0 where that is unknown.
        refused: documents that it failed on, and why.
    """

    rows: pa.RecordBatch
    seconds: float
    cpu_seconds: float = 0.0
    refused: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an embedder gave for one request.

    Attributes:
        matrix: the vectors, one a text.
        cpu_seconds: how long a thread of this process computed for it; 0 where that is unknown.
    """

    matrix: NDArray[np.float32]
    cpu_seconds: float = 0.0


class Engine(Protocol):
    """Runs the operators that need nothing but their own input."""

    async def split(self, splitter: Splitter, documents: Sequence[Document], embedder: bytes) -> Cut:
        """Cut documents into passages; ``embedder``, 16 bytes, stands for the embedder in the rows' hashes."""
        ...

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Answer:
        """Answer one request."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


class LocalEngine:
    """This process: coroutines on the caller's loop, all else on threads."""

    def __init__(self, splitters: int, in_flight: int) -> None:
        self._splitters = Workers(splitters, "langgraph-prefetch-split")
        self._embedders = Workers(in_flight, "langgraph-prefetch-embed")

    async def split(self, splitter: Splitter, documents: Sequence[Document], embedder: bytes) -> Cut:
        """Cut documents on a thread."""
        return await self._splitters.run(cut, splitter, documents, embedder)

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Answer:
        """Await the embedder, or call it on a thread."""
        if embedder.coroutine is not None:
            return Answer(as_matrix(await embedder.coroutine(texts), len(texts)))
        return await self._embedders.run(answered, embedder, texts)

    async def close(self) -> None:
        """End the threads."""
        await self._splitters.close()
        await self._embedders.close()


def cut(splitter: Splitter, documents: Sequence[Document], embedder: bytes) -> Cut:
    """Split documents; where that fails, each by itself, so that one of them does not cost the others."""
    began, computed = time.perf_counter(), time.thread_time()
    refused: list[Skipped] = []
    try:
        pieces = splitter.split(documents)
    except Exception:  # noqa: BLE001 - found out below which of them it is
        some = [_alone(splitter, document, refused) for document in documents]
        columns = [pa.concat_arrays([each.column(name) for each in some]) for name in PIECES.names]
        pieces = pa.RecordBatch.from_arrays(columns, schema=PIECES)
    if pieces.schema.names != PIECES.names:
        raise IngestError("split", f"the splitter gave columns {pieces.schema.names}, not {PIECES.names}")
    rows = keyed(pieces, embedder)
    return Cut(rows, time.perf_counter() - began, time.thread_time() - computed, tuple(refused))


def _alone(splitter: Splitter, document: Document, refused: list[Skipped]) -> pa.RecordBatch:
    try:
        return splitter.split([document])
    except Exception as error:  # noqa: BLE001 - a splitter may be the user's
        refused.append(Skipped(where=document.source, reason=f"cannot be split: {type(error).__name__}"))
        return pa.RecordBatch.from_pylist([], schema=PIECES)


def answered(embedder: Embedder, texts: Sequence[str]) -> Answer:
    """One request, on the thread that calls."""
    began = time.thread_time()
    matrix = as_matrix(embedder.call(texts), len(texts))
    return Answer(matrix, time.thread_time() - began)
