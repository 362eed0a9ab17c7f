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


class OverLimitError(ServingError):
    """A component serves as many calls as it can bear, and this one could not wait, or not any longer.

    Attributes:
        component: its name.
        limit: calls at once.
    """

    def __init__(self, component: str, limit: int) -> None:
        self.component, self.limit = component, limit
        super().__init__(
            f"{component!r} serves {limit} calls at once and no more: give the gateway a fallback or spill_to, a "
            "higher limit, or call again later"
        )


class BreakerOpenError(ServingError):
    """A component is known not to work; it was not asked.

    Attributes:
        component: its name.
        seconds: until it is asked again.
    """

    def __init__(self, component: str, seconds: float) -> None:
        self.component, self.seconds = component, seconds
        super().__init__(
            f"{component!r} does not work and is not asked for another {seconds:.1f} s: give the gateway a fallback, "
            "or call again then"
        )


class ColdError(ServingError):
    """A component did not become warm.

    Attributes:
        component: its name.
    """

    def __init__(self, component: str, reason: str) -> None:
        self.component = component
        super().__init__(f"{component!r} did not become warm: {reason}")


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


class UnknownBlobError(ServingError):
    """Storage has no blob of this key."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"storage has no blob {key!r}")


class ShortReadError(ServingError):
    """A source of blobs sent something other than the bytes that were asked for."""

    def __init__(self, key: str, what: str) -> None:
        self.key = key
        super().__init__(f"reading blob {key!r}: {what}")


class PathsFailedError(ServingError):
    """A blob could not be read over any path.

    Attributes:
        reasons: path -> the kind of its failure.
    """

    def __init__(self, key: str, reasons: dict[str, str]) -> None:
        self.key, self.reasons = key, reasons
        told = ", ".join(f"{path}: {reason}" for path, reason in reasons.items())
        super().__init__(f"blob {key!r} could not be read over any path ({told}); are storage and the peers up?")


class BlobMismatchError(ServingError):
    """A blob that was read is not the one that was asked for: its hash differs."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"blob {key!r} has another SHA-256 than was expected; it was damaged, or written anew")


class NoEngineError(ServingError):
    """None of the engines can take a request now.

    Attributes:
        engines: how many there are.
    """

    def __init__(self, engines: int, why: str) -> None:
        self.engines = engines
        super().__init__(f"none of {engines} engines can take a request: {why}")
