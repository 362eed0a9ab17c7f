"""Pieces as columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces


def pieces(sources: Sequence[str], texts: Sequence[str], metadatas: Sequence[str]) -> Pieces:
    """A batch of pieces, each of one source, with one text and metadata as JSON."""
    columns = [pa.array(column, pa.string()) for column in (sources, texts, metadatas)]
    return pa.RecordBatch.from_arrays(columns, schema=PIECES)
