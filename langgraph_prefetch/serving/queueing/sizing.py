"""What resizes pools while they serve, or while they are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from langgraph_prefetch.events import StagePressure


class PoolSizing(Protocol):
    """Says how many replicas each pool is to have. Never called twice at once."""

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        """Pool -> replicas from now on; pools that are left out stay as they are.

        Args:
            pressures: one of each pool, which count what happened since the last call.
            now: time.
        """
        ...
