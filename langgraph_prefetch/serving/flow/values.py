"""A flow: the stages of an agent, what each was measured to take, and how requests go from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

START, END = "__start__", "__end__"
"""Where requests come in and go out; neither is a stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTime:
    """How long one visit of a stage takes, in seconds.

    Attributes:
        mean: of all visits.
        variation: standard deviation / mean; 0 for a fixed time.
        samples: the visits it was measured on, at most a few thousand, for a simulation to draw from; may be empty.
    """

    mean: float
    variation: float = 0.0
    samples: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Another kind of replica that can serve a stage, such as one on a larger machine.

    Attributes:
        name: as the plan shows it.
        resources: what one of them occupies.
        mean_seconds: of one visit there.
        concurrency: visits that one of them serves at once.
    """

    name: str
    resources: Mapping[str, float] = field(hash=False)
    mean_seconds: float
    concurrency: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a flow.

    Attributes:
        name: unique in its flow.
        resources: what one replica occupies, such as ``{"cpu": 1, "gpu": 0.5}``.
        service: the time of one visit; None where nothing was measured.
        concurrency: visits that one replica serves at once.
        amplification: requests that leave for each that enters (γ in the plan's formula).
        cold_start_seconds: from asking for a replica to its first visit.
        price_per_visit: in the currency of the price file, beside what its resources cost.
        stateful: a request returns to the replica that served it first.
        min_replicas: never fewer.
        visits: how many the figures rest on.
        placements: other kinds of replica that can serve it, besides the one described here.
    """

    name: str
    resources: Mapping[str, float] = field(hash=False)
    service: ServiceTime | None = None
    concurrency: int = 1
    amplification: float = 1.0
    cold_start_seconds: float = 0.0
    price_per_visit: float = 0.0
    stateful: bool = False
    min_replicas: int = 1
    visits: int = 0
    placements: tuple[Placement, ...] = ()

    @property
    def rate(self) -> float | None:
        """Visits a second that one replica can serve (α in the plan's formula); None where nothing was measured."""
        if self.service is None:
            return None
        return self.concurrency / self.service.mean if self.service.mean else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Requests that leave ``source`` go to ``target`` with this probability; those of one source add up to 1.

    Attributes:
        taken: how many were seen to.
        conditional: the graph decides on each request whether it goes there.
    """

    source: str
    target: str
    probability: float
    taken: int = 0
    conditional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowValues:
    """Stages and edges, loops and conditional edges included.

    Attributes:
        notes: what was assumed, one sentence each.
    """

    name: str
    stages: tuple[Stage, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = ()
