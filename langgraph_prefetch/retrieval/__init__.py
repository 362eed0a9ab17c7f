"""A passage store on PostgreSQL and pgvector. Needs the extra ``postgres``; embedders need only their own.

Read it in this order: ``store`` (what LangChain sees), ``search`` and ``filters`` (what is asked), ``schema`` (what
the database holds), ``database`` (how it is reached, real calls first), ``embedded`` (a server of your own),
``writing`` and ``records`` (how passages get in), ``embedders`` (where vectors come from).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph_prefetch.retrieval.database import Database, PoolLimits
    from langgraph_prefetch.retrieval.records import PgRecordManager
    from langgraph_prefetch.retrieval.search import Hit, Nearest
    from langgraph_prefetch.retrieval.store import PgVectorRetriever, PgVectorStore, SearchOptions, ShardedRetriever

# Imported when they are asked for, so that an embedder does not need a database's libraries.
_ROOMS = {
    "Database": "database",
    "Hit": "search",
    "Nearest": "search",
    "PgRecordManager": "records",
    "PgVectorRetriever": "store",
    "PgVectorStore": "store",
    "PoolLimits": "database",
    "SearchOptions": "store",
    "ShardedRetriever": "store",
}

__all__ = [
    "Database",
    "Hit",
    "Nearest",
    "PgRecordManager",
    "PgVectorRetriever",
    "PgVectorStore",
    "PoolLimits",
    "SearchOptions",
    "ShardedRetriever",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
