"""Plans beside two ways to share out a budget, what each thing that a plan knows is worth, and whether plans hold.

``python -m benchmarks.serving_parts.plan`` prints it all; ``--quick`` is shorter. Times of the flows are stated (see
`flows`), not measured; the published figures are those of arXiv:2505.07833, on other flows and machines.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from benchmarks.serving_parts.flows import ADAPTIVE, CORRECTIVE, FLOWS, busy_seconds
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.flow.text import table
from langgraph_prefetch.serving.flow.values import Edge, FlowValues
from langgraph_prefetch.serving.planning import Resizer, equal_split, plan, shared_out, whole_pipeline
from langgraph_prefetch.serving.pools import Place, Pools
from langgraph_prefetch.serving.simulator import Arrival, Journey, journey, poisson, simulate

MACHINES = 60  # a multiple of every flow's number of stages, so that an equal split leaves nothing over
MIXED = {"cpu": 12.0, "gpu": 24.0}
PERIOD = 10.0


def on_machines(flow: FlowValues) -> FlowValues:
    """The flow on one pool of equal machines, each of which serves one replica of any stage."""
    return replace(flow, stages=tuple(replace(each, resources={"machine": 1.0}) for each in flow.stages))


def rerouted(flow: FlowValues, source: str, probabilities: Mapping[str, float]) -> FlowValues:
    """The flow with other probabilities behind one stage."""

    def changed(edge: Edge) -> Edge:
        return replace(edge, probability=probabilities[edge.target]) if edge.source == source else edge

    return replace(flow, edges=tuple(map(changed, flow.edges)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One flow and budget."""

    flow: str
    budget: str
    throughput: float
    bound: float
    bottleneck: str
    over_equal: float
    over_whole: float


def compared(flow: FlowValues, budget: Mapping[str, float]) -> Compared:
    """The plan beside both rivals, by the same equations."""
    found = plan(flow, budget)
    return Compared(
        flow=flow.name,
        budget=" ".join(f"{name}={amount:g}" for name, amount in budget.items()),
        throughput=found.throughput,
        bound=found.bound,
        bottleneck=found.bottleneck,
        over_equal=found.throughput / equal_split(flow, budget).throughput,
        over_whole=found.throughput / whole_pipeline(flow, budget).throughput,
    )


def comparison() -> str:
    """All flows, on equal machines and on two kinds of resource."""
    rows = [compared(on_machines(flow), {"machine": float(MACHINES)}) for flow in FLOWS]
    rows += [compared(on_machines(CORRECTIVE), {"machine": 20.0})]
    mixed = [compared(flow, MIXED) for flow in FLOWS]
    text = table(
        ("flow", "budget", "plan/s", "bound/s", "bottleneck", "× equal split", "× whole pipeline"),
        [
            (
                each.flow,
                each.budget,
                f"{each.throughput:.2f}",
                f"{each.bound:.2f}",
                each.bottleneck,
                f"{each.over_equal:.2f}",
                f"{each.over_whole:.2f}",
            )
            for each in (*rows, *mixed)
        ],
    )
    machines = fmean(each.over_equal for each in rows[: len(FLOWS)])
    both = fmean(each.over_equal for each in mixed)
    return text + (
        f"mean × equal split: {machines:.2f} on equal machines, {both:.2f} on two kinds "
        "(published: 1.6 mean, up to 2.04)\n"
        "On equal machines the factor is n · max work / sum of work of the n stages, whatever the planner: "
        + ", ".join(f"{flow.name} {_factor(flow):.2f}" for flow in FLOWS)
        + "\n"
    )


def _factor(flow: FlowValues) -> float:
    work = busy_seconds(flow).values()
    return len(work) * max(work) / sum(work)


