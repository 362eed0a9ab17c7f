"""What the database holds: a registry of collections, one table of passages for each, and how they came to be.

Raises:
    MissingExtraError: SQLAlchemy, Alembic or NumPy is not installed.
"""

from langgraph_prefetch.retrieval import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.retrieval.schema.collections import Collection, CollectionSpec, Storage
from langgraph_prefetch.retrieval.schema.migration import migrate
from langgraph_prefetch.retrieval.schema.registry import drop, epoch, find, make, names
from langgraph_prefetch.retrieval.schema.tables import passages, registry

__all__ = [
    "Collection",
    "CollectionSpec",
    "Storage",
    "drop",
    "epoch",
    "find",
    "make",
    "migrate",
    "names",
    "passages",
    "registry",
]
