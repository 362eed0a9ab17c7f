"""What the bills of ``cost`` say of the suite's hypotheses. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from langgraph_prefetch.evaluation.costs.bill import CACHE, EMBEDDING, QUEUE, WORKER, Bill
from langgraph_prefetch.evaluation.costs.compare import Difference
from langgraph_prefetch.suites.became import Answer, held

ELSEWHERE = frozenset({QUEUE, CACHE, WORKER, EMBEDDING})
WASTED_SEARCHES = "wasted retrievals"


def cost_answers(bills: Iterable[Bill], compared: Iterable[Difference]) -> tuple[Answer, ...]:
    """One for each hypothesis of the suite's file; the first of each arm that is compared."""
    bills = tuple(bills)
    groups = {line.name: line.group for each in bills for line in each.lines}
    return (*(_only_by(each, groups) for each in compared), _adds_up(bills))


def _only_by(found: Difference, groups: dict[str, str]) -> Answer:
    claim = f"{found.second} costs more than {found.first} only by wasted searches and by what runs them elsewhere"
    other = [
        f"{name} {amount:+.6f}"
        for name, amount in found.lines
        if amount > 0 and name != WASTED_SEARCHES and groups[name] not in ELSEWHERE
    ]
    if other:
        return held(claim, False, f"it also costs more by: {', '.join(other)} (1,000 questions)")
    if not found.complete:
        return held(claim, None, f"nothing known speaks against it; some runs did not tell: {_unknown(found)}")
    return held(claim, True, "no other component costs more")


def _unknown(found: Difference) -> str:
    return ", ".join(sorted(found.unknown)) or "all that they used"


def _adds_up(bills: tuple[Bill, ...]) -> Answer:
    """Added up anew with fractions, which round nothing, from the quantities and prices that the report shows."""
    exact = all(
        sum((Fraction(line.quantity.known) * Fraction(line.unit_price) for line in each.lines), Fraction())
        == Fraction(each.total)
        and sum((Fraction(each.per_thousand(line)) for line in each.lines), Fraction())
        == Fraction(each.total_per_thousand)
        for each in bills
    )
    return held("The components add up to the total exactly", exact, f"{len(bills)} bills, added up anew")
