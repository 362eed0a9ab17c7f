"""What a flow and a plan must be to be simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from langgraph_prefetch.errors import SimulationError, did_you_mean
from langgraph_prefetch.serving.flow.checks import check_flow, reached
from langgraph_prefetch.serving.flow.values import FlowValues
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
        FlowError: it is none: `check_flow`.
        SimulationError: a stage that requests come to has no measurements.
        ConfigurationError: a loop without a way out.
    """
    check_flow(flow)
    taken = FlowValues(name=flow.name, stages=flow.stages, edges=tuple(e for e in flow.edges if e.probability > 0))
    for each in flow.stages:
        if each.name in reached(taken.edges) and each.service is None:
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
    come_by = reached(flow.edges)
    for pool, stages in pools.items():
        if any(stage in come_by for stage in stages) and given.get(pool, 0) < 1:
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
