"""How long tokens gather before prefetch's detector reads them, by how busy its reading thread is."""

from __future__ import annotations

from langgraph_prefetch.serving.granularity.controller import Grain, Granularity
from langgraph_prefetch.speculation.reading import GATHER_SECONDS
from langgraph_prefetch.speculation.shared import gather_by

READING = Grain(most=16, idle_below=0.3, busy_above=0.6)
"""Up to sixteen times a millisecond: within the time of one token of a fast model."""


class LoadedReading:
    """Lets tokens gather for as many milliseconds as its granularity says tokens.

    Belongs to the reading thread. No token of a user waits for it: the handler only notes each. What waits is the start
    of a search, by at most ``most`` milliseconds.

    Args:
        grain: the rules, in milliseconds instead of tokens.
    """

    def __init__(self, grain: Grain = READING) -> None:
        self.granularity = Granularity(grain)
        self._passed = 0.0

    def gather_seconds(self, read_seconds: float, gathered_seconds: float) -> float:
        """How long to let tokens gather next, after the last round gathered and read for so long."""
        passed = read_seconds + gathered_seconds
        self._passed += passed
        return GATHER_SECONDS * self.granularity.see(read_seconds / passed if passed > 0 else 0.0, self._passed)


def read_by_load(grain: Grain = READING) -> None:
    """Let the process's detector read larger batches while it is busy. For servers with many streams at once.

    Call it again with a grain whose ``most`` is 1 for the fixed millisecond.
    """
    gather_by(LoadedReading(grain))
