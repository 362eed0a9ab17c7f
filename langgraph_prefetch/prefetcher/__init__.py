"""Wires intent and speculation together and owns the life cycle of a run."""

from langgraph_prefetch.prefetcher.engine import PrefetchEngine
from langgraph_prefetch.prefetcher.run import Run

__all__ = ["PrefetchEngine", "Run"]
