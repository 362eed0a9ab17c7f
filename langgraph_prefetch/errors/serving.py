"""Requests that are served by pools of replicas."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class ServingError(PrefetchError):
    """A request could not be served as it was asked for."""


class QueueFullError(ServingError):
    """Too many requests wait at a pool; this one was refused at once rather than kept waiting in vain.

    Attributes:
        pool: its name.
        room: how many may wait.
    """

    def __init__(self, pool: str, room: int) -> None:
        self.pool, self.room = pool, room
        super().__init__(f"pool {pool!r}: {room} requests wait already; add replicas, or call again later")


class PoolClosedError(ServingError):
    """A pool that is closed, or is being drained, was asked to serve."""

    def __init__(self, pool: str) -> None:
        self.pool = pool
        super().__init__(f"pool {pool!r} takes no more requests: it is closed or being drained")


class ReplicaLostError(ServingError):
    """The process behind a replica died while it served; another has taken its place, and the visit may be repeated."""

    def __init__(self, pool: str) -> None:
        self.pool = pool
        super().__init__(f"pool {pool!r}: the process of a replica died while it served this request")


class SimulationError(ConfigurationError):
    """A flow, plan or stream of arrivals that cannot be simulated."""


class FlowError(ConfigurationError):
    """Stages and edges that are no flow: the message names the stage or edge, and what it lacks."""


class InfeasibleBudgetError(ConfigurationError):
    """The budget does not hold the replicas that each stage must have.

    Attributes:
        resource: the one that is short.
        needed: of it, for the least replicas of all stages.
        given: the budget.
    """

    def __init__(self, message: str, *, resource: str, needed: float, given: float) -> None:
        self.resource, self.needed, self.given = resource, needed, given
        super().__init__(message)
