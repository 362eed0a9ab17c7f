"""Two ways to share out a budget without a plan, for comparison; their throughput comes from the same equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor

from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.planning.budget import checked_budget
from langgraph_prefetch.serving.planning.problem import OWN, Problem, capacity_of, problem_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOut:
    """Replicas, and what they come to.

    Attributes:
        replicas: stage -> how many.
        throughput: requests a second that every stage can keep up with.
        tightest: the stage that limits it.
    """

    replicas: Mapping[str, int] = field(hash=False)
    throughput: float
    tightest: str


def shared_out(flow: FlowValues, budget: Mapping[str, float], replicas: Mapping[str, int]) -> SharedOut:
    """What these replicas come to, whether or not they fit the budget.

    Raises:
        FlowError, ConfigurationError: as for `plan`.
    """
    return _of(problem_of(flow, checked_budget(budget)), replicas)


def equal_split(flow: FlowValues, budget: Mapping[str, float]) -> SharedOut:
    """Every stage gets the same part of each resource that it occupies; what is left over goes on to whoever fits.

    Raises:
        FlowError, ConfigurationError: as for `plan`.
    """
    problem = problem_of(flow, checked_budget(budget))
    needs = _needs(problem)
    users = {name: sum(1 for each in needs.values() if each.get(name)) for name in problem.budget}
    counts = {}
    for stage, each in needs.items():
        parts = [problem.budget[name] / users[name] / amount for name, amount in each.items()]
        counts[stage] = max(problem.least[stage], floor(min(parts, default=1.0) + 1e-9))
    while _trim(problem, needs, counts):
        pass
    while _fill(problem, needs, counts):
        pass
    return _of(problem, counts)


def whole_pipeline(flow: FlowValues, budget: Mapping[str, float]) -> SharedOut:
    """As many copies of the whole flow, one replica of each stage in each, as the budget holds.

    Raises:
        FlowError, ConfigurationError: as for `plan`.
    """
    problem = problem_of(flow, checked_budget(budget))
    needs = _needs(problem)
    whole = {name: sum(each.get(name, 0.0) for each in needs.values()) for name in problem.budget}
    copies = min(floor(problem.budget[name] / amount + 1e-9) for name, amount in whole.items() if amount)
    return _of(problem, {stage: max(copies, problem.least[stage]) for stage in needs})


def _needs(problem: Problem) -> dict[str, Mapping[str, float]]:
    """Stage -> what one replica occupies of the kind that it was measured on, or else of its first."""
    needs: dict[str, Mapping[str, float]] = {}
    for each in problem.kinds:
        needs.setdefault(each.stage, each.resources)
    return needs


def _of(problem: Problem, replicas: Mapping[str, int]) -> SharedOut:
    names: dict[str, str] = {}
    for each in problem.kinds:
        names.setdefault(each.stage, each.name)
    capacity = capacity_of(problem, {(stage, names.get(stage, OWN)): count for stage, count in replicas.items()})
    tightest = min(capacity, key=lambda stage: capacity[stage])
    return SharedOut(replicas=dict(replicas), throughput=capacity[tightest], tightest=tightest)


def _used(needs: Mapping[str, Mapping[str, float]], counts: Mapping[str, int], resource: str) -> float:
    return sum(each.get(resource, 0.0) * counts[stage] for stage, each in needs.items())


def _trim(problem: Problem, needs: Mapping[str, Mapping[str, float]], counts: dict[str, int]) -> bool:
    """Minimums took more than an equal part: the largest gives one up."""
    for resource, amount in problem.budget.items():
        if _used(needs, counts, resource) > amount * (1 + 1e-9):
            able = [s for s in counts if needs[s].get(resource) and counts[s] > problem.least[s]]
            if able:
                counts[max(able, key=lambda stage: counts[stage] * needs[stage][resource])] -= 1
                return True
    return False


def _fill(problem: Problem, needs: Mapping[str, Mapping[str, float]], counts: dict[str, int]) -> bool:
    """One more for the stage that has the least of what is left."""
    left = {name: amount * (1 + 1e-9) - _used(needs, counts, name) for name, amount in problem.budget.items()}
    able = [s for s, each in needs.items() if each and all(left[name] >= amount for name, amount in each.items())]
    if not able:
        return False
    counts[min(able, key=lambda stage: sum(needs[stage].values()) * counts[stage])] += 1
    return True
