"""The places of one component, for threads and event loops alike: calls take one, wait for one, give it back."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLongError

from langgraph_prefetch.errors import OverLimitError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.gateway.limit import AdaptiveLimit, Verdict
from langgraph_prefetch.serving.gateway.spilling import Spilling


class SpilledError(OverLimitError):
    """The call is to go to where this component spills to."""


class Places:
    """The shell around an `AdaptiveLimit` and a `Spilling`: a lock, and futures of those who wait.

    A call that has a place gives it back with `give_back`, whatever happens.
    """

    def __init__(self, name: str, limit: AdaptiveLimit, spilling: Spilling | None, clock: Clock) -> None:
        self.name, self._limit, self._spilling, self._clock = name, limit, spilling, clock
        self._lock = ForkSafeLock()
        self._waiting: deque[Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Calls at once, as things stand."""
        return self._limit.limit

    @property
    def in_flight(self) -> int:
        """Calls that have a place."""
        return self._limit.in_flight

    @property
    def waiting(self) -> int:
        """Calls that wait for one."""
        return len(self._waiting)

    @property
    def spilling(self) -> bool:
        """Whether calls that find no place go elsewhere just now."""
        return self._spilling is not None and self._spilling.on

    def ask(self, *, speculative: bool) -> Future[None] | None:
        """Take a place; or a future that is done when there is one, to be waited for with `wait` or `await_`.

        Raises:
            OverLimitError: no place, and too many wait already; of a speculative call: none to spare.
        """
        with self._lock:
            limit, waiting = self._limit, len(self._waiting)
            verdict = limit.ask(waiting=waiting, speculative=speculative)
            if self._spilling is not None and not speculative:
                # This one would wait as well.
                behind = waiting + (verdict is not Verdict.GO)
                if self._spilling.spills(self._clock(), waiting=behind, in_flight=limit.in_flight, limit=limit.limit):
                    raise SpilledError(self.name, limit.limit)
            if verdict is Verdict.GO:
                limit.began()
                return None
            if verdict is Verdict.REFUSE:
                raise OverLimitError(self.name, limit.limit)
            future: Future[None] = Future()
            self._waiting.append(future)
            return future

    def wait(self, future: Future[None]) -> None:
        """Wait in a thread.

        Raises:
            OverLimitError: longer than ``wait_seconds``.
        """
        try:
            future.result(self._limit.rule.wait_seconds)
        except WaitedTooLongError:
            self._leave(future)
            raise OverLimitError(self.name, self._limit.limit) from None
        except BaseException:
            self._leave(future)
            raise

    async def await_(self, future: Future[None]) -> None:
        """Wait in an event loop.

        Raises:
            OverLimitError: longer than ``wait_seconds``.
        """
        try:
            await asyncio.wait_for(asyncio.wrap_future(future), self._limit.rule.wait_seconds)
        except TimeoutError:
            self._leave(future)
            raise OverLimitError(self.name, self._limit.limit) from None
        except BaseException:
            self._leave(future)
            raise

    def give_back(self, seconds: float | None, *, waited: float = 0.0, failed: bool = False) -> None:
        """The call is over; ``seconds`` and ``failed`` as for `AdaptiveLimit.ended`."""
        with self._lock:
            self._limit.ended(seconds, failed=failed)
            if seconds is not None and self._spilling is not None:
                self._spilling.took(seconds + waited)
            granted = self._grant()
        for each in granted:
            each.set_result(None)  # outside the lock: it wakes whoever waits

    def _leave(self, future: Future[None]) -> None:
        """Whoever waited goes away, perhaps with a place that was granted at that very moment."""
        gone = future.cancel()
        with self._lock:
            if future in self._waiting:
                self._waiting.remove(future)
        if not gone:
            self.give_back(None)

    def _grant(self) -> list[Future[None]]:
        granted = []
        while self._waiting and self._limit.room():
            future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._limit.began()
                granted.append(future)
        return granted
