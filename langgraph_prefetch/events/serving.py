"""What happens in pools of replicas, behind gateways and in warm-up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StageVisited:
    """A request has been through a stage of a pool, or a run of a graph through a node: its progress.

    Attributes:
        request_id: names the request; of no run of an agent that prefetch listens to.
        visit: counts the stages it has been through, this one included.
        waited_seconds: in the queue.
        service_seconds: from the replica's beginning to its end.
        speculative: nobody had asked for it yet.
        failed: the stage raised.
        round: of a graph that goes in rounds, the one it ran in; None where one visit follows the other.
    """

    at: float
    request_id: str
    stage: str
    visit: int
    waited_seconds: float
    service_seconds: float
    speculative: bool = False
    failed: bool = False
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePressure:
    """How hard pressed a pool is.

    Attributes:
        pool: its name; that of its stage, unless several share it.
        replicas: that take new requests.
        places: visits that can be under way at once.
        busy: visits under way.
        waiting, speculative: requests in its queue, and those of them that nobody has asked for yet.
        oldest_seconds: how long the first of them has waited.
        arrived, served, refused: requests since the last event of this pool.
        cpu_share: processor time per second of the processes behind the replicas, in cores; None where not measured.
        memory_bytes: resident, of the same processes.
    """

    at: float
    pool: str
    replicas: int
    places: int
    busy: int
    waiting: int
    speculative: int
    oldest_seconds: float
    arrived: int
    served: int
    refused: int
    cpu_share: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCalled:
    """A gateway asked a component, or would have and was not let.

    Attributes:
        gateway, component: their names.
        outcome: ``answered``; ``degraded``, an answer of the fallback; ``failed``; ``refused``, it was not asked;
            ``cancelled``, the caller went away.
        seconds: from the call to its end, waiting included.
        waited_seconds: for a place.
        first_token_seconds: from the call to the first part of a stream; None where it was no stream.
        pipeline: the one it was part of.
        variant: of the gateway's variants, the one that was chosen.
        spilled: it was asked because the dedicated component was busy or did not answer.
        speculative: nobody had asked for it yet.
        reason: why it was refused, or the class of the error.
        cost: exact, in the currency of the prices; None where it has no price.
    """

    at: float
    gateway: str
    component: str
    outcome: str
    seconds: float
    waited_seconds: float = 0.0
    first_token_seconds: float | None = None
    pipeline: str | None = None
    variant: str | None = None
    spilled: bool = False
    speculative: bool = False
    reason: str | None = None
    cost: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerMoved:
    """The breaker of a component opened, lets one call try, or closed.

    Attributes:
        gateway, component: their names.
        state: ``opened``, ``half-opened`` or ``closed``.
    """

    at: float
    gateway: str
    component: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineEnded:
    """All calls of a pipeline are over.

    Attributes:
        pipeline: its name.
        seconds: from its beginning to its end.
        calls: of components, refused ones left out.
        degraded, failed: of them.
        cost: of all of them, exact; None where nothing has a price.
        error: the class of what it ended with; None for an answer.
    """

    at: float
    pipeline: str
    seconds: float
    calls: int
    degraded: int
    failed: int
    cost: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentWarmed:
    """A component was made ready before it was called.

    Attributes:
        component: its name.
        cause: what said that it would be needed: ``request``, ``intent``, ``baseline``, ``hour`` or a name of yours.
        seconds: that it took.
        failed: it did not become ready; it will be started again when it is called.
    """

    at: float
    component: str
    cause: str
    seconds: float
    failed: bool = False
