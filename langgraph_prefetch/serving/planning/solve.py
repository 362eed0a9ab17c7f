"""The plan as a mixed-integer linear program, solved by HiGHS (Huangfu and Hall, Math. Prog. Comp. 10, 2018) in scipy.

For requests a second λ, with v_i visits of one request at stage i (so that the flow through it is f_i = λ v_i):

    max λ    λ v_i ≤ Σ_k α_ik r_ik    Σ_ik u_ikq r_ik ≤ B_q    Σ_k r_ik ≥ min_i    r_ik whole numbers

where replicas of kind k serve α_ik visits a second and occupy u_ikq of resource q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isfinite

from langgraph_prefetch.errors import InfeasibleBudgetError, MissingExtraError
from langgraph_prefetch.serving.planning.problem import Problem, capacity_of

try:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
except ImportError as error:
    raise MissingExtraError(error.name or "scipy", "serving") from error

MAX_SECONDS = 10.0
"""For one solution; the best that was found until then is taken, and the gap to the bound shows."""
_SPARING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Replicas for the most requests a second.

    Attributes:
        replicas: (stage, kind) -> how many, no more than that throughput needs.
        throughput: requests a second.
    """

    replicas: Mapping[tuple[str, str], int] = field(hash=False)
    throughput: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxed:
    """The same with parts of replicas allowed.

    Attributes:
        throughput: no plan of whole replicas does better.
        duals: resource -> requests a second for each unit more of it.
        shares: stage -> per cent of throughput for each per cent that its visits are faster.
    """

    throughput: float
    duals: Mapping[str, float] = field(hash=False)
    shares: Mapping[str, float] = field(hash=False)


class _Rows:
    """The constraints A x ≤ b over x = (λ / scale, replicas of each kind)."""

    def __init__(self, problem: Problem) -> None:
        kinds = problem.kinds
        self.stages = [
            stage
            for stage, visits in problem.visits.items()
            if visits > 0 and all(each.rate < inf for each in kinds if each.stage == stage)
        ]
        self.scale = min(self._alone(problem, stage) for stage in self.stages)
        if not isfinite(self.scale):
            self.scale = 1.0
        rows, least = [], []
        for stage in self.stages:
            whole = self.scale * problem.visits[stage]
            rows.append([1.0, *(-each.rate / whole if each.stage == stage else 0.0 for each in kinds)])
            least.append(0.0)
        for resource, amount in problem.budget.items():
            rows.append([0.0, *(each.resources.get(resource, 0.0) for each in kinds)])
            least.append(amount)
        for stage, count in problem.least.items():
            rows.append([0.0, *(-1.0 if each.stage == stage else 0.0 for each in kinds)])
            least.append(-float(count))
        self.left, self.right = np.array(rows), np.array(least)

    @staticmethod
    def _alone(problem: Problem, stage: str) -> float:
        """Requests a second if the whole budget were this stage's."""
        rate = 0.0
        for each in (kind for kind in problem.kinds if kind.stage == stage):
            most = min((problem.budget[name] / share for name, share in each.resources.items() if share), default=inf)
            rate += each.rate * most
        return rate / problem.visits[stage]


def solve(problem: Problem) -> Solution:
    """The best plan of whole replicas.

    Raises:
        InfeasibleBudgetError: no kinds of replica fit that hold every minimum.
    """
    rows = _Rows(problem)
    count = len(problem.kinds)
    first = _milp(np.array([-1.0, *([0.0] * count)]), rows.left, rows.right)
    if first is None:
        names = ", ".join(f"{name}={amount:g}" for name, amount in problem.budget.items())
        raise InfeasibleBudgetError(
            f"a budget of {names} does not hold the least replicas of all stages; raise it, or lower a minimum",
            resource=next(iter(problem.budget)),
            needed=inf,
            given=next(iter(problem.budget.values())),
        )
    best = _throughput(problem, _counts(problem, first))
    # No more replicas than that needs: of all plans with this throughput, the one that leaves most of the budget.
    cost = [0.0]
    for each in problem.kinds:
        shares = (share / problem.budget[name] for name, share in each.resources.items() if problem.budget[name])
        cost.append(_SPARING + sum(shares))
    floor = np.zeros((1, count + 1))
    floor[0, 0] = -1.0
    lean = _milp(
        np.array(cost),
        np.vstack([rows.left, floor]),
        np.append(rows.right, -best / rows.scale * (1 - 1e-9)),
    )
    chosen = _counts(problem, first if lean is None else lean)
    if _throughput(problem, chosen) < best * (1 - 1e-7):  # the tolerance of the solver went against us
        chosen = _counts(problem, first)
    return Solution(replicas=chosen, throughput=_throughput(problem, chosen))


def relaxed(problem: Problem) -> Relaxed:
    """The linear program without whole numbers, and what its duals say. The problem must have a solution."""
    rows = _Rows(problem)
    costs = np.array([-1.0, *([0.0] * len(problem.kinds))])
    found = linprog(costs, A_ub=rows.left, b_ub=rows.right, bounds=(0, None), method="highs")
    throughput = float(found.x[0]) * rows.scale
    marginals = -np.asarray(found.ineqlin.marginals)
    resources = marginals[len(rows.stages) : len(rows.stages) + len(problem.budget)]
    shares = {}
    for place, stage in enumerate(rows.stages):
        served = float(-(rows.left[place, 1:] @ found.x[1:]))
        shares[stage] = float(marginals[place]) * served / max(float(found.x[0]), 1e-300)
    return Relaxed(
        throughput=throughput,
        duals={name: float(each) * rows.scale for name, each in zip(problem.budget, resources, strict=True)},
        shares={stage: shares.get(stage, 0.0) for stage in problem.visits},
    )


def _milp(costs: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    found = milp(
        costs,
        constraints=LinearConstraint(left, -np.inf, right),
        integrality=np.array([0, *([1] * (len(costs) - 1))]),
        bounds=Bounds(0, np.inf),
        options={"mip_rel_gap": 1e-9, "time_limit": MAX_SECONDS},
    )
    return None if found.x is None else np.asarray(found.x)


def _counts(problem: Problem, x: np.ndarray) -> dict[tuple[str, str], int]:
    return {(each.stage, each.name): round(float(n)) for each, n in zip(problem.kinds, x[1:], strict=True)}


def _throughput(problem: Problem, replicas: Mapping[tuple[str, str], int]) -> float:
    return min(capacity_of(problem, replicas).values())
