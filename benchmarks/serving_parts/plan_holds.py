"""Whether pools of the planned sizes serve what was planned: simulated, live, and after the routing changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.serving_parts import asleep
from benchmarks.serving_parts.flows import ADAPTIVE, CORRECTIVE, FLOWS
from benchmarks.serving_parts.part import Check, Table
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.flow.values import Edge, FlowValues
from langgraph_prefetch.serving.planning import Resizer, equal_split, plan, shared_out
from langgraph_prefetch.serving.pools import Place, Pools
from langgraph_prefetch.serving.simulator import Arrival, Journey, journey, poisson, simulate

PERIOD, SHIFT_AT = 10.0, 60.0
WITHIN, RECOVERED, FACTOR = 0.05, 0.90, 2.0


def on_machines(flow: FlowValues) -> FlowValues:
    """The flow on one pool of equal machines, each of which serves one replica of any stage."""
    return replace(flow, stages=tuple(replace(each, resources={"machine": 1.0}) for each in flow.stages))


def rerouted(flow: FlowValues, source: str, probabilities: Mapping[str, float]) -> FlowValues:
    """The flow with other probabilities behind one stage."""

    def changed(edge: Edge) -> Edge:
        return replace(edge, probability=probabilities[edge.target]) if edge.source == source else edge

    return replace(flow, edges=tuple(map(changed, flow.edges)))


def simulated(seconds: float, seed: int) -> tuple[Table, list[Check]]:
    """All four flows, below and above what was planned."""
    rows, worst = [], 0.0
    for flow in map(on_machines, FLOWS):
        found = plan(flow, {"machine": 20.0})
        for load in (0.9, 1.15):
            arrivals = poisson(found.throughput * load, seconds, seed=seed)
            result = simulate(flow, found, arrivals, seed=seed, max_waiting=10**6)
            served = _rate([each.finished_at for each in result.requests], seconds)
            came = _rate([each.at for each in arrivals], seconds)
            off = served / min(found.throughput, came) - 1
            worst = max(worst, abs(off))
            rows.append(
                (flow.name, f"{load:.0%}", f"{found.throughput:.2f}", f"{came:.2f}", f"{served:.2f}", f"{off:+.1%}")
            )
    table = Table(
        caption="Simulated, 20 machines",
        head=("flow", "load", "planned/s", "came/s", "served/s", "off"),
        rows=tuple(rows),
    )
    check = Check(
        what="simulated: served against the plan, or against what came where that is less",
        measured=f"{worst:.1%} off at most",
        wanted="within 5 %",
        kept=worst <= WITHIN,
    )
    return table, [check]


def live(seconds: float, place: Place, machines: int, pace: float, seed: int) -> tuple[Table, list[Check]]:
    """Pools of this machine: clients without pause; replicas take the drawn times, ``pace`` seconds for one."""
    rows, checks = [], []
    for flow in (on_machines(CORRECTIVE), on_machines(ADAPTIVE)):
        found = plan(flow, {"machine": float(machines)})
        rates = {}
        for what, replicas in (("plan", found.replicas), ("equal split", equal_split(flow, found.budget).replicas)):
            wanted = shared_out(flow, found.budget, replicas).throughput / pace
            rates[what] = asyncio.run(_served(flow, replicas, seconds, place, pace, seed))
            rows.append((flow.name, what, f"{wanted:.1f}", f"{rates[what]:.1f}", f"{rates[what] / wanted - 1:+.1%}"))
        factor = rates["plan"] / rates["equal split"]
        if flow.name == CORRECTIVE.name:
            checks.append(
                Check(
                    what=f"live, {machines} × {place}, {flow.name}: served with the plan / with an equal split",
                    measured=f"{factor:.2f}",
                    wanted=f"{FACTOR:g}",
                    kept=factor >= FACTOR,
                )
            )
    table = Table(
        caption=f"Live, {machines} replicas ({'processes' if place == 'process' else 'of one event loop'})",
        head=("flow", "sizes", "planned/s", "served/s", "off"),
        rows=tuple(rows),
    )
    return table, checks


async def _served(
    flow: FlowValues, replicas: Mapping[str, int], seconds: float, place: Place, pace: float, seed: int
) -> float:
    serve = asleep.on_loop if place == "loop" else asleep.in_process
    names = [each.name for each in flow.stages]
    pools = Pools(flow, dict.fromkeys(names, serve), replicas=replicas, places=dict.fromkeys(names, place))
    ends: list[float] = []
    numbers = iter(range(10**9))

    async def client() -> None:
        while True:
            drawn: Journey = journey(flow, next(numbers), seed=seed)
            async with pools.request():
                for step in drawn.steps:
                    await pools.visit(step.stage, step.seconds * pace)
            ends.append(time.monotonic() - began)

    async with pools:
        began = time.monotonic()
        clients = [asyncio.create_task(client()) for _ in range(6 * sum(replicas.values()))]
        await asyncio.sleep(seconds)
        for each in clients:
            each.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
    return _rate(ends, seconds)


def _rate(times: Sequence[float], seconds: float) -> float:
    """A second, after the first quarter, in which the queues fill."""
    return sum(seconds / 4 <= each < seconds for each in times) / (0.75 * seconds)


class _Watched:
    """A resizer whose sizes are held against the best plan for the routing that is true by then."""

    def __init__(self, resizer: Resizer, after: FlowValues, best: float) -> None:
        self.resizer, self.after, self.best = resizer, after, best
        self.reached: dict[float, float] = {}

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        """As the resizer says."""
        changed = self.resizer.sizes(pressures, now)
        real = shared_out(self.after, self.resizer.plan.budget, self.resizer.replicas).throughput
        self.reached[now] = real / self.best
        return changed


def shifted(loads: Sequence[float], seed: int) -> tuple[Table, list[Check], dict[str, Any]]:
    """The routing changes at 60 s: what the sizes are worth under it after one period of 10 s, and after two."""
    cases = (
        (CORRECTIVE, rerouted(CORRECTIVE, "grade", {"generate": 0.05, "rewrite": 0.95})),
        (CORRECTIVE, rerouted(CORRECTIVE, "grade", {"generate": 0.99, "rewrite": 0.01})),
        (ADAPTIVE, rerouted(ADAPTIVE, "classify", {"generate": 0.95, "retrieve": 0.05})),
        (ADAPTIVE, rerouted(ADAPTIVE, "reason", {"retrieve": 0.9, "generate": 0.1})),
    )
    rows, figures = [], {}
    for before, after in ((on_machines(old), on_machines(new)) for old, new in cases):
        moved = next(edge for edge, old in zip(after.edges, before.edges, strict=True) if edge != old)
        name = f"{before.name}: {moved.source} → {moved.target} {moved.probability:g}"
        for load in loads:
            at = _shift(before, after, load, seed)
            figures[f"{name}, load {load:g}"] = at
            rows.append((name, f"{load:.0%}", *(f"{at[SHIFT_AT + PERIOD * n]:.0%}" for n in range(3))))
    table = Table(
        caption="Simulated, 40 machines: sizes worth so much of the best plan for the new routing",
        head=("shift", "load", "before", "1 period", "2 periods"),
        rows=tuple(rows),
    )
    worst = min(each[SHIFT_AT + 2 * PERIOD] for each in figures.values())
    check = Check(
        what="after the routing changed: of the new optimum within two periods",
        measured=f"{worst:.0%} at least",
        wanted="90 %",
        kept=worst >= RECOVERED,
    )
    return table, [check], figures


def _shift(before: FlowValues, after: FlowValues, load: float, seed: int) -> dict[float, float]:
    budget = {"machine": 40.0}
    best = plan(after, budget).throughput
    watched = _Watched(Resizer(before, budget), after, best)
    # Load of the tighter of both routings, or the queues would never be gone.
    arrivals: Sequence[Arrival] = poisson(load * min(best, plan(before, budget).throughput), 90.0, seed=seed)
    journeys = [journey(before if e.at < SHIFT_AT else after, n, seed=seed) for n, e in enumerate(arrivals)]
    simulate(
        before,
        watched.resizer.replicas,
        arrivals,
        sizing=watched,
        sizing_seconds=PERIOD,
        journeys=journeys,
        max_waiting=10**6,
    )
    return watched.reached
