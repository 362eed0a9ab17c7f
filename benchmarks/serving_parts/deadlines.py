"""Deadlines missed, by queue policy: simulated, played live, and what deciding costs."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass

from benchmarks.serving_parts import controller
from benchmarks.serving_parts.deadlines_simulated import (
    DEADLINE,
    REPLICAS,
    change,
    foreknowledge_table,
    late,
    missed,
    plots,
    policies_table,
)
from benchmarks.serving_parts.flows import FLOWS
from benchmarks.serving_parts.live import played
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.workload import Workload, workload
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.queueing.policies import DEFAULT_POLICY, EarliestDeadline, FirstCome, LeastSlack
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy

LIVE: tuple[QueuePolicy, ...] = (FirstCome(), EarliestDeadline(), LeastSlack())
PACE = 0.3
"""Live, a second of the flow takes so many: a visit is then long against the loop's own time."""
LIVE_LOAD, POINTS, WANTED = 0.92, 0.10, -0.75
CLOSE = 0.02
"""Policies nearer than this have no order that a run of this length could show."""


def run(*, short: bool, seed: int) -> Part:
    """Simulate, play, compare."""
    count, runs = (800, 1) if short else (6_000, 10)
    found = missed(count, range(seed, seed + runs))
    changes = {flow.name: change(found, flow.name, DEFAULT_POLICY.name) for flow in FLOWS}
    live, pairs = compared(200 if short else 600, seed)
    cost = controller.measured(short=short, seed=seed)
    checks = [
        Check(
            what=f"{flow}: deadlines missed at loads 0.85 to 0.95, {DEFAULT_POLICY.name} against fcfs",
            measured=each.text,
            wanted="-75 % or better",
            kept=each.change <= WANTED,
        )
        for flow, each in changes.items()
    ]
    checks += [
        Check(
            what=f"{each.flow}: simulated and live, same requests",
            measured=f"{each.apart:.1%} apart at most, the same order: {'yes' if each.same_order else 'no'}",
            wanted="10 points, the same order",
            kept=each.apart <= POINTS and each.same_order,
        )
        for each in pairs
    ]
    return Part(
        name="deadlines",
        tables=(policies_table(found, count), foreknowledge_table(found), live, *cost.tables),
        checks=(*checks, *cost.checks),
        plots=plots(found),
        figures={
            "simulated": [asdict(each) for each in found],
            "live": {each.flow: each.missed for each in pairs},
            "controller": cost.figures,
        },
    )


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The same requests of a flow simulated and live: policy -> shares that were late."""

    flow: str
    missed: dict[str, tuple[float, float]]

    @property
    def apart(self) -> float:
        return max(abs(ours - live) for ours, live in self.missed.values())

    @property
    def same_order(self) -> bool:
        return same_order(list(self.missed.values()))


def compared(count: int, seed: int) -> tuple[Table, list[Pair]]:
    """The same requests live, and simulated with the times that were measured live."""
    pairs = [asyncio.run(_pair(_live_work(flow, count, seed))) for flow in FLOWS]
    table = Table(
        caption=f"Deadlines missed, simulated / live on asyncio, at a load of {LIVE_LOAD} (about {count} requests, "
        f"{PACE:g} × the times)",
        head=("flow", *(each.name for each in LIVE), "apart at most"),
        rows=tuple(
            (each.flow, *(f"{ours:.1%} / {live:.1%}" for ours, live in each.missed.values()), f"{each.apart:.1%}")
            for each in pairs
        ),
        note="Live the stages sleep, and on a busy machine longer than they were told to. The simulation is given what "
        "was measured.",
    )
    return table, pairs


def _live_work(flow: FlowValues, count: int, seed: int) -> Workload:
    work = workload(flow, replicas=REPLICAS, load=LIVE_LOAD, count=count, deadline=DEADLINE, seed=seed)
    return work.at_pace(PACE)


async def _pair(work: Workload) -> Pair:
    lives = await asyncio.gather(*(played(work, policy) for policy in LIVE))
    return Pair(
        flow=work.flow.name,
        missed={
            policy.name: (late(live.measured, policy), live.late) for policy, live in zip(LIVE, lives, strict=True)
        },
    )


def same_order(pairs: list[tuple[float, float]]) -> bool:
    """No two policies stand clearly one way in simulation and clearly the other way live."""
    return all(
        (ours - other) * (live - beside) >= 0
        for ours, live in pairs
        for other, beside in pairs
        if abs(ours - other) > CLOSE and abs(live - beside) > CLOSE
    )
