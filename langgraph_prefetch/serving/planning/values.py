"""A plan, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.serving.flow.text import mermaid
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.planning.problem import OWN
from langgraph_prefetch.serving.planning.text import plan_text

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """One stage, under the plan.

    Attributes:
        stage: its name.
        replicas: kind -> how many; ``own`` is the kind it was measured on.
        visits_per_request: how often a request comes by.
        capacity: requests of the flow that its replicas can serve a second; infinite where it takes no time.
        utilisation: of them, the share in use at the plan's throughput.
        share: per cent of throughput for each per cent that its visits are faster, where parts of replicas count.
        occupies: of each resource.
    """

    stage: str
    replicas: Mapping[str, int] = field(hash=False)
    visits_per_request: float
    capacity: float
    utilisation: float
    share: float
    occupies: Mapping[str, float] = field(hash=False)

    @property
    def count(self) -> int:
        """Replicas of all kinds."""
        return sum(self.replicas.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class NextUnit:
    """What one more unit of a resource would buy.

    Attributes:
        throughput: requests a second, planned anew.
        gain: of them, those that are new.
        replicas: the stages that would get another number, and which.
        marginal: requests a second for each unit, where parts of replicas count.
    """

    throughput: float
    gain: float
    replicas: Mapping[str, int] = field(hash=False)
    marginal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Replicas for each stage of a flow. ``print(plan.explain())``.

    Attributes:
        flow: what was planned.
        budget: what there is.
        throughput: requests a second that every stage can keep up with.
        bound: what parts of replicas would allow; no plan does better.
        stages: in the order of the flow.
        bottleneck: the stage where faster visits, or less that a replica occupies, would buy the most throughput.
        tightest: the stage that is fullest at this throughput.
        used: of each resource.
        next_units: resource -> what another unit would buy.
        notes: what was assumed, by the flow and here.
    """

    flow: FlowValues = field(repr=False)
    budget: Mapping[str, float] = field(hash=False)
    throughput: float
    bound: float
    stages: tuple[StagePlan, ...]
    bottleneck: str
    tightest: str
    used: Mapping[str, float] = field(hash=False)
    next_units: Mapping[str, NextUnit] = field(hash=False)
    notes: tuple[str, ...] = ()

    @property
    def replicas(self) -> Mapping[str, int]:
        """Stage -> replicas of all kinds."""
        return {each.stage: each.count for each in self.stages}

    @property
    def price_per_request(self) -> float:
        """What the visits of one request cost beside their resources."""
        visits = {each.stage: each.visits_per_request for each in self.stages}
        return sum(each.price_per_visit * visits[each.name] for each in self.flow.stages)

    def explain(self) -> str:
        """The plan in words and a table."""
        return plan_text(self)

    def mermaid(self) -> str:
        """The flow as a flowchart, with replicas; the bottleneck has a thick border."""
        return mermaid(self.flow, self.replicas, self.bottleneck)

    def as_json(self) -> dict[str, Any]:
        """The figures; ``version`` goes up when the meaning of a key changes."""
        return {
            "version": VERSION,
            "flow": self.flow.name,
            "budget": dict(self.budget),
            "throughput": self.throughput,
            "bound": self.bound,
            "bottleneck": self.bottleneck,
            "tightest": self.tightest,
            "used": dict(self.used),
            "price_per_request": self.price_per_request,
            "stages": {
                each.stage: {
                    "replicas": each.count,
                    "kinds": {kind: count for kind, count in each.replicas.items() if kind != OWN or count},
                    "visits_per_request": each.visits_per_request,
                    "capacity": each.capacity if each.capacity < float("inf") else None,
                    "utilisation": each.utilisation,
                    "share": each.share,
                    "occupies": dict(each.occupies),
                }
                for each in self.stages
            },
            "next_units": {
                name: {
                    "throughput": each.throughput,
                    "gain": each.gain,
                    "replicas": dict(each.replicas),
                    "marginal": each.marginal,
                }
                for name, each in self.next_units.items()
            },
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.explain()
