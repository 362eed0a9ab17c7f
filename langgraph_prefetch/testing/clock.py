"""Clocks that tests move by hand."""

from __future__ import annotations


class FakeClock:
    """Seconds that pass only when :meth:`pass_` is called; a :data:`~langgraph_prefetch.ports.Clock`."""

    def __init__(self, start: float = 1_000.0) -> None:
        self._now = start

    def __call__(self) -> float:
        """The present, in seconds."""
        return self._now

    def pass_(self, seconds: float) -> None:
        """Let ``seconds`` go by.

        Raises:
            ValueError: negative seconds; a clock never goes back.
        """
        if seconds < 0:
            raise ValueError(f"a clock never goes back: {seconds!r}")
        self._now += seconds
