"""Pieces as columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces

POOL = pa.system_memory_pool()
"""Where columns are made. Arrow's own pool costs a process that has just begun more than the columns themselves: it
takes memory by the megabyte, each of which is cleared first, and for each thread anew."""


def pieces(sources: Sequence[str], texts: Sequence[str], metadatas: Sequence[bytes]) -> Pieces:
    """A batch of pieces, each of one source, with one text and metadata as JSON."""
    metadata = pa.array(metadatas, pa.binary(), memory_pool=POOL).cast(pa.string())
    named, said = (pa.array(column, pa.string(), memory_pool=POOL) for column in (sources, texts))
    return pa.RecordBatch.from_arrays([named, said, metadata], schema=PIECES)
