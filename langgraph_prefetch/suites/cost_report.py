"""What the ``cost`` suite tells: bills, what they have in common, and what the difference buys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langgraph_prefetch.evaluation.costs.bill import Bill
from langgraph_prefetch.evaluation.costs.compare import Difference, difference, saved_seconds
from langgraph_prefetch.evaluation.costs.deployment import Deployment
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.reporting.values import Figure, Section, SuiteReport, Summary
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.money import shown
from langgraph_prefetch.suites.became import answers_section
from langgraph_prefetch.suites.cells import estimate
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.cost_answers import cost_answers
from langgraph_prefetch.suites.cost_tables import (
    at_least,
    difference_section,
    prices_section,
    run_section,
    thousand_section,
)
from langgraph_prefetch.suites.suite_file import stated
from langgraph_prefetch.suites.versions import settings_shown, title_shown

_LIMITATIONS = (
    "A search counts from its start, also where it was cancelled: a backend that bills finished searches alone costs "
    "less.",
    "Tokens are those that the provider reported; where it did not say what came from its prompt cache, all that was "
    "read is priced as read anew. Tokens of cancelled private calls are estimates where the provider did not tell.",
    "Fetches and second searches for near misses are not in the rows, and so not in the bill.",
    "What is paid for being there (databases, idle machines, engineers) is not in the bill; the price of a search has "
    "to carry it.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """All that the report is made of; rows and bills by arm, warm runs apart."""

    rows: Mapping[str, tuple[RunRow, ...]]
    bills: Mapping[str, Bill]
    prices: Prices
    model: str
    assumed: Deployment
    baseline: str
    stale: str | None
    remarks: tuple[str, ...]
    described: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An arm beside the baseline: what it costs more, and the seconds that it saves a question."""

    difference: Difference
    saved: Estimate


def report(context: SuiteContext, billed: Billed) -> SuiteReport:
    """All sections, the closing table and what it does not show."""
    compared = compare(billed, context.seed)
    sections: list[Section] = [
        answers_section(
            cost_answers(billed.bills.values(), [each.difference for each in compared]), smoke=context.smoke
        ),
        thousand_section(billed.bills.values()),
        run_section(billed.bills.values()),
        *(difference_section(each.difference, each.saved, billed.prices.currency) for each in compared),
        prices_section(billed.prices, billed.model, billed.bills.values(), billed.assumed),
    ]
    return SuiteReport(
        suite="cost",
        title=title_shown(context),
        hypotheses=stated(context.settings),
        settings=settings_shown(context, _described(billed)),
        sections=tuple(sections),
        summary=_summary(billed, compared),
        limitations=(*_remarks(context, billed, compared), *_LIMITATIONS),
    )


def compare(billed: Billed, seed: int) -> tuple[Compared, ...]:
    """Every arm with the baseline, warm runs with warm ones."""
    found = []
    for name, own in billed.bills.items():
        base = f"{billed.baseline}, warm" if name.endswith(", warm") else billed.baseline
        if name != base and base in billed.bills:
            found.append(
                Compared(
                    difference=difference(billed.bills[base], own),
                    saved=mean(saved_seconds(billed.rows[base], billed.rows[name]), seed=seed),
                )
            )
    return tuple(found)


def _described(billed: Billed) -> dict[str, str]:
    return {
        **billed.described,
        "prices": f"{billed.prices.file} of {billed.prices.date}, {billed.prices.currency}",
        "priced as": billed.model,
        "runs": ", ".join(f"{name} {len(rows)}" for name, rows in billed.rows.items()),
        "speculations run": "; ".join(billed.assumed.assumptions()) or "in the agent's own process",
    }


def _summary(billed: Billed, compared: tuple[Compared, ...]) -> Summary:
    currency = billed.prices.currency
    return Summary(
        speed=tuple(
            Figure(name=f"{each.difference.second}: saved a question", value=estimate(each.saved, "s"), note="95 %")
            for each in compared
        ),
        cost=(
            *(
                Figure(
                    name=f"{name}: 1,000 questions",
                    value=at_least(f"{shown(each.total_per_thousand)} {currency}", each.complete),
                )
                for name, each in billed.bills.items()
            ),
            *(
                Figure(
                    name=f"{each.difference.second} less {each.difference.first}: 1,000 questions",
                    value=f"{shown(each.difference.total)} {currency}",
                    note="" if each.difference.complete else "of what is known",
                )
                for each in compared
            ),
            *(
                Figure(name=f"{each.difference.second}: a saved second", value=_second(each, currency))
                for each in compared
            ),
        ),
    )


def _second(each: Compared, currency: str) -> str:
    price = None if each.saved.value is None else each.difference.per_saved_second(each.saved.value)
    return "no second is saved" if price is None else f"{shown(price)} {currency}"


def _remarks(context: SuiteContext, billed: Billed, compared: tuple[Compared, ...]) -> tuple[str, ...]:
    said = list(billed.remarks)
    if billed.stale is not None:
        said.append(f"STALE PRICES: {billed.stale}.")
    if billed.prices.note:
        said.append(f"The price file says of itself: {billed.prices.note}.")
    if not compared:
        said.append(f"There is no arm {billed.baseline!r} to compare with.")
    if untold := _untold(billed.bills):
        said.append(
            f"Some runs did not tell all that they used, so that totals are the least that they can be: {untold}."
        )
    if context.model is None and context.make_agent is None and not context.inputs.get("rows"):
        said.append("The model is scripted and tells no tokens that it read: price rows of an agent of yours.")
    if context.smoke:
        said.append("This was a smoke run: its figures mean nothing.")
    return tuple(said)


def _untold(bills: Mapping[str, Bill]) -> str:
    """Of which arms, and how many runs; empty where all told."""
    shares = {
        name: f"{max(line.quantity.unknown_runs for line in each.lines)} of {each.questions}"
        for name, each in bills.items()
        if not each.complete
    }
    arms: dict[str, list[str]] = {}
    for name, share in shares.items():
        arms.setdefault(share, []).append(name)
    return "; ".join(f"{'; '.join(names)} ({share}{' each' * (len(names) > 1)})" for share, names in arms.items())
