"""What it costs to decide: predictions, choices and learning, for each request; and a pool around a call."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.serving_parts.flows import ADAPTIVE, SELF, busy_seconds
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.workload import Workload, workload
from langgraph_prefetch.serving.pools import Pool
from langgraph_prefetch.serving.queueing.desk import Desk, Serving
from langgraph_prefetch.serving.queueing.estimates import Estimates, Visit
from langgraph_prefetch.serving.queueing.policies import POLICIES
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting

RATE, MOST_SECONDS, MOST_OVERHEAD = 1_024, 0.002, 0.01
REQUEST_SECONDS = 0.05


def measured(*, short: bool, seed: int) -> Part:
    """Both costs."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for flow in (SELF, ADAPTIVE):
        replicas = round(RATE * sum(busy_seconds(flow).values()) / 0.95)
        count = 1_500 if short else 6_000
        work = workload(flow, replicas=replicas, load=0.95, count=count, deadline=4.0, seed=seed)
        for name in ("fcfs", "edf", "slack"):
            seconds, most = per_request(work, POLICIES[name])
            p50, p95 = seconds[len(seconds) // 2], seconds[int(0.95 * len(seconds))]
            figures[f"{flow.name} {name}"] = p95
            rate = len(work.arrivals) / work.arrivals[-1].at
            rows.append((flow.name, name, f"{rate:,.0f}", str(most), f"{p50 * 1e3:.2f}", f"{p95 * 1e3:.2f}"))
    overhead = asyncio.run(around_a_call(200 if short else 1_000))
    figures["pool_seconds"] = overhead
    share = 2 * overhead / REQUEST_SECONDS
    worst = max(p95 for name, p95 in figures.items() if name != "pool_seconds")
    table = Table(
        caption="Deciding, for each request: predictions, the choices of its visits, learning (milliseconds)",
        head=("flow", "policy", "requests/s", "longest queue", "p50", "p95"),
        rows=tuple(rows),
        note=f"A pool around a call that waits for nobody: {overhead * 1e6:.0f} µs, {share:.2%} of a request of two "
        f"visits that takes {REQUEST_SECONDS * 1e3:.0f} ms.",
    )
    return Part(
        name="controller",
        tables=(table,),
        checks=(
            Check(
                what="controller, p95 for each request at 1,024 requests/s",
                measured=f"{worst * 1e3:.2f} ms",
                wanted="2 ms at most",
                kept=worst <= MOST_SECONDS,
            ),
            Check(
                what="pools around a request of 50 ms at low load",
                measured=f"{share:.2%}",
                wanted="1 % at most",
                kept=share <= MOST_OVERHEAD,
            ),
        ),
        figures=figures,
    )


def per_request(work: Workload, policy: QueuePolicy) -> tuple[list[float], int]:
    """Processor seconds of deciding for each request, the least first, and the longest queue."""
    estimates = Estimates(work.flow, features=1)
    desks = {n: Desk(n, policy=policy, replicas=r, max_waiting=100_000) for n, r in work.replicas.items()}
    spent: dict[int, float] = defaultdict(float)
    visits: dict[int, list[Visit]] = defaultdict(list)
    longest = 0
    events: list[tuple[float, int, Callable[[float], None]]] = []
    order = iter(range(10**9))

    def at(when: float, what: Callable[[float], None]) -> None:
        heapq.heappush(events, (when, next(order), what))

    def timed(request: int, call: Callable[..., Any], *args: Any) -> Any:
        began = time.thread_time()
        try:
            return call(*args)
        finally:
            spent[request] += time.thread_time() - began

    def enter(request: int, place: int, arrived: float, now: float) -> None:
        nonlocal longest
        step, features = work.journeys[request].steps[place], work.arrivals[request].features
        desk, before = desks[step.stage], len(visits[request])

        def join() -> None:
            desk.join(
                Waiting(
                    request_id=f"{request} {place}",
                    stage=step.stage,
                    arrived_at=arrived,
                    queued_at=now,
                    deadline=arrived + work.deadline_seconds,
                    remaining_seconds=estimates.remaining(step.stage, before, features),
                    likely_seconds=estimates.likely(step.stage, before, features),
                    service_seconds=estimates.service(step.stage, before, features),
                    visits=before,
                )
            )

        timed(request, join)
        longest = max(longest, len(desk.waiting))
        begin(request, desk, now)

    def begin(request: int, desk: Desk, now: float) -> None:
        while (serving := timed(request, desk.serve, now)) is not None:
            chosen, place = map(int, serving.waiting.request_id.split())
            step = work.journeys[chosen].steps[place]
            at(now + step.seconds, lambda then, s=serving, c=chosen, p=place: leave(s, c, p, then))  # type: ignore[misc]

    def leave(serving: Serving, request: int, place: int, now: float) -> None:
        step, desk = work.journeys[request].steps[place], desks[serving.waiting.stage]
        visits[request].append(Visit(stage=step.stage, visits=serving.waiting.visits, service_seconds=step.seconds))
        timed(request, desk.done, serving)
        begin(request, desk, now)
        for each in step.then:
            enter(request, each, serving.waiting.arrived_at, now)
        if not step.then:
            timed(request, estimates.learn, visits.pop(request), work.arrivals[request].features)

    for number, (arrival, journey) in enumerate(zip(work.arrivals, work.journeys, strict=True)):
        at(arrival.at, lambda now, n=number, j=journey: enter(n, j.first[0], now, now))  # type: ignore[misc]
    while events:
        when, _, what = heapq.heappop(events)
        what(when)
    return sorted(spent.values()), longest


async def around_a_call(rounds: int) -> float:
    """Seconds that a pool adds to a call that finds a replica free, in the median."""

    async def stage() -> None:
        await asyncio.sleep(0)

    direct: list[float] = []
    pooled: list[float] = []
    async with Pool("stage", stage, replicas=4, estimates=Estimates(SELF)) as pool:
        for _ in range(rounds):
            calls: tuple[tuple[Callable[[], Any], list[float]], ...] = ((stage, direct), (pool, pooled))
            for call, found in calls:
                began = time.perf_counter()
                for _ in range(10):
                    await call()
                found.append((time.perf_counter() - began) / 10)
    return median(pooled) - median(direct)
