"""What a flow and a plan must be to be simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose, isfinite
from typing import Protocol

from langgraph_prefetch.errors import SimulationError, did_you_mean
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, Stage
from langgraph_prefetch.serving.queueing.expectations import expected


class HasReplicas(Protocol):
    """A plan: how many replicas each stage gets."""

    @property
    def replicas(self) -> Mapping[str, int]:
        """Stage -> replicas."""
        ...


def checked_flow(flow: FlowValues) -> FlowValues:
    """The flow, without edges that are never taken.

    Raises:
        SimulationError: no stages, a stage twice, an edge from or to nowhere, probabilities that do not add up to 1, a
            time that is negative or not finite, a loop without a way out, or a stage that requests come to and that has
            no measurements.
    """
    names = [each.name for each in flow.stages]
    if not names or len(set(names)) < len(names):
        raise SimulationError(f"flow {flow.name!r}: stages need names of their own, and there must be one at least")
    known = {START, END, *names}
    for edge in flow.edges:
        for end in (edge.source, edge.target):
            if end not in known:
                raise SimulationError(f"flow {flow.name!r}: an edge names {end!r}, no stage.{did_you_mean(end, names)}")
        if not (isfinite(edge.probability) and 0 <= edge.probability <= 1):
            raise SimulationError(f"flow {flow.name!r}: {_edge(edge)} has the probability {edge.probability}")
    taken = FlowValues(name=flow.name, stages=flow.stages, edges=tuple(e for e in flow.edges if e.probability > 0))
    for each in flow.stages:
        _check_stage(flow.name, each)
    reached = _reached(taken.edges)
    for source in (START, *names):
        leaving = [edge.probability for edge in taken.edges if edge.source == source]
        if source not in reached and not leaving:
            continue  # an edge never taken, so that nobody comes here: nothing to simulate
        if not isclose(sum(leaving), 1.0, abs_tol=1e-6):
            raise SimulationError(
                f"flow {flow.name!r}: the edges from {source!r} add up to {sum(leaving):.6g}; they must add up to 1, "
                f"with an edge to {END!r} where requests leave"
            )
    for each in flow.stages:
        if each.name in reached and each.service is None:
            raise SimulationError(
                f"flow {flow.name!r}: stage {each.name!r} has no measurements; give it a service time, or record runs "
                "that go through it"
            )
    expected(taken)
    return taken


def replicas_of(
    flow: FlowValues, plan: HasReplicas | Mapping[str, int], pools: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Pool -> replicas.

    Raises:
        SimulationError: a pool without replicas, or replicas of a pool that is not there.
    """
    given = plan if isinstance(plan, Mapping) else plan.replicas
    for name in given:
        if name not in pools:
            raise SimulationError(f"the plan names {name!r}, no pool of flow {flow.name!r}.{did_you_mean(name, pools)}")
    reached = _reached(flow.edges)
    for pool, stages in pools.items():
        if any(stage in reached for stage in stages) and given.get(pool, 0) < 1:
            raise SimulationError(f"the plan gives {pool!r} no replica, and requests go there")
    return {pool: given.get(pool, 0) for pool in pools}


def pools_of(flow: FlowValues, shared: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Pool -> its stages. A stage that shares none has a pool of its own.

    Raises:
        SimulationError: a shared pool names what is no stage, a stage twice, or stages of different concurrency.
    """
    stages = {each.name: each for each in flow.stages}
    pools: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    for pool, names in shared.items():
        for name in names:
            if name not in stages or name in seen:
                raise SimulationError(f"shared pool {pool!r}: {name!r} is no stage, or is in two pools")
            seen.add(name)
        if len({(stages[name].concurrency, stages[name].stateful) for name in names}) > 1:
            raise SimulationError(f"shared pool {pool!r}: its stages need the same concurrency and statefulness")
        pools[pool] = tuple(names)
    for name in stages:
        if name not in seen:
            if name in pools:
                raise SimulationError(f"shared pool {name!r} has the name of a stage that is not in it")
            pools[name] = (name,)
    return pools


def _check_stage(flow: str, stage: Stage) -> None:
    service = stage.service
    times = (service.mean, service.variation, *service.samples) if service else ()
    if not all(isfinite(each) and each >= 0 for each in (*times, stage.amplification, stage.cold_start_seconds)):
        raise SimulationError(f"flow {flow!r}: stage {stage.name!r} has a time or amplification below 0 or no number")
    if stage.concurrency < 1:
        raise SimulationError(f"flow {flow!r}: stage {stage.name!r} serves {stage.concurrency} at once; at least 1")


def _reached(edges: Sequence[Edge]) -> set[str]:
    reached, before = {START}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {edge.target for edge in edges if edge.source in reached}
    return reached


def _edge(edge: Edge) -> str:
    return f"the edge {edge.source!r} → {edge.target!r}"
