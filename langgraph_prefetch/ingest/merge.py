"""The reduction: rows that are equal become one, and each source learns the ids of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.ingest.grouping import Group
from langgraph_prefetch.ingest.rows import runs, strings

try:
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


def merged(rows: pa.RecordBatch, group: Group) -> tuple[pa.RecordBatch, int]:
    """Rows of a group without those whose id their source has already, and without those that are in the store.

    Ids are made of the source as well, so that equal ids are of one source, whose ids so far are in its unit. Where
    nothing is left out, the rows are passed on as they are.

    Returns:
        The rows that remain, and how many were duplicates.
    """
    ids = strings(rows, "id")
    if group.alone is not None:
        if len(set(ids)) == len(ids):
            group.alone.ids, group.alone.counts = ids, _counts(rows, group.alone.sources)
            return rows, 0
        group.apart()
    units = group.units
    out: list[int] = []
    duplicates = 0
    for source, start, end in runs(rows):
        unit = units[source]
        fresh = dict.fromkeys(ids[start:end])
        again: list[int] = []
        known = unit.ids = unit.ids or {}
        if len(fresh) < end - start or not known.keys().isdisjoint(fresh):
            for row in range(start, end):
                if ids[row] in known:
                    again.append(row)
                known[ids[row]] = None
        else:
            known |= fresh
        duplicates += len(again)
        out += range(start, end) if unit.present else again
    if not out:
        return rows, 0
    keep = np.ones(rows.num_rows, dtype=np.bool_)
    keep[out] = False
    return rows.filter(pa.array(keep)), duplicates


def _counts(rows: pa.RecordBatch, sources: list[str]) -> Sequence[int]:
    """How many of the rows each of the sources has; rows and sources are in one order."""
    if rows.num_rows == len(sources) and strings(rows, "source") == sources:  # as most passages: too short to be cut
        return [1] * len(sources)
    found = runs(rows)
    counts = dict(zip(found.sources, (end - start for start, end in pairwise(found.starts)), strict=True))
    return [counts.get(source, 0) for source in sources]
