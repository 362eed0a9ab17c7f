"""A handle on one retrieval under way, safe to wait on from threads and from any event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
from collections.abc import Callable, Iterator
from enum import StrEnum

from langgraph_prefetch.jobs import Word
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.values import Output


class FlightState(StrEnum):
    """Where a retrieval stands."""

    QUEUED = "queued"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Flight:
    """One retrieval. The first of :meth:`land`, :meth:`fail` and :meth:`cancel` decides; later ones do nothing.

    Attributes:
        started_at: when it began to read, in clock seconds.
        ended_at: when it ended.
        grace_until: until then a call waits for it although it has not begun.
        silent: a call stopped waiting because there was no word of it.
    """

    __slots__ = ("_clock", "_future", "_word", "ended_at", "grace_until", "silent", "started_at")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._future: concurrent.futures.Future[Output] = concurrent.futures.Future()
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.grace_until: float | None = None
        self.silent = False
        self._word: Word | None = None

    @property
    def state(self) -> FlightState:
        """The present state."""
        if not self._future.done():
            return FlightState.QUEUED if self.started_at is None else FlightState.RUNNING
        # An end is for ever, so what is asked from here on cannot change in between.
        if self._future.cancelled():
            return FlightState.CANCELLED
        return FlightState.FAILED if self._future.exception() else FlightState.READY

    @property
    def seconds(self) -> float | None:
        """How long the retrieval ran; None before its end or if it never began."""
        if self.started_at is None or self.ended_at is None:
            return None
        return self.ended_at - self.started_at

    def grant(self, seconds: float) -> None:
        """From now on for so long a call may wait for it although it has not begun."""
        self.grace_until = self._clock() + seconds

    def start(self, seconds_ago: float = 0.0) -> None:
        """The retrieval begins to run, or was begun elsewhere so long ago."""
        self.started_at = self._clock() - seconds_ago

    def took(self, seconds: float) -> None:
        """It ended elsewhere, so long after its start; what time it took to hear of it is not its own."""
        if self.started_at is not None and self.ended_at is None:
            self.ended_at = self.started_at + seconds

    def watch(self, word: Word) -> None:
        """From now on a call waits for it only as long as there is word of it."""
        self._word = word

    def land(self, output: Output) -> bool:
        """The retrieval has its result; False if its end was decided before."""
        self._note_end()
        try:
            self._future.set_result(output)
        except concurrent.futures.InvalidStateError:
            return False
        return True

    def fail(self, error: BaseException) -> bool:
        """The retrieval failed; False if its end was decided before."""
        self._note_end()
        try:
            self._future.set_exception(error)
        except concurrent.futures.InvalidStateError:
            return False
        return True

    def cancel(self) -> bool:
        """Give the retrieval up; False if its end was decided before."""
        if self._future.done():
            return False
        self._note_end()
        return self._future.cancel()

    def cancel_after_fork(self) -> None:
        """Cancel in a forked child, where a thread that is not here may hold the lock of the future for ever."""
        self._future = concurrent.futures.Future()
        self._future.cancel()

    def on_end(self, callback: Callable[[Flight], None]) -> None:
        """Call ``callback(flight)`` once, when the end is decided (at once if it is)."""
        self._future.add_done_callback(lambda _: callback(self))

    @property
    def output(self) -> Output | None:
        """The result if there is one."""
        return self._future.result() if self.state is FlightState.READY else None

    @property
    def error(self) -> BaseException | None:
        """What the retrieval raised, if it failed."""
        return self._future.exception() if self.state is FlightState.FAILED else None

    def wait(self, seconds: float, since: float | None = None) -> Output | None:
        """Block the calling thread for at most ``seconds``; None if there is no result by then, or no word of it.

        Args:
            seconds: how long.
            since: when the call began to wait, if not now, as ``time.monotonic`` has it.
        """
        for pause in self._pauses(max(0.0, seconds), since, time.monotonic):
            # Not concurrent.futures.wait(): a cancelled future does not wake it.
            with contextlib.suppress(TimeoutError, concurrent.futures.CancelledError):
                self._future.exception(timeout=pause)
        return self.output

    async def await_(self, seconds: float, since: float | None = None) -> Output | None:
        """:meth:`wait` without blocking the running loop. Cancelling the waiter leaves the retrieval alone."""
        if not self._future.done():
            loop = asyncio.get_running_loop()
            ended = asyncio.Event()

            def wake(_: concurrent.futures.Future[Output]) -> None:
                with contextlib.suppress(RuntimeError):  # the waiter's loop may be closed before the retrieval ends
                    loop.call_soon_threadsafe(ended.set)

            self._future.add_done_callback(wake)
            for pause in self._pauses(seconds, since, loop.time):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(ended.wait(), pause)
        return self.output

    def _pauses(self, seconds: float, since: float | None, clock: Clock) -> Iterator[float]:
        """How long to wait, again and again, until there is an end, the time is over, or there is no word any more."""
        word = self._word
        if word is None:
            yield seconds
            return
        since, until = time.monotonic() if since is None else since, clock() + seconds
        word.ask()
        while not self._future.done():
            patience, silent_in = until - clock(), word.silent_at(since) - time.monotonic()
            if min(patience, silent_in) <= 0:
                self.silent = silent_in < patience
                return
            yield min(patience, silent_in)

    def _note_end(self) -> None:
        if self.ended_at is None:
            self.ended_at = self._clock()
