"""Rows of a Parquet file, which is how LangSmith exports runs in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from langgraph_prefetch.errors import TraceFileError

MAGIC = b"PAR1"
"""What such a file begins with."""
_ROWS_AT_ONCE = 64


def parquet_rows(file: str, opened: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file in order, some at a time: column -> value, moments as ``datetime``.

    Raises:
        TraceFileError: it is damaged, or pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        hint = 'pip install "langgraph-prefetch[ingest]"'
        raise TraceFileError(file, f"a Parquet file, which pyarrow reads: {hint}") from None
    try:
        for batch in ParquetFile(opened).iter_batches(batch_size=_ROWS_AT_ONCE):
            yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise TraceFileError(file, f"a Parquet file that cannot be read ({type(error).__name__})") from error
