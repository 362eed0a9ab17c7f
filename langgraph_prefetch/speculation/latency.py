"""How long a tool's retrievals usually take, from the last few of them."""

from __future__ import annotations

from collections import deque

WINDOW = 32


class TypicalSeconds:
    """The 95th percentile (nearest rank) of the last 32 retrievals of each tool, in seconds."""

    def __init__(self) -> None:
        # Single operations on a deque are atomic, so no lock is needed.
        self._seen: dict[str, deque[float]] = {}

    def add(self, tool: str, seconds: float) -> None:
        """One more retrieval of ``tool`` took ``seconds``."""
        self._seen.setdefault(tool, deque(maxlen=WINDOW)).append(seconds)

    def get(self, tool: str) -> float | None:
        """Its 95th percentile; None before the first."""
        seen = self._seen.get(tool)
        if not seen:
            return None
        ordered = sorted(seen.copy())
        return ordered[int(0.95 * (len(ordered) - 1) + 0.5)]
