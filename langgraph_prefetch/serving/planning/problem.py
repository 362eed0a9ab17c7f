"""What a flow and a budget ask for in numbers: how often a request visits each stage, and what a replica can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from langgraph_prefetch.errors import ConfigurationError, FlowError, InfeasibleBudgetError
from langgraph_prefetch.serving.flow.checks import check_flow, reached
from langgraph_prefetch.serving.flow.values import START, FlowValues, Stage
from langgraph_prefetch.serving.queueing.expectations import expected

OWN = "own"
"""The kind of replica that a stage is measured on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of replica of one stage.

    Attributes:
        stage, name: which; ``name`` is `OWN` or that of a placement.
        resources: what one occupies.
        rate: visits a second that one serves (α); infinite where a visit takes no time.
    """

    stage: str
    name: str
    resources: Mapping[str, float] = field(hash=False)
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """All that the solver needs.

    Attributes:
        kinds: of all stages, those of a stage together.
        visits: stage -> visits of one request (f_i / λ); 0 where nobody comes.
        least: stage -> replicas at least.
        budget: resource -> how many.
    """

    kinds: tuple[Kind, ...]
    visits: Mapping[str, float]
    least: Mapping[str, int]
    budget: Mapping[str, float]


def problem_of(flow: FlowValues, budget: Mapping[str, float]) -> Problem:
    """The problem; ``budget`` is one that was checked.

    Raises:
        FlowError: no sound flow, or requests come to a stage without measurements.
        ConfigurationError: requests go round for ever, a stage occupies what the budget does not name, or nothing
            limits the throughput.
        InfeasibleBudgetError: the least replicas do not fit.
    """
    visits = visits_of(flow)
    kinds = tuple(kind for stage in flow.stages for kind in _kinds(flow, stage, visits[stage.name], budget))
    if not any(visits[each.stage] > 0 and each.rate < inf and each.resources for each in kinds):
        raise ConfigurationError(
            f"flow {flow.name!r}: nothing limits its throughput: no stage on the way takes time and resources"
        )
    least = {
        each.name: max(each.min_replicas, 1) if visits[each.name] > 0 else each.min_replicas for each in flow.stages
    }
    problem = Problem(kinds=kinds, visits=visits, least=least, budget=budget)
    _check_least(flow, problem)
    return problem


def visits_of(flow: FlowValues) -> dict[str, float]:
    """Stage -> visits of one request: the flow equations f_j = Σ p_ij γ_i f_i, for one request at the entry.

    Raises:
        FlowError: no sound flow.
        ConfigurationError: requests go round for ever.
    """
    check_flow(flow)
    places = reached(flow.edges)
    inside = FlowValues(
        name=flow.name,
        stages=tuple(each for each in flow.stages if each.name in places),
        edges=tuple(e for e in flow.edges if e.probability > 0 and e.target in places and _leaves(e.source, places)),
    )
    return dict.fromkeys((each.name for each in flow.stages), 0.0) | dict(expected(inside).visits)


def capacity_of(problem: Problem, replicas: Mapping[tuple[str, str], int]) -> dict[str, float]:
    """Stage -> requests of the flow that its replicas, by (stage, kind), can serve a second."""
    capacity = {}
    for stage, visits in problem.visits.items():
        rate = sum(
            each.rate * count
            for each in problem.kinds
            if each.stage == stage and (count := replicas.get((stage, each.name), 0))
        )
        capacity[stage] = rate / visits if visits > 0 else inf
    return capacity


def _leaves(source: str, places: frozenset[str]) -> bool:
    return source in places or source == START


def _kinds(flow: FlowValues, stage: Stage, visits: float, budget: Mapping[str, float]) -> list[Kind]:
    if stage.rate is None and visits > 0 and not stage.placements:
        raise FlowError(
            f"flow {flow.name!r}: requests come to {stage.name!r}, and it has no measurements; record runs that go "
            f"through it, or say how long a visit takes: StageConstraints(service_seconds=…)"
        )
    found = []
    if stage.rate is not None or visits == 0:
        rate = inf if stage.rate is None else stage.rate
        found.append(Kind(stage=stage.name, name=OWN, resources=stage.resources, rate=rate))
    for each in stage.placements:
        rate = each.concurrency / each.mean_seconds if each.mean_seconds else inf
        found.append(Kind(stage=stage.name, name=each.name, resources=each.resources, rate=rate))
    for kind in found:
        for resource in kind.resources:
            if resource not in budget:
                raise ConfigurationError(
                    f"stage {stage.name!r} occupies {resource!r}, and the budget names only {', '.join(budget)}; "
                    f"add {resource}=NUMBER to it, or correct the stage's resources"
                )
    return found


def _check_least(flow: FlowValues, problem: Problem) -> None:
    for resource, given in problem.budget.items():
        needed, broken = 0.0, ""
        parts = []
        for stage in flow.stages:
            each = min(k.resources.get(resource, 0.0) for k in problem.kinds if k.stage == stage.name)
            part = each * problem.least[stage.name]
            needed += part
            if part:
                parts.append(f"{stage.name} {problem.least[stage.name]} × {each:g}")
            if needed > given * (1 + 1e-9) and not broken:
                broken = stage.name
        if broken:
            raise InfeasibleBudgetError(
                f"a budget of {resource}={given:g} does not hold the least replicas, which need {needed:g} "
                f"({', '.join(parts)}): that of {broken!r} breaks it; raise the budget, or lower a minimum",
                resource=resource,
                needed=needed,
                given=given,
            )
