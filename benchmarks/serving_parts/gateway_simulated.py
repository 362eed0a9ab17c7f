"""The gateway's and warm-up's own policies in simulated time: bursts with a conditional branch, and spilling."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean
from typing import Any

import simpy

from benchmarks.serving_parts.flows import CPU, GPU, edges, stage
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.flow.values import END, START, FlowValues
from langgraph_prefetch.serving.gateway import AdaptiveLimit, LimitRule, Spilling, SpillRule, Verdict
from langgraph_prefetch.serving.simulator import bursts, poisson, simulate
from langgraph_prefetch.serving.warmup import ComponentScaling, ScalingRule, stages_of

BRANCH = 0.2
FLOW = FlowValues(
    name="one branch",
    stages=(
        stage("retrieve", 0.15, 0.3, CPU, cold=0.3),
        stage("generate", 0.80, 0.6, GPU, cold=1.0),
        stage("verify", 1.20, 0.4, GPU, cold=1.0),
    ),
    edges=edges(
        (START, "retrieve", 1.0),
        ("retrieve", "generate", 1.0),
        ("generate", "verify", BRANCH),
        ("generate", END, 1 - BRANCH),
        ("verify", END, 1.0),
    ),
)
RULE = ScalingRule(utilisation=0.5, drain_seconds=0.5, rise_seconds=1.0, fade_seconds=10.0)


class Recorded:
    """A sizing that remembers what it said."""

    def __init__(self, sizing: Any) -> None:
        self._sizing = sizing
        self.said: list[Mapping[str, int]] = []

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        found = self._sizing.sizes(pressures, now)
        self.said.append(found)
        return dict(found)

    def mean(self, pool: str) -> float:
        return fmean(each[pool] for each in self.said)

    def peak(self, pool: str) -> int:
        return max(each[pool] for each in self.said)


class ByRequests:
    """Every component grows with the requests that come in, as if each of them reached it."""

    def __init__(self) -> None:
        self._own = ComponentScaling(stages_of(FLOW), RULE)

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        entry = next(each for each in pressures if each.pool == "retrieve")
        return self._own.sizes([replace(each, arrived=entry.arrived) for each in pressures], now)


def burst(seconds: float, seed: int) -> dict[str, Any]:
    """A burst of ten times the rate, under both ways of scaling, beside steady load."""
    rate, start = 4.0, {"retrieve": 2, "generate": 7, "verify": 3}
    found: dict[str, Any] = {}
    arrivals = {
        "steady": poisson(rate, seconds, seed=seed),
        "burst": bursts(rate, seconds, times=10, every_seconds=120, burst_seconds=20, seed=seed),
    }
    for name, load, sizing in (
        ("steady", "steady", ComponentScaling(stages_of(FLOW), RULE)),
        ("per component", "burst", ComponentScaling(stages_of(FLOW), RULE)),
        ("by requests", "burst", ByRequests()),
    ):
        recorded = Recorded(sizing)
        result = simulate(
            FLOW, start, arrivals[load], seed=seed, sizing=recorded, sizing_seconds=0.25, max_waiting=10**6
        )
        found[name] = {
            "requests": len(result.requests),
            "p95": result.percentile(0.95),
            "verify_mean": recorded.mean("verify"),
            "verify_peak": recorded.peak("verify"),
            "generate_mean": recorded.mean("generate"),
        }
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What it costs and how long its requests took."""

    dedicated: int
    waiting: int | None
    p95: float
    spilled: float
    cost_per_hour: float


SERVERLESS_FACTOR = 2.5
"""A busy second of serverless costs so many times a second of a dedicated replica. Stated, not measured."""
SERVERLESS_EXTRA = 0.10
"""Seconds that a serverless call takes longer."""


def deployment(arrivals: Sequence[float], services: Sequence[float], dedicated: int, waiting: int | None) -> Deployment:
    """One deployment under the live limit and spilling; ``waiting`` None: nothing is spilled."""
    env = simpy.Environment()
    limit = AdaptiveLimit(replace(LimitRule.fixed(dedicated), max_waiting=10**9))
    spilling = Spilling(SpillRule(waiting=waiting, until_waiting=0, calm_seconds=1.0)) if waiting is not None else None
    queue: list[simpy.Event] = []
    took: list[float] = []
    serverless = 0.0
    spilled = 0

    def request(at: float, service: float) -> Generator[simpy.Event, Any, None]:
        nonlocal serverless, spilled
        yield env.timeout(at)
        verdict = limit.ask(waiting=len(queue))
        behind = len(queue) + (verdict is not Verdict.GO)
        if spilling is not None and spilling.spills(
            float(env.now), waiting=behind, in_flight=limit.in_flight, limit=limit.limit
        ):
            spilled += 1
            serverless += service + SERVERLESS_EXTRA
            yield env.timeout(service + SERVERLESS_EXTRA)
        else:
            if verdict is Verdict.WAIT:
                queue.append(env.event())
                yield queue[-1]
            limit.began()
            yield env.timeout(service)
            limit.ended(service)
            if queue and limit.room():
                queue.pop(0).succeed()
        took.append(float(env.now) - at)

    for at, service in zip(arrivals, services, strict=True):
        env.process(request(at, service))
    env.run()
    hours = float(env.now) / 3_600
    ordered = sorted(took)
    return Deployment(
        dedicated=dedicated,
        waiting=waiting,
        p95=ordered[int(0.95 * len(ordered))],
        spilled=spilled / len(ordered),
        cost_per_hour=(dedicated * hours + SERVERLESS_FACTOR * serverless / 3_600) / hours,
    )


def spill(seconds: float, seed: int) -> dict[str, Any]:
    """The cheapest hybrid whose p95 is no worse than that of the smallest static deployment that keeps the target."""
    draw = Random(f"spill {seed}")
    arrivals = [each.at for each in bursts(6.0, seconds, times=4, every_seconds=600, burst_seconds=90, seed=seed)]
    services = [draw.gammavariate(1 / 0.36, 0.8 * 0.36) for _ in arrivals]
    bare = sorted(services)[int(0.95 * len(services))]
    static = next(
        each for count in range(12, 60) if (each := deployment(arrivals, services, count, None)).p95 <= 1.2 * bare
    )
    hybrids = [
        deployment(arrivals, services, count, waiting)
        for count in range(max(2, static.dedicated // 4), static.dedicated * 3 // 4, 2)
        for waiting in (1, 3)
    ]
    best = min(
        (each for each in hybrids if each.p95 <= static.p95), key=lambda each: each.cost_per_hour, default=static
    )
    return {
        "requests": len(arrivals),
        "static": static,
        "hybrid": best,
        "saving": 1 - best.cost_per_hour / static.cost_per_hour,
    }
