"""A plan in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_prefetch.serving.flow.text import amounts, table
from langgraph_prefetch.serving.planning.problem import OWN

if TYPE_CHECKING:
    from langgraph_prefetch.serving.planning.values import NextUnit, Plan, StagePlan


def plan_text(plan: Plan) -> str:
    """The throughput, a table of the stages, the bottleneck, what more would buy, and what was assumed."""
    lines = [
        f"{plan.flow.name}: {plan.throughput:.4g} requests a second with {amounts(plan.budget)} "
        f"(parts of replicas would allow {plan.bound:.4g})",
        "",
        table(
            ("stage", "replicas", "occupies", "visits", "can serve", "in use", "share"),
            [_row(each) for each in plan.stages],
        ),
        _bottleneck(plan),
    ]
    spare = {name: amount - plan.used.get(name, 0.0) for name, amount in plan.budget.items()}
    if any(each > 1e-9 for each in spare.values()):
        left = amounts({name: round(each, 9) for name, each in spare.items() if each > 1e-9})
        lines.append(f"Left over: {left}; no replica that it holds would raise the throughput by itself.")
    lines += [_next(name, each) for name, each in plan.next_units.items()]
    if plan.price_per_request:
        lines.append(f"One request costs {plan.price_per_request:.4g} beside its resources.")
    if plan.notes:
        lines += ["", "Assumed:", *(f"- {each}" for each in plan.notes)]
    return "\n".join(lines) + "\n"


def _bottleneck(plan: Plan) -> str:
    share = next(each.share for each in plan.stages if each.stage == plan.bottleneck)
    text = f"Bottleneck: {plan.bottleneck}; visits that are 1 % faster there buy {share:.2f} % of throughput."
    if plan.tightest != plan.bottleneck:
        text += f" {plan.tightest} is full first, as replicas come whole."
    return text


def _next(name: str, unit: NextUnit) -> str:
    if unit.gain <= 1e-9 * unit.throughput:
        return f"One more {name} alone: nothing."
    changed = ", ".join(f"{stage} {count}" for stage, count in unit.replicas.items())
    return f"One more {name}: {unit.throughput:.4g} a second (+{unit.gain:.3g}), with {changed}."


def _row(each: StagePlan) -> tuple[str, ...]:
    kinds = [f"{count} {kind}" for kind, count in each.replicas.items() if count and kind != OWN]
    counts = " + ".join([str(each.replicas.get(OWN, 0)), *kinds]) if kinds else str(each.count)
    return (
        each.stage,
        counts,
        amounts(each.occupies),
        f"{each.visits_per_request:.3f}",
        "any" if each.capacity == float("inf") else f"{each.capacity:.4g}",
        f"{each.utilisation:.0%}",
        f"{each.share:.2f}",
    )
