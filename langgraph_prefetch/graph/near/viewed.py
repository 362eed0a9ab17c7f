"""One view of a store in one run: what has been fetched, and the vectors of queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import Context
from typing import TypeVar

from langgraph_prefetch.graph.near.sources import Fetcher, Loop, embed
from langgraph_prefetch.graph.near.view import View
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.near.run import LocalAnswer, NearMiss, NearRun
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.speculation.flight import Flight, FlightState

MAX_VECTORS = 32
MAX_PENDING = 16
T = TypeVar("T")


class Viewed:
    """A tool's view for one caller, in one run. Safe for threads.

    Args:
        view: the tool's.
        fetcher: the source, for this caller.
        controls: of the tool.
        scope: whose traffic this is.
        trust: the key under which it is known whether the tool is what its user says.
        max_age: how long passages may be used whose source cannot tell whether it has changed, in seconds.

    Attributes:
        run: its near misses.
        may_prove: False once the source has said that its lists may lack something.
    """

    def __init__(
        self, view: View, fetcher: Fetcher, controls: Controls, scope: Hashable, trust: Hashable, max_age: float
    ) -> None:
        self.view, self.fetcher, self.scope, self.trust = view, fetcher, scope, trust
        self._controls, self._max_age = controls, max_age
        self._lock = ForkSafeLock()
        self._vectors: OrderedDict[str, Future[Vector]] = OrderedDict()
        self._flights: set[Flight] = set()
        self._era = 0
        self.run = self._new()
        self._oldest: float | None = None
        self.may_prove = True

    def _new(self) -> NearRun:
        return NearRun(self.view.settings, self._controls, tool=self.view.name, scope=self.scope)

    @property
    def era(self) -> int:
        """Moves when all is forgotten: what was asked for before is not taken in any more."""
        return self._era

    def add(self, found: Neighbourhood, era: int, now: float) -> None:
        """Passages arrived; ``now``: when they were asked for.

        Raises:
            ValueError: they cannot be used.
        """
        run = self.run
        if era == self._era:
            run.add(found)
            self.may_prove = found.exact
            self._oldest = now if self._oldest is None else self._oldest

    def answer(self, query: Vector, *, epoch: int, draw: float, now: float) -> LocalAnswer | NearMiss:
        """The local answer to a call."""
        if not self.fetcher.tells_epoch and self._oldest is not None and now - self._oldest > self._max_age:
            self.forget()
            return NearMiss("too old")
        return self.run.answer(query, k=self.view.k, epoch=epoch, draw=draw)

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._era += 1
            self.run, self._oldest = self._new(), None

    def void(self) -> None:
        """Something may have been written: only an epoch could tell that nothing was."""
        if not self.fetcher.tells_epoch:
            self.forget()

    def flies(self, flight: Flight) -> None:
        """Passages are on their way."""
        with self._lock:
            self._flights.add(flight)
        flight.on_end(self._landed)

    def _landed(self, flight: Flight) -> None:
        with self._lock:
            self._flights.discard(flight)

    def in_flight(self) -> tuple[Flight, ...]:
        """Fetches that are running."""
        with self._lock:
            return tuple(each for each in self._flights if each.state is FlightState.RUNNING)

    def vector(self, query: str, context: Context, loop: Loop) -> Future[Vector]:
        """The vector of a query, made once, on a thread of its own."""
        with self._lock:
            found = self._vectors.get(query)
            if sum(not each.done() for each in self._vectors.values()) >= MAX_PENDING:
                raise TimeoutError("the embedder does not answer")
            if found is None or (found.done() and found.exception() is not None):
                new = found = self._vectors[query] = Future()
                if len(self._vectors) > MAX_VECTORS:
                    self._vectors.popitem(last=False)
            else:
                return found
        in_thread(lambda: embed(self.view.embeddings, query, loop), context, new)
        return found


def in_thread(function: Callable[[], T], context: Context, into: Future[T] | None = None) -> Future[T]:
    """Run ``function`` in ``context`` on a daemon thread: one that hangs must hold nobody."""
    ended: Future[T] = Future() if into is None else into

    def run() -> None:
        try:
            made = context.run(function)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            ended.set_exception(error)
        else:
            ended.set_result(made)

    threading.Thread(target=run, name="langgraph-prefetch-near", daemon=True).start()
    return ended
