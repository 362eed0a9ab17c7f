"""Embedders that need no server and no download. Those that need an extra are imported from their own modules."""

from langgraph_prefetch.retrieval.embedders.base import UnitEmbeddings
from langgraph_prefetch.retrieval.embedders.choose import NAMES, embedder
from langgraph_prefetch.retrieval.embedders.hashing import HashingEmbeddings

__all__ = ["NAMES", "HashingEmbeddings", "UnitEmbeddings", "embedder"]
