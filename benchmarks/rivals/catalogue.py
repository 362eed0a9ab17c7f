"""The arms by name: which environment each runs in, and its settings. Imports none of the rivals' libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.rivals.arm import Settings

OURS = "ours"


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One arm as the comparison sees it.

    Attributes:
        environment: the name of its requirements; ``ours`` for the one that runs the benchmark.
        module: the program.
        default: its documented defaults; None: it has no row of its own for them.
        grid: what is tried to find its best settings; the best is measured as a row of its own.
        equal: its settings for (passages a request, requests in flight); None: it cannot.
    """

    environment: str
    module: str
    default: Settings | None
    grid: tuple[Settings, ...]
    equal: Callable[[int, int], Settings | None]


def _dask(rows: int, workers: int, scheduler: str = "threads") -> Settings:
    return {"rows": rows, "workers": workers, "scheduler": scheduler}


def _langchain(rows: int, parts: int = 1, store: str = "PGVector", records: str = "sql") -> Settings:
    return {"rows": rows, "parts": parts, "store": store, "records": records}


RIVALS: dict[str, Rival] = {
    OURS: Rival(
        environment=OURS,
        module="ours_arm",
        default={},
        grid=(),
        equal=lambda rows, flying: {"request_items": rows, "in_flight": flying, "batch_rows": rows},
    ),
    "dask rows": Rival(
        environment="dask",
        module="dask_arm",
        default={"rows": 1_000, "scheduler": "threads"},
        grid=(
            _dask(500, 4),
            _dask(1_000, 4),
            _dask(1_000, 8),
            _dask(2_000, 4),
            _dask(2_000, 16),
            _dask(1_000, 2, "processes"),
        ),
        equal=_dask,
    ),
    "dask bag": Rival(
        environment="dask",
        module="dask_arm",
        default={},
        grid=(),
        equal=lambda rows, flying: None,
    ),
    "dask copy": Rival(
        environment="dask",
        module="dask_arm",
        default=None,
        grid=(_dask(1_000, 4), _dask(2_000, 2), _dask(2_000, 4), _dask(2_000, 8), _dask(2_000, 16)),
        equal=_dask,
    ),
    "langchain index": Rival(
        environment="langchain",
        module="langchain_arm",
        default=_langchain(100),
        grid=(
            _langchain(1_000),
            _langchain(2_000),
            _langchain(2_000, records="memory"),
            _langchain(2_000, store="PGVectorStore", records="memory"),
        ),
        equal=lambda rows, flying: _langchain(rows) if flying == 1 else None,
    ),
    "langchain aindex": Rival(
        environment="langchain",
        module="langchain_arm",
        default=_langchain(100),
        grid=(
            _langchain(1_000),
            _langchain(2_000, records="memory"),
            _langchain(2_000, parts=4, records="memory"),
            _langchain(1_000, parts=4, records="memory"),
        ),
        equal=lambda rows, flying: _langchain(rows, parts=flying, records="sql" if flying == 1 else "memory"),
    ),
    "llamaindex": Rival(
        environment="llamaindex",
        module="llamaindex_arm",
        default={},
        grid=(
            {"rows": 2_000},
            {"rows": 2_000, "is_async": True, "flying": 4},
            {"rows": 2_000, "processes": 2},
        ),
        equal=lambda rows, flying: {"rows": rows, "is_async": flying > 1, "flying": flying},
    ),
    "ray copy": Rival(
        environment="ray",
        module="ray_arm",
        default=None,
        grid=({"rows": 2_000, "workers": 2}, {"rows": 2_000, "workers": 4}),
        equal=lambda rows, flying: {"rows": rows, "workers": flying},
    ),
}
