"""Deadlines missed, by queue policy: simulated, played live, and what deciding costs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from statistics import mean

from benchmarks.serving_parts import controller
from benchmarks.serving_parts.flows import FLOWS
from benchmarks.serving_parts.live import MAX_WAITING, played
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.workload import Workload, workload
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.queueing.estimates import Estimates
from langgraph_prefetch.serving.queueing.policies import (
    DEFAULT_POLICY,
    POLICIES,
    EarliestDeadline,
    FirstCome,
    LeastSlack,
)
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy
from langgraph_prefetch.serving.simulator import simulate

LOADS, REPLICAS, DEADLINE = (0.85, 0.90, 0.95), 12, 4.0
PUBLISHED = {"vanilla": "", "corrective": "", "self": "-41.3 %", "adaptive": "-78.4 %"}
LIVE: tuple[QueuePolicy, ...] = (FirstCome(), EarliestDeadline(), LeastSlack())
PACE = 0.3
"""Live, a second of the flow takes so many: a visit is then long against the loop's own time."""
LIVE_LOAD, POINTS, WANTED = 0.92, 0.10, -0.75
CLOSE = 0.02
"""Policies nearer than this have no order that a run of this length could show."""


def run(*, short: bool, seed: int) -> Part:
    """Simulate, play, compare."""
    count, seeds = (800, 1) if short else (1_500, 2)
    table, figures = simulated(count, range(seed, seed + seeds))
    live, pairs = compared(200 if short else 600, seed)
    cost = controller.measured(short=short, seed=seed)
    checks = [
        Check(
            what=f"{flow}: deadlines missed at loads 0.85 to 0.95, {DEFAULT_POLICY.name} against fcfs",
            measured=f"{change:+.1%}",
            wanted="-75 % or better",
            kept=change <= WANTED,
        )
        for flow, change in figures["change"].items()
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
        tables=(table, live, *cost.tables),
        checks=(*checks, *cost.checks),
        figures={"simulated": figures, "live": {each.flow: each.missed for each in pairs}, "controller": cost.figures},
    )


def simulated(count: int, seeds: range) -> tuple[Table, dict[str, dict[str, float]]]:
    """Every policy on the same requests, and how far the default is from first come, first served."""
    rows, change, shares = [], {}, {}
    for flow in FLOWS:
        by_load = {}
        for load in LOADS:
            works = [
                workload(flow, replicas=REPLICAS, load=load, count=count, deadline=DEADLINE, seed=seed)
                for seed in seeds
            ]
            by_load[load] = {name: mean(late(work, policy) for work in works) for name, policy in POLICIES.items()}
            first = by_load[load]["fcfs"]
            rows.append(
                (
                    flow.name,
                    f"{load:.2f}",
                    *(f"{share:.1%}" for share in by_load[load].values()),
                    *(_change(by_load[load][name], first) for name in ("edf", "slack")),
                    PUBLISHED[flow.name],
                )
            )
        totals = {name: sum(each[name] for each in by_load.values()) for name in POLICIES}
        change[flow.name] = totals[DEFAULT_POLICY.name] / totals["fcfs"] - 1
        shares.update({f"{flow.name} {load} {name}": s for load, each in by_load.items() for name, s in each.items()})
        rows.append(
            (
                flow.name,
                "all",
                *(f"{total / len(LOADS):.1%}" for total in totals.values()),
                *(_change(totals[name], totals["fcfs"]) for name in ("edf", "slack")),
                PUBLISHED[flow.name],
            )
        )
    table = Table(
        caption=f"Deadlines missed in simulation ({REPLICAS} replicas, due {DEADLINE:g} × the mean service after "
        f"arrival, {len(seeds)} × {count} requests)",
        head=("flow", "load", *POLICIES, "edf", "slack", "published"),
        rows=tuple(rows),
        note=(
            "Published: Harmonia (arXiv:2505.07833), at most, against other frameworks on GPUs, with all its parts at "
            "once. Here one thing is changed, the policy, on the same replicas; times, loads and "
            "deadlines are stated ones.\nAt 0.85 few deadlines are missed, and many of those by "
            "requests whose own loops take that long."
        ),
    )
    return table, {"change": change, "missed": shares}


def late(work: Workload, policy: QueuePolicy) -> float:
    """Share of the requests that a simulation of ``policy`` makes late."""
    return simulate(
        work.flow,
        work.replicas,
        work.arrivals,
        policy,
        deadline_seconds=work.deadline_seconds,
        estimates=Estimates(work.flow, features=1),
        journeys=work.journeys,
        max_waiting=MAX_WAITING,
        warm_up_seconds=work.arrivals[len(work.arrivals) // 20].at,
    ).violations


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


def _change(share: float, first: float) -> str:
    return f"{share / first - 1:+.0%}" if first else "-"