def ablation() -> str:
    """What is lost where the planner does not know one thing. The throughput is the true one, by the flow equations."""
    rows = []
    for flow, budget in (
        (on_machines(CORRECTIVE), {"machine": float(MACHINES)}),
        (CORRECTIVE, MIXED),
        (ADAPTIVE, MIXED),
    ):
        full = plan(flow, budget)
        blind = {
            "all it knows": full.replicas,
            "without resources": without_resources(flow, budget),
            "without routing": plan(without_routing(flow), budget).replicas,
            "without service times": plan(without_times(flow), budget).replicas,
            "by kind of machine, not by stage": by_kind(flow, budget),
            "the whole pipeline, not by stage": whole_pipeline(flow, budget).replicas,
        }
        name = f"{flow.name}, {' '.join(f'{n}={a:g}' for n, a in budget.items())}"
        for what, replicas in blind.items():
            real = shared_out(flow, budget, replicas).throughput
            rows.append((name, what, f"{real:.2f}", f"{real / full.throughput:.0%}"))
    return table(("flow", "planned with", "a second", "of the plan"), rows)


def without_resources(flow: FlowValues, budget: Mapping[str, float]) -> dict[str, int]:
    """As if any unit would do for any stage; then as many replicas of each as its units really hold."""
    counts = dict(plan(on_machines(flow), {"machine": sum(budget.values())}).replicas)
    for resource, amount in budget.items():
        users = {each.name: each.resources[resource] for each in flow.stages if resource in each.resources}
        while sum(counts[name] * share for name, share in users.items()) > amount:
            counts[max(users, key=counts.__getitem__)] -= 1
    return counts


def without_routing(flow: FlowValues) -> FlowValues:
    """Every stage is visited once by every request."""
    names = ["__start__", *(each.name for each in flow.stages), "__end__"]
    edges = (Edge(source=a, target=b, probability=1.0) for a, b in pairwise(names))
    return replace(flow, edges=tuple(edges))


def without_times(flow: FlowValues) -> FlowValues:
    """Every visit takes as long."""
    mean = fmean(each.service.mean for each in flow.stages if each.service)
    return replace(
        flow, stages=tuple(replace(e, service=e.service and replace(e.service, mean=mean)) for e in flow.stages)
    )


