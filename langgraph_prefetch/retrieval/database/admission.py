"""Who may use a connection next: real calls before speculations. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from langgraph_prefetch.retrieval.database.limits import PoolLimits

Ticket = int
"""Names one call that wants a connection; never used twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """One kind of calls: how many have a connection, and which wait for one, the first to come first."""

    inside: int = 0
    waiting: tuple[Ticket, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everybody at one moment."""

    real: Queue = Queue()
    speculative: Queue = Queue()

    @property
    def inside(self) -> int:
        """Connections in use."""
        return self.real.inside + self.speculative.inside


def may_enter(house: House, limits: PoolLimits, *, speculative: bool) -> bool:
    """Whether one more call of that kind may have a connection, were it the first of its kind to wait."""
    if house.inside >= limits.connections:
        return False
    if not speculative:
        return True
    return not house.real.waiting and house.speculative.inside < limits.for_speculation


def arrive(house: House, limits: PoolLimits, ticket: Ticket, *, speculative: bool) -> House | None:
    """The house after a call came: inside if there is room and nobody of its kind waits, else at the end of its queue.

    None where that queue is full.
    """
    queue = _queue(house, speculative=speculative)
    if not queue.waiting and may_enter(house, limits, speculative=speculative):
        return _with(house, replace(queue, inside=queue.inside + 1), speculative=speculative)
    if len(queue.waiting) >= (limits.speculations_waiting if speculative else limits.waiting):
        return None
    return _with(house, replace(queue, waiting=(*queue.waiting, ticket)), speculative=speculative)


def leave(house: House, *, speculative: bool) -> House:
    """The house after a call gave its connection back. Then :func:`admit`."""
    queue = _queue(house, speculative=speculative)
    return _with(house, replace(queue, inside=queue.inside - 1), speculative=speculative)


def withdraw(house: House, ticket: Ticket, *, speculative: bool) -> House:
    """The house after a waiting call gave up. Then :func:`admit`: it may have kept others waiting."""
    queue = _queue(house, speculative=speculative)
    left = tuple(each for each in queue.waiting if each != ticket)
    return _with(house, replace(queue, waiting=left), speculative=speculative)


def admit(house: House, limits: PoolLimits) -> tuple[House, tuple[Ticket, ...]]:
    """The house after all who may enter did, and who they are, in order."""
    entered: list[Ticket] = []
    for speculative in (False, True):
        while (queue := _queue(house, speculative=speculative)).waiting and may_enter(
            house, limits, speculative=speculative
        ):
            first, *rest = queue.waiting
            entered.append(first)
            house = _with(house, Queue(inside=queue.inside + 1, waiting=tuple(rest)), speculative=speculative)
    return house, tuple(entered)


def _queue(house: House, *, speculative: bool) -> Queue:
    return house.speculative if speculative else house.real


def _with(house: House, queue: Queue, *, speculative: bool) -> House:
    return replace(house, speculative=queue) if speculative else replace(house, real=queue)
