"""What happens in pools of replicas that serve the stages of an agent."""

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
