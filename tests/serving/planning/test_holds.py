"""What a plan promises, on the benchmark's flows, in the simulator and on live pools."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

import pytest

from benchmarks.serving_parts.flows import CORRECTIVE, FLOWS
from benchmarks.serving_parts.plan import ablation, comparison
from benchmarks.serving_parts.plan_holds import on_machines
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.flow import FlowValues, ServiceTime
from langgraph_prefetch.serving.planning import Resizer, equal_split, plan, shared_out, whole_pipeline
from langgraph_prefetch.serving.pools import Pools
from langgraph_prefetch.serving.simulator import journey, poisson, simulate
from tests.serving.planning.flows import corrective


@pytest.mark.parametrize("machines", [20, 40, 60])
def test_the_corrective_flow_gains_a_factor_of_two(machines: int) -> None:
    """Over an equal split and over whole copies, on equal machines that leave nothing over; its grader is why."""
    flow, budget = on_machines(CORRECTIVE), {"machine": machines}
    found = plan(flow, budget)
    assert found.throughput >= 2.0 * equal_split(flow, budget).throughput
    assert found.throughput >= 2.0 * whole_pipeline(flow, budget).throughput
    assert found.bottleneck == "grade"


@pytest.mark.parametrize("flow", [on_machines(each) for each in FLOWS], ids=lambda flow: flow.name)
def test_pools_of_the_planned_sizes_serve_what_was_planned(flow: FlowValues) -> None:
    """Simulated with times that vary: overloaded by a fifth, they serve the plan within 8 %."""
    found = plan(flow, {"machine": 20.0})
    seconds = 60.0
    result = simulate(flow, found, poisson(found.throughput * 1.2, seconds, seed=5), max_waiting=10**6)
    served = sum(seconds / 3 <= each.finished_at < seconds for each in result.requests) / (seconds * 2 / 3)
    assert 0.92 * found.throughput <= served <= 1.05 * found.throughput


def test_the_tables_of_the_benchmark_are_made() -> None:
    """Planners that know less never come to more, and its promises on the corrective flow are kept."""
    _, checks, rows = comparison()
    assert all(each.kept for each in checks)
    assert {each.flow for each in rows} == {each.name for each in FLOWS}
    shares = [int(row[-1].rstrip("%")) for row in ablation().rows]
    assert max(shares) == 100
    assert min(shares) < 60


async def test_live_pools_follow_a_shift() -> None:
    """Requests that all go round twice as often: the pools take the sizes of the new plan while they serve."""
    before, after = (
        replace(
            flow,
            stages=tuple(
                replace(each, service=ServiceTime(mean=each.service.mean / 100)) for each in flow.stages if each.service
            ),
        )
        for flow in (corrective(0.1), corrective(0.8))
    )
    budget = {"cpu": 20}
    resizer = Resizer(before, budget, min_served=100)
    wanted = plan(after, budget)

    async def visit(seconds: float) -> None:
        await asyncio.sleep(seconds)

    names = [each.name for each in before.stages]
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()

    class Watched:
        def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
            changed = resizer.sizes(pressures, now)
            if shared_out(after, budget, resizer.replicas).throughput >= 0.9 * wanted.throughput:
                loop.call_soon_threadsafe(arrived.set)
            return changed

    pools = Pools(before, dict.fromkeys(names, visit), replicas=resizer.replicas, sizing=Watched(), every_seconds=0.1)
    numbers = count()

    async def client() -> None:
        while True:
            async with pools.request():
                for step in journey(after, next(numbers), seed=1).steps:
                    await pools.visit(step.stage, step.seconds)

    assert shared_out(after, budget, resizer.replicas).throughput < 0.8 * wanted.throughput
    async with pools, asyncio.timeout(40):
        clients = [asyncio.create_task(client()) for _ in range(40)]
        await arrived.wait()
        for each in clients:
            each.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
