"""Searching a collection: exactly or through its index, by meaning, words or both, with vectors or without."""

from langgraph_prefetch.retrieval import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.retrieval.search.paths import Facts
from langgraph_prefetch.retrieval.search.results import Hit, Nearest

__all__ = ["Facts", "Hit", "Nearest"]
