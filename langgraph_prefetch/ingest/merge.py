"""The reduction: rows that are equal become one, and each source learns the ids of its rows."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.ingest.rows import runs, strings
from langgraph_prefetch.ingest.units import Unit

try:
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


def merged(rows: pa.RecordBatch, units: Mapping[str, Unit]) -> tuple[pa.RecordBatch, int]:
    """Rows without those whose id their source has already, and without those that are in the store.

    Ids are made of the source as well, so that equal ids are of one source, whose ids so far are in its unit. Where
    nothing is left out, the rows are passed on as they are.

    Returns:
        The rows that remain, and how many were duplicates.
    """
    ids = strings(rows, "id")
    out: list[int] = []
    duplicates = 0
    for source, start, end in runs(rows):
        unit = units[source]
        fresh = dict.fromkeys(ids[start:end])
        again: list[int] = []
        if unit.ids or len(fresh) < end - start:
            known = unit.ids = unit.ids or {}
            for row in range(start, end):
                if ids[row] in known:
                    again.append(row)
                known[ids[row]] = None
        else:
            unit.ids = fresh
        duplicates += len(again)
        out += range(start, end) if unit.present else again
    if not out:
        return rows, 0
    keep = np.ones(rows.num_rows, dtype=np.bool_)
    keep[out] = False
    return rows.filter(pa.array(keep)), duplicates
