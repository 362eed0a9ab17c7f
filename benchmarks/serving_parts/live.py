"""A workload played live: real pools on asyncio, whose stages sleep as long as was drawn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchmarks.serving_parts.workload import Workload
from langgraph_prefetch.serving.pools import Pools
from langgraph_prefetch.serving.queueing.estimates import Estimates
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy
from langgraph_prefetch.serving.simulator import Arrival, Journey

MAX_WAITING = 100_000


async def missed(work: Workload, policy: QueuePolicy, *, warm_up: int) -> float:
    """Share of the requests, those of the warm-up left out, that were late."""

    async def stage(seconds: float) -> None:
        await asyncio.sleep(seconds)

    pools = Pools(
        work.flow,
        {each.name: stage for each in work.flow.stages},
        replicas=work.replicas,
        policy=policy,
        estimates=Estimates(work.flow, features=1),
        max_waiting=MAX_WAITING,
    )
    async with pools:
        began = time.monotonic()
        tasks = []
        for arrival, journey in zip(work.arrivals, work.journeys, strict=True):
            if (ahead := began + arrival.at - time.monotonic()) > 0:
                await asyncio.sleep(ahead)
            tasks.append(asyncio.create_task(_request(pools, work.deadline_seconds, arrival, journey)))
        late = (await asyncio.gather(*tasks))[warm_up:]
    return sum(late) / len(late)


async def _request(pools: Pools, deadline_seconds: float, arrival: Arrival, journey: Journey) -> bool:
    async with pools.request(deadline_seconds=deadline_seconds, features=arrival.features) as request:
        await _walk(pools, journey, journey.first)
    assert request.deadline is not None
    return time.monotonic() > request.deadline


async def _walk(pools: Pools, journey: Journey, places: Sequence[int]) -> None:
    while len(places) == 1:
        step = journey.steps[places[0]]
        await pools.visit(step.stage, step.seconds)
        places = step.then
    await asyncio.gather(*(_walk(pools, journey, (place,)) for place in places))
