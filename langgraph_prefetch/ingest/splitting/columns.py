"""Pieces as columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces


def pieces(sources: Sequence[str], texts: Sequence[str], metadatas: Sequence[bytes]) -> Pieces:
    """A batch of pieces, each of one source, with one text and metadata as JSON."""
    metadata = pa.array(metadatas, pa.binary()).cast(pa.string())
    return pa.RecordBatch.from_arrays(
        [pa.array(sources, pa.string()), pa.array(texts, pa.string()), metadata], schema=PIECES
    )
