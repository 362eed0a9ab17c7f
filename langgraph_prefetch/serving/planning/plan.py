"""How many replicas each stage of a flow gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.planning.budget import checked_budget
from langgraph_prefetch.serving.planning.problem import Problem, capacity_of, problem_of
from langgraph_prefetch.serving.planning.solve import Solution, relaxed, solve
from langgraph_prefetch.serving.planning.values import NextUnit, Plan, StagePlan


def plan(flow: FlowValues, budget: Mapping[str, float]) -> Plan:
    """Replicas of each stage for the most requests a second under ``budget``.

    A generalised network flow, in which stages multiply or thin out requests (γ) and route them (p), as capacity is
    planned for each component in "Harmonia: End-to-End RAG Serving Optimization" (arXiv 2505.07833); `solve` has the
    formulas. It knows means only: waiting, and how times vary, are the simulator's.

    Args:
        flow: with a service time for every stage that requests come to.
        budget: resource -> how many units, such as ``{"cpu": 16, "gpu": 2}``.

    Raises:
        FlowError: no sound flow, or a stage without measurements.
        InfeasibleBudgetError: the least replicas do not fit; the message says which minimum breaks it.
        ConfigurationError: requests that go round for ever, a resource that the budget does not name, an amount below
            0, or nothing that limits the throughput.
    """
    given = checked_budget(budget)
    problem = problem_of(flow, given)
    found = solve(problem)
    parts = relaxed(problem)
    capacity = capacity_of(problem, found.replicas)
    stages = tuple(_stage(problem, found, name, capacity[name], parts.shares[name]) for name in problem.visits)
    occupied = {name for each in problem.kinds for name in each.resources}
    unused = [f"no stage occupies {name}" for name in given if name not in occupied]
    return Plan(
        flow=flow,
        budget=given,
        throughput=found.throughput,
        bound=max(parts.throughput, found.throughput),
        stages=stages,
        bottleneck=max(stages, key=lambda each: each.share).stage,
        tightest=max(stages, key=lambda each: each.utilisation).stage,
        used={name: sum(each.occupies.get(name, 0.0) for each in stages) for name in given},
        next_units={name: _next_unit(problem, found, name, parts.duals[name]) for name in given if name in occupied},
        notes=(*flow.notes, *unused),
    )


def _stage(problem: Problem, found: Solution, name: str, capacity: float, share: float) -> StagePlan:
    kinds = [each for each in problem.kinds if each.stage == name]
    replicas = {each.name: found.replicas[name, each.name] for each in kinds}
    occupies: dict[str, float] = {}
    for each in kinds:
        for resource, amount in each.resources.items():
            occupies[resource] = occupies.get(resource, 0.0) + amount * replicas[each.name]
    return StagePlan(
        stage=name,
        replicas=replicas,
        visits_per_request=problem.visits[name],
        capacity=capacity,
        utilisation=0.0 if capacity == inf else found.throughput / capacity,
        share=share,
        occupies=occupies,
    )


def _next_unit(problem: Problem, found: Solution, resource: str, dual: float) -> NextUnit:
    more = solve(replace(problem, budget={**problem.budget, resource: problem.budget[resource] + 1}))
    before, after = _by_stage(found), _by_stage(more)
    return NextUnit(
        throughput=more.throughput,
        gain=max(0.0, more.throughput - found.throughput),
        replicas={stage: count for stage, count in after.items() if count != before[stage]},
        marginal=dual,
    )


def _by_stage(found: Solution) -> dict[str, int]:
    counts: dict[str, int] = {}
    for (stage, _), count in found.replicas.items():
        counts[stage] = counts.get(stage, 0) + count
    return counts
