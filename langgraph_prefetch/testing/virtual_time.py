"""The event loop on virtual time, for tests of agents that wait: an hour passes in no time."""

from langgraph_prefetch.evaluation.virtual_time import VirtualTimeLoop, run_virtually

__all__ = ["VirtualTimeLoop", "run_virtually"]
