"""Deadlines missed in simulation: every policy on the same requests, over enough of them to tell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import sqrt
from multiprocessing import get_context
from statistics import fmean

from benchmarks.serving_parts.flows import FLOWS
from benchmarks.serving_parts.foreknowledge import Told, hopeless, numbered
from benchmarks.serving_parts.live import MAX_WAITING
from benchmarks.serving_parts.part import Table
from benchmarks.serving_parts.workload import Workload, workload
from langgraph_prefetch.evaluation.reporting.values import Lines
from langgraph_prefetch.serving.queueing.estimates import Estimates
from langgraph_prefetch.serving.queueing.policies import DEFAULT_POLICY, POLICIES
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy
from langgraph_prefetch.serving.simulator import simulate

LOADS, REPLICAS, DEADLINE = (0.85, 0.90, 0.95), 12, 4.0
PUBLISHED = {"vanilla": "", "corrective": "", "self": "-41.3 %", "adaptive": "-78.4 %"}
HOPS, ALL, HOPELESS = "told the stages", "told stages and times", "hopeless"
ARMS = (*POLICIES, HOPS, ALL, HOPELESS)


@dataclass(frozen=True, kw_only=True)
class Missed:
    """Flow, load, and arm -> share of each run; run n has the same requests for every arm."""

    flow: str
    load: float
    shares: Mapping[str, Sequence[float]]

    def mean(self, arm: str) -> float:
        return fmean(self.shares[arm])


@dataclass(frozen=True, kw_only=True)
class Change:
    """Of what a flow missed, against first come, first served; over all loads together.

    Attributes:
        change: of all runs together.
        error: standard error of that over the runs, by the jackknife.
    """

    change: float
    error: float

    @property
    def text(self) -> str:
        return f"{self.change:+.1%} ± {100 * self.error:.1f}"


def late(work: Workload, policy: QueuePolicy, estimates: Estimates | None = None) -> float:
    """Share of the requests, the first twentieth left out, that a simulation of ``policy`` makes late."""
    return simulate(
        work.flow,
        work.replicas,
        work.arrivals,
        policy,
        deadline_seconds=work.deadline_seconds,
        estimates=estimates or Estimates(work.flow, features=1),
        journeys=work.journeys,
        max_waiting=MAX_WAITING,
        warm_up_seconds=work.arrivals[len(work.arrivals) // 20].at,
    ).violations


def one(place: int, load: float, seed: int, count: int) -> dict[str, float]:
    """Every arm on the same requests."""
    work = workload(FLOWS[place], replicas=REPLICAS, load=load, count=count, deadline=DEADLINE, seed=seed)
    shares = {name: late(work, policy) for name, policy in POLICIES.items()}
    known = numbered(work)
    for arm, times in ((HOPS, False), (ALL, True)):
        shares[arm] = late(known, DEFAULT_POLICY, Told(work, times=times))
    return shares | {HOPELESS: hopeless(work)}


def missed(count: int, seeds: range) -> list[Missed]:
    """All flows, loads and runs, on all processors."""
    cases = list(product(range(len(FLOWS)), LOADS, seeds))
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        done = dict(zip(cases, pool.map(one, *zip(*cases, strict=True), [count] * len(cases)), strict=True))
    return [
        Missed(
            flow=flow.name,
            load=load,
            shares={arm: [done[place, load, seed][arm] for seed in seeds] for arm in ARMS},
        )
        for place, flow in enumerate(FLOWS)
        for load in LOADS
    ]


def change(found: Sequence[Missed], flow: str, arm: str) -> Change:
    """How much less the arm misses than first come, first served."""
    here = [each for each in found if each.flow == flow]
    ours, first = ([sum(run) for run in zip(*(e.shares[a] for e in here), strict=True)] for a in (arm, "fcfs"))
    whole, runs = sum(ours) / sum(first) - 1, len(ours)
    if runs < 2:
        return Change(change=whole, error=0.0)
    without = [(sum(ours) - a) / (sum(first) - b) - 1 for a, b in zip(ours, first, strict=True)]
    spread = sum((each - fmean(without)) ** 2 for each in without)
    return Change(change=whole, error=sqrt((runs - 1) / runs * spread))


def policies_table(found: Sequence[Missed], count: int) -> Table:
    """Every policy, by flow and load."""
    rows = []
    for flow in FLOWS:
        here = [each for each in found if each.flow == flow.name]
        for each in here:
            first = each.mean("fcfs")
            changes = (f"{each.mean(arm) / first - 1:+.0%}" if first else "-" for arm in ("edf", "slack"))
            rows.append((flow.name, f"{each.load:.2f}", *(f"{each.mean(p):.1%}" for p in POLICIES), *changes, ""))
        shares = (f"{fmean(each.mean(p) for each in here):.1%}" for p in POLICIES)
        changes = (change(found, flow.name, arm).text for arm in ("edf", "slack"))
        rows.append((flow.name, "all", *shares, *changes, PUBLISHED[flow.name]))
    runs = len(found[0].shares["fcfs"])
    return Table(
        caption=f"Deadlines missed in simulation ({REPLICAS} replicas, due {DEADLINE:g} × the mean service after "
        f"arrival, {runs} × {count} requests)",
        head=("flow", "load", *POLICIES, "edf", "slack", "published"),
        rows=tuple(rows),
        note=(
            "Published: Harmonia (arXiv:2505.07833), at most, against other frameworks on GPUs, with all its parts at "
            "once. Here one thing is changed, the policy, on the same replicas; times, loads and deadlines are stated "
            "ones.\n± is the standard error over the runs. A run begins empty, and near saturation takes thousands of "
            "requests to be as full as it will be: shorter runs miss less under every policy."
        ),
    )


def foreknowledge_table(found: Sequence[Missed]) -> Table:
    """The default policy, told more than anybody knows."""
    rows = []
    for flow in FLOWS:
        here = [each for each in found if each.flow == flow.name]
        told = (change(found, flow.name, arm).text for arm in (DEFAULT_POLICY.name, HOPS, ALL))
        rows.append((flow.name, *told, f"{fmean(each.mean(HOPELESS) for each in here):.1%}"))
    return Table(
        caption=f"What foreknowledge would be worth ({DEFAULT_POLICY.name}, all loads, against fcfs)",
        head=("flow", "as it is", HOPS, ALL, HOPELESS),
        rows=tuple(rows),
        note="Hopeless: requests whose own service is longer than their deadline; nobody can make them be in time.",
    )


def plots(found: Sequence[Missed]) -> tuple[Lines, ...]:
    """Of each flow: share of late requests by load, a curve for each policy."""
    return tuple(
        Lines(
            caption=f"Deadlines missed, {flow.name}",
            x="load of the busiest stage",
            y="share",
            series={
                arm: tuple((each.load, each.mean(arm)) for each in found if each.flow == flow.name) for arm in POLICIES
            },
        )
        for flow in FLOWS
    )
