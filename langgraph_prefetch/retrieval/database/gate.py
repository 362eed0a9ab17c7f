"""Carries out what `admission` decides: the only place where callers wait for a connection."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from langgraph_prefetch.errors import DatabaseBusyError, PrefetchError, SpeculationRejectedError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.retrieval.database import admission
from langgraph_prefetch.retrieval.database.admission import House, Ticket
from langgraph_prefetch.retrieval.database.limits import PoolLimits

OnEntry = Callable[["Place"], None]
"""Must not raise."""


class Place:
    """A call's place before or behind the gate. ``on_entry`` is called with it once it is inside, on any thread."""

    __slots__ = ("_gate", "on_entry", "speculative", "ticket")

    def __init__(self, gate: Gate, ticket: Ticket, on_entry: OnEntry, *, speculative: bool) -> None:
        self._gate, self.ticket, self.on_entry, self.speculative = gate, ticket, on_entry, speculative

    def leave(self) -> None:
        """Give the connection back; exactly once, after ``on_entry``."""
        self._gate.left(self)

    def withdraw(self) -> bool:
        """Stop waiting. False where it has entered already, and so has to leave."""
        return self._gate.withdrawn(self)


class Gate:
    """Lets at most ``limits.connections`` calls in, real ones first."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._lock = ForkSafeLock()
        self._tickets = itertools.count()
        self._house = House()
        self._waiting: dict[Ticket, Place] = {}

    @property
    def house(self) -> House:
        """Who is inside and who waits, now."""
        return self._house

    def ask(self, on_entry: OnEntry, *, speculative: bool) -> Place:
        """Come to the gate. ``on_entry`` is called before this returns where there is room.

        Raises:
            DatabaseBusyError: too many real calls wait.
            SpeculationRejectedError: too many speculations wait.
        """
        place = Place(self, next(self._tickets), on_entry, speculative=speculative)
        with self._lock:
            house = admission.arrive(self._house, self._limits, place.ticket, speculative=speculative)
            entered = house is not None and house.inside > self._house.inside
            if house is not None:
                self._house = house
                if not entered:
                    self._waiting[place.ticket] = place
        if house is None:
            raise self.refusal(0.0, speculative=speculative)
        if entered:
            on_entry(place)
        return place

    @contextmanager
    def entered(self, *, speculative: bool) -> Iterator[None]:
        """Wait on this thread, and hold a place.

        Raises:
            DatabaseBusyError: no connection became free in time, for a real call.
            SpeculationRejectedError: likewise, for a speculation.
        """
        place = self._wait(speculative=speculative)
        try:
            yield
        finally:
            place.leave()

    def refusal(self, waited: float, *, speculative: bool) -> PrefetchError:
        """What a call is told that did not get in."""
        if speculative:
            return SpeculationRejectedError("no free connection")
        return DatabaseBusyError(self._limits.connections, waited)

    def left(self, place: Place) -> None:
        """See :meth:`Place.leave`."""
        with self._lock:
            entered = self._admit(admission.leave(self._house, speculative=place.speculative))
        for each in entered:
            each.on_entry(each)

    def withdrawn(self, place: Place) -> bool:
        """See :meth:`Place.withdraw`."""
        with self._lock:
            if self._waiting.pop(place.ticket, None) is None:
                return False
            entered = self._admit(admission.withdraw(self._house, place.ticket, speculative=place.speculative))
        for each in entered:
            each.on_entry(each)
        return True

    def make_anew(self) -> None:
        """In a forked child: whoever was here stayed in the parent."""
        self._house, self._waiting = House(), {}

    def _admit(self, house: House) -> list[Place]:
        self._house, tickets = admission.admit(house, self._limits)
        return [self._waiting.pop(ticket) for ticket in tickets]

    def _wait(self, *, speculative: bool) -> Place:
        entry = threading.Event()
        place = self.ask(lambda _: entry.set(), speculative=speculative)
        seconds = self._limits.wait_seconds
        try:
            came = entry.wait(seconds)
        except BaseException:  # Ctrl-C while waiting
            if not place.withdraw():
                place.leave()
            raise
        if not came and place.withdraw():
            raise self.refusal(seconds, speculative=speculative)
        return place
