"""Who may use a connection next: real calls before speculations. Pure."""

from __future__ import annotations

from typing import NamedTuple

from langgraph_prefetch.retrieval.database.limits import PoolLimits

Ticket = int
"""Names one call that wants a connection; never used twice."""


class House(NamedTuple):
    """Everybody at one moment. A tuple, since two are made for every query.

    Attributes:
        real: real calls that have a connection.
        speculative: speculations that have one.
        real_waiting: real calls that wait for one, the first to come first.
        speculative_waiting: likewise, speculations.
    """

    real: int = 0
    speculative: int = 0
    real_waiting: tuple[Ticket, ...] = ()
    speculative_waiting: tuple[Ticket, ...] = ()


def may_enter(house: House, limits: PoolLimits, *, speculative: bool) -> bool:
    """Whether one more call of that kind may have a connection, were it the first of its kind to wait."""
    if house.real + house.speculative >= limits.connections:
        return False
    return not speculative or house.speculative < limits.for_speculation


def arrive(house: House, limits: PoolLimits, ticket: Ticket, *, speculative: bool) -> House | None:
    """The house after a call came: inside if there is room and nobody of its kind waits, else at the end of its queue.

    None where that queue is full.
    """
    queue = house.speculative_waiting if speculative else house.real_waiting
    if not queue and may_enter(house, limits, speculative=speculative):
        return _entered(house, speculative=speculative)
    if len(queue) >= (limits.speculations_waiting if speculative else limits.waiting):
        return None
    if speculative:
        return house._replace(speculative_waiting=(*queue, ticket))
    return house._replace(real_waiting=(*queue, ticket))


def leave(house: House, *, speculative: bool) -> House:
    """The house after a call gave its connection back. Then :func:`admit`."""
    real, early, *queues = house
    return House(real, early - 1, *queues) if speculative else House(real - 1, early, *queues)


def withdraw(house: House, ticket: Ticket) -> House:
    """The house after a waiting call gave up. It makes no room: whoever waits behind it waits for the same."""
    return house._replace(
        real_waiting=tuple(each for each in house.real_waiting if each != ticket),
        speculative_waiting=tuple(each for each in house.speculative_waiting if each != ticket),
    )


def admit(house: House, limits: PoolLimits) -> tuple[House, tuple[Ticket, ...]]:
    """The house after all who may enter did, and who they are, in order."""
    entered: list[Ticket] = []
    while house.real_waiting and may_enter(house, limits, speculative=False):
        first, *rest = house.real_waiting
        entered.append(first)
        house = _entered(house._replace(real_waiting=tuple(rest)), speculative=False)
    while house.speculative_waiting and may_enter(house, limits, speculative=True):
        first, *rest = house.speculative_waiting
        entered.append(first)
        house = _entered(house._replace(speculative_waiting=tuple(rest)), speculative=True)
    return house, tuple(entered)


def _entered(house: House, *, speculative: bool) -> House:
    real, early, *queues = house
    return House(real, early + 1, *queues) if speculative else House(real + 1, early, *queues)
