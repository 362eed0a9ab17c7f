"""Filling a passage store: load, split, embed, upsert, all at once.

The names below need the extra ``ingest``; ``langgraph_prefetch.ingest.plan`` does without.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph_prefetch.ingest.costs import CostModel
    from langgraph_prefetch.ingest.dry_run import Estimate, estimate
    from langgraph_prefetch.ingest.front import ingest, ingest_sync
    from langgraph_prefetch.ingest.report import IngestProgress, IngestReport
    from langgraph_prefetch.ingest.settings import IngestSettings

__all__ = [
    "CostModel",
    "Estimate",
    "IngestProgress",
    "IngestReport",
    "IngestSettings",
    "estimate",
    "ingest",
    "ingest_sync",
]

_HOMES = {
    "CostModel": "costs",
    "Estimate": "dry_run",
    "IngestProgress": "report",
    "IngestReport": "report",
    "IngestSettings": "settings",
    "estimate": "dry_run",
    "ingest": "front",
    "ingest_sync": "front",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:  # on demand: the plans need none of the libraries that the rest does
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