def by_kind(flow: FlowValues, budget: Mapping[str, float]) -> dict[str, int]:
    """Stages on the same resources are deployed together: a replica of the group holds one of each."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for each in flow.stages:
        groups.setdefault(tuple(each.resources), []).append(each.name)
    needs = {each.name: each.resources for each in flow.stages}
    counts: dict[str, int] = {}
    for resources, names in groups.items():
        copies = min(budget[r] / sum(needs[name][r] for name in names) for r in resources)
        counts |= dict.fromkeys(names, int(copies))
    return counts


def simulated(seconds: float) -> str:
    """Whether pools of the planned sizes serve what the plan says, for all four flows."""
    rows = []
    for flow in map(on_machines, FLOWS):
        found = plan(flow, {"machine": 20.0})
        for load in (0.9, 1.15):
            arrivals = poisson(found.throughput * load, seconds, seed=1)
            result = simulate(flow, found, arrivals, max_waiting=10**6)
            window = [seconds / 4 <= each.finished_at < seconds for each in result.requests]
            offered = [seconds / 4 <= each.at < seconds for each in arrivals]
            served, came = sum(window) / (0.75 * seconds), sum(offered) / (0.75 * seconds)
            off = served / min(found.throughput, came) - 1
            rows.append(
                (flow.name, f"{load:.0%}", f"{found.throughput:.2f}", f"{came:.2f}", f"{served:.2f}", f"{off:+.1%}")
            )
    return table(("flow", "load", "planned/s", "came/s", "served/s", "off"), rows)


def live(seconds: float, place: Place, machines: int, scale: float) -> str:
    """The same on live pools: clients without pause, served by replicas that take the drawn times."""
    rows = []
    for flow in (on_machines(CORRECTIVE), on_machines(ADAPTIVE)):
        found = plan(flow, {"machine": float(machines)})
        for what, replicas in (("plan", found.replicas), ("equal split", equal_split(flow, found.budget).replicas)):
            wanted = shared_out(flow, found.budget, replicas).throughput / scale
            served = asyncio.run(_served(flow, replicas, seconds, place, scale))
            rows.append(
                (
                    flow.name,
                    f"{machines} × {place}",
                    what,
                    f"{wanted:.1f}",
                    f"{served:.1f}",
                    f"{served / wanted - 1:+.1%}",
                )
            )
    return table(("flow", "replicas", "sizes", "planned/s", "served/s", "off"), rows)


async def sleep_on_loop(seconds: float) -> None:
    await asyncio.sleep(seconds)


def sleep_in_process(seconds: float) -> None:
    time.sleep(seconds)


async def _served(flow: FlowValues, replicas: Mapping[str, int], seconds: float, place: Place, scale: float) -> float:
    serve = sleep_on_loop if place == "loop" else sleep_in_process
    names = [each.name for each in flow.stages]
    pools = Pools(flow, dict.fromkeys(names, serve), replicas=replicas, places=dict.fromkeys(names, place))
    ends: list[float] = []
    numbers = iter(range(10**9))

    async def client() -> None:
        while True:
            drawn: Journey = journey(flow, next(numbers))
            async with pools.request():
                for step in drawn.steps:
                    await pools.visit(step.stage, step.seconds * scale)
            ends.append(time.monotonic())

    async with pools:
        began = time.monotonic()
        clients = [asyncio.create_task(client()) for _ in range(6 * sum(replicas.values()))]
        await asyncio.sleep(seconds)
        for each in clients:
            each.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
    return sum(each - began >= seconds / 4 for each in ends) / (0.75 * seconds)


class _Watched:
    """A resizer whose sizes are held against the best plan for the routing that is true by then."""

    def __init__(self, resizer: Resizer, after: FlowValues, best: float) -> None:
        self.resizer, self.after, self.best = resizer, after, best
        self.reached: list[tuple[float, float]] = []

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        changed = self.resizer.sizes(pressures, now)
        real = shared_out(self.after, self.resizer.plan.budget, self.resizer.replicas).throughput
        self.reached.append((now, real / self.best))
        return changed


def shift(loads: Sequence[float]) -> str:
    """The routing changes at 60 s; what the sizes are worth under it after one and two periods of 10 s."""
    cases = (
        (CORRECTIVE, rerouted(CORRECTIVE, "grade", {"generate": 0.05, "rewrite": 0.95})),
        (CORRECTIVE, rerouted(CORRECTIVE, "grade", {"generate": 0.99, "rewrite": 0.01})),
        (ADAPTIVE, rerouted(ADAPTIVE, "classify", {"generate": 0.95, "retrieve": 0.05})),
        (ADAPTIVE, rerouted(ADAPTIVE, "reason", {"retrieve": 0.9, "generate": 0.1})),
    )
    rows = []
    for before, after in cases:
        before, after = on_machines(before), on_machines(after)
        budget = {"machine": 40.0}
        best = plan(after, budget).throughput
        for load in loads:
            watched = _Watched(Resizer(before, budget), after, best)
            # Load of the tighter of both routings, or the queues would never be gone.
            rate = load * min(best, plan(before, budget).throughput)
            arrivals: Sequence[Arrival] = poisson(rate, 100.0, seed=2)
            journeys = [journey(before if each.at < 60 else after, n, seed=2) for n, each in enumerate(arrivals)]
            simulate(
                before,
                watched.resizer.replicas,
                arrivals,
                sizing=watched,
                sizing_seconds=PERIOD,
                journeys=journeys,
                max_waiting=10**6,
            )
            at = dict(watched.reached)
            moved = next(edge for edge, old in zip(after.edges, before.edges, strict=True) if edge != old)
            rows.append(
                (
                    f"{before.name}: {moved.source} → {moved.target} {moved.probability:g}",
                    f"{load:.0%}",
                    *(f"{at[each]:.0%}" for each in (60.0, 70.0, 80.0)),
                )
            )
    return table(("shift", "load", "before", "1 period", "2 periods"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter simulations, no processes")
    quick = parser.parse_args().quick
    print("plans beside rivals\n" + comparison())
    print("what a plan knows\n" + ablation())
    print("simulated, 20 machines\n" + simulated(200.0 if quick else 400.0))
    print("after the routing changed (share of the new optimum)\n" + shift((0.7,) if quick else (0.5, 0.7, 0.9)))
    print("live, times of the flow × 0.5\n" + live(10.0 if quick else 40.0, "loop", 20, 0.5))
    if not quick:
        print("live, in processes\n" + live(40.0, "process", 10, 0.5))


if __name__ == "__main__":
    main()
