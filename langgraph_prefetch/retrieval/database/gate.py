"""Carries out what `admission` decides: the only place where callers wait for a connection."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

from langgraph_prefetch.errors import DatabaseBusyError, PrefetchError, SpeculationRejectedError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.retrieval.database import admission
from langgraph_prefetch.retrieval.database.admission import House, Ticket
from langgraph_prefetch.retrieval.database.limits import PoolLimits

OnEntry = Callable[[], None]
"""Called once the call is inside, on any thread. Must not raise."""


class Gate:
    """Lets at most ``limits.connections`` calls in, real ones first. Who has come in has to leave."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._lock = ForkSafeLock()
        self._tickets = itertools.count()
        self._house = House()
        self._on_entry: dict[Ticket, OnEntry] = {}

    @property
    def house(self) -> House:
        """Who is inside and who waits, now."""
        return self._house

    def ask(self, on_entry: OnEntry, *, speculative: bool) -> Ticket | None:
        """Come to the gate. None: come in at once; ``on_entry`` is not called then. Else a ticket to wait with.

        Raises:
            DatabaseBusyError: too many real calls wait.
            SpeculationRejectedError: too many speculations wait.
        """
        ticket = next(self._tickets)
        with self._lock:
            before = self._house
            house = admission.arrive(before, self._limits, ticket, speculative=speculative)
            if house is not None:
                self._house = house
                if house.real + house.speculative > before.real + before.speculative:
                    return None
                self._on_entry[ticket] = on_entry
                return ticket
        raise self.refusal(0.0, speculative=speculative)

    def enter(self, *, speculative: bool) -> None:
        """Come in, after waiting on this thread where there is no room.

        Raises:
            DatabaseBusyError: no connection became free in time, for a real call.
            SpeculationRejectedError: likewise, for a speculation.
        """
        entry = threading.Event()
        ticket = self.ask(entry.set, speculative=speculative)
        if ticket is None:
            return
        seconds = self._limits.wait_seconds
        try:
            came = entry.wait(seconds)
        except BaseException:  # Ctrl-C while waiting
            if not self.withdraw(ticket):
                self.leave(speculative=speculative)
            raise
        if not came and self.withdraw(ticket):
            raise self.refusal(seconds, speculative=speculative)

    def leave(self, *, speculative: bool) -> None:
        """Give the connection back."""
        with self._lock:
            self._house, tickets = admission.admit(admission.leave(self._house, speculative=speculative), self._limits)
            entered = [self._on_entry.pop(ticket) for ticket in tickets]
        for on_entry in entered:
            on_entry()

    def withdraw(self, ticket: Ticket) -> bool:
        """Stop waiting. False for a call that has come in already, and so has to leave."""
        with self._lock:
            if self._on_entry.pop(ticket, None) is None:
                return False
            self._house = admission.withdraw(self._house, ticket)
            return True

    def refusal(self, waited: float, *, speculative: bool) -> PrefetchError:
        """What a call is told that did not get in."""
        if speculative:
            return SpeculationRejectedError("no free connection")
        return DatabaseBusyError(self._limits.connections, waited)

    def make_anew(self) -> None:
        """In a forked child: whoever was here stayed in the parent."""
        self._house, self._on_entry = House(), {}
