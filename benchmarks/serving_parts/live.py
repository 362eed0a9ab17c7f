"""A workload played live: real pools on asyncio, whose stages sleep as long as was drawn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.serving_parts.workload import Workload
from langgraph_prefetch.serving.pools import Pools, Request
from langgraph_prefetch.serving.queueing.estimates import Estimates
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy
from langgraph_prefetch.serving.simulator import Arrival, Journey

MAX_WAITING = 100_000


@dataclass(frozen=True, kw_only=True)
class Played:
    """What happened.

    Attributes:
        late: share of the requests, the first twentieth left out, that were late.
        measured: the workload as it really was: when each request came and how long each visit took, late timers and
            all. What a simulation is given that is to say the same.
    """

    late: float
    measured: Workload


async def played(work: Workload, policy: QueuePolicy) -> Played:
    """Play it; its journeys have no branches."""

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
        requests = await asyncio.gather(*tasks)
    late = [each.late for each in requests][len(requests) // 20 :]
    measured = replace(
        work,
        arrivals=tuple(
            replace(arrival, at=max(0.0, each.request.arrived_at - began))
            for arrival, each in zip(work.arrivals, requests, strict=True)
        ),
        journeys=tuple(
            replace(
                journey,
                steps=tuple(
                    replace(step, seconds=visit.service_seconds)
                    for step, visit in zip(journey.steps, each.request.visits, strict=True)
                ),
            )
            for journey, each in zip(work.journeys, requests, strict=True)
        ),
    )
    return Played(late=sum(late) / len(late), measured=measured)


@dataclass(frozen=True, kw_only=True)
class _Done:
    request: Request
    late: bool


async def _request(pools: Pools, deadline_seconds: float, arrival: Arrival, journey: Journey) -> _Done:
    async with pools.request(deadline_seconds=deadline_seconds, features=arrival.features) as request:
        await _walk(pools, journey, journey.first)
    assert request.deadline is not None
    return _Done(request=request, late=time.monotonic() > request.deadline)


async def _walk(pools: Pools, journey: Journey, places: Sequence[int]) -> None:
    while len(places) == 1:
        step = journey.steps[places[0]]
        await pools.visit(step.stage, step.seconds)
        places = step.then
    await asyncio.gather(*(_walk(pools, journey, (place,)) for place in places))
