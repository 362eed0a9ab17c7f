"""Requests for a flow: when they come, what each goes through, and what is known of it when it comes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from random import Random

from benchmarks.serving_parts.flows import balanced, busy_seconds, capacity
from langgraph_prefetch.serving.flow.values import FlowValues, Stage
from langgraph_prefetch.serving.simulator import Arrival, Journey, poisson
from langgraph_prefetch.serving.simulator.journeys import JourneyMaker

SIZE_VARIATION = 0.4
UNSIZED = frozenset({"retrieve", "web_search", "classify"})
"""Stages whose time does not depend on how long the question and its texts are."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What the policies are given, the very same for each.

    Attributes:
        flow, replicas: the flow and its pools.
        load: of the busiest stage.
        arrivals: with one feature: the request's size, 1 on average.
        journeys: one for each.
        deadline_seconds: from arrival, the same for all.
    """

    flow: FlowValues
    replicas: dict[str, int]
    load: float
    arrivals: tuple[Arrival, ...]
    journeys: tuple[Journey, ...]
    deadline_seconds: float

    def at_pace(self, scale: float) -> Workload:
        """The same, with every time multiplied."""
        return replace(
            self,
            flow=replace(self.flow, stages=tuple(_scaled(each, scale) for each in self.flow.stages)),
            arrivals=tuple(replace(each, at=each.at * scale) for each in self.arrivals),
            journeys=tuple(
                replace(each, steps=tuple(replace(step, seconds=step.seconds * scale) for step in each.steps))
                for each in self.journeys
            ),
            deadline_seconds=self.deadline_seconds * scale,
        )


def workload(flow: FlowValues, *, replicas: int, load: float, count: int, deadline: float, seed: int) -> Workload:
    """About ``count`` requests at ``load``, due ``deadline`` times the mean service after they came.

    A request's size is known when it comes (the length of its question and passages) and scales the times of the stages
    that a model serves; the rest of their variation nobody knows before.
    """
    pools = balanced(flow, replicas)
    rate = load * capacity(flow, pools)
    arrivals, journeys = [], []
    maker = JourneyMaker(replace(flow, stages=tuple(map(_without_size, flow.stages))), seed)
    for number, arrival in enumerate(poisson(rate, count / rate, seed=seed)):
        random = Random(f"size {seed} {number}")
        size = random.gammavariate(1 / SIZE_VARIATION**2, SIZE_VARIATION**2)
        journey = maker.draw(number)
        steps = tuple(
            each if each.stage in UNSIZED else replace(each, seconds=each.seconds * size) for each in journey.steps
        )
        arrivals.append(replace(arrival, features=(size,)))
        journeys.append(replace(journey, steps=steps))
    return Workload(
        flow=flow,
        replicas=pools,
        load=load,
        arrivals=tuple(arrivals),
        journeys=tuple(journeys),
        deadline_seconds=deadline * sum(busy_seconds(flow).values()),
    )


def _without_size(stage: Stage) -> Stage:
    """What is left of its variation once the size is known, so that both together are as stated."""
    if stage.name in UNSIZED or stage.service is None:
        return stage
    rest = (1 + stage.service.variation**2) / (1 + SIZE_VARIATION**2) - 1
    return replace(stage, service=replace(stage.service, variation=sqrt(max(0.0, rest))))


def _scaled(stage: Stage, scale: float) -> Stage:
    return stage if stage.service is None else replace(
        stage, service=replace(stage.service, mean=stage.service.mean * scale)
    )  # fmt: skip
