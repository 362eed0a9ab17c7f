"""Which runs count as hits, by which definition. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.suites.cells import share
from langgraph_prefetch.suites.pairing import searches

Counts = Callable[[RunRow], bool]


def searched(rows: Iterable[RunRow]) -> list[RunRow]:
    """Runs with a search; the others have no hit to make."""
    return [row for row in rows if row.searches]


def hit(row: RunRow) -> bool:
    """By the study's definition: each search was answered by one that had been started before, ready or running."""
    return bool(row.searches) and all(each.answered != "ran" for each in row.searches)


def strict_hit(row: RunRow) -> bool:
    """A hit whose passages are those of the real queries; what was not searched again does not count."""
    return hit(row) and all(each.as_real is True for each in row.searches)


def ready_hit(row: RunRow) -> bool:
    """A hit for which nobody waited."""
    return bool(row.searches) and all(each.answered == "ready" for each in row.searches)


def thought_hit(row: RunRow) -> bool:
    """A hit that was started from what the model thought, or kept from before; not from a call as it was written."""
    return hit(row) and all(each.source in ("reasoning", "reuse") for each in row.searches)


def rate(rows: Sequence[RunRow], counts: Counts) -> str:
    """How many of the runs with a search count."""
    kept = searched(rows)
    return share(sum(counts(row) for row in kept), len(kept))


def lookups(rows: Iterable[RunRow]) -> list[float]:
    """Seconds it took to get at results that were ready."""
    return [each.lookup_seconds for each in searches(rows) if each.lookup_seconds is not None]
