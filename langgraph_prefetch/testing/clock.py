"""A clock that tests move by hand, and an event loop that follows it."""

from __future__ import annotations

import asyncio

from langgraph_prefetch.ports import Clock


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


class HandDrivenLoop(asyncio.SelectorEventLoop):
    """An event loop that runs only while :meth:`settle` is called, and whose timers follow a clock moved by hand."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        super().__init__()

    def time(self) -> float:
        """Seconds of the given clock."""
        return self._clock()

    def settle(self, rounds: int = 20) -> None:
        """Run what is ready, and what becomes ready by that, for so many rounds; wait for nothing."""
        for _ in range(rounds):
            self.run_until_complete(asyncio.sleep(0))
