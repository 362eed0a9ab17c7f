"""The ``cost`` suite: what runs cost, component by component, from their rows and a dated price file."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.costs.bill import Bill, bill
from langgraph_prefetch.evaluation.costs.deployment import Deployment, deployment
from langgraph_prefetch.evaluation.costs.from_rows import usage_of
from langgraph_prefetch.evaluation.costs.price_file import load_prices
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.trials.row_file import read_rows
from langgraph_prefetch.suites.agents import BARE, WRAPPED, open_bench
from langgraph_prefetch.suites.asking import asked, in_pairs
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.cost_report import Billed, report
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.sizes import Sizes

SUITE = "cost"
ARMS = (BARE, WRAPPED)
SECONDS_A_RUN = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSettings:
    """Of the suite: whose prices are taken, how speculations run, and which arm the others are compared with."""

    prices: Prices
    model: str
    embedder: str | None
    assumed: Deployment
    baseline: str


def plan(context: SuiteContext) -> Planned:
    """Count the runs; with rows of an earlier run there are none.

    Raises:
        PriceFileError: the price file cannot be read.
        ConfigurationError: settings that make no sense, or a model without a price.
    """
    settings_of(context)
    if context.inputs.get("rows"):
        return Planned(runs=0, judge_calls=0, spending=Spending(calls=0, money=0.0), notes=("rows of an earlier run",))
    sizes = Sizes.of(context.settings)
    runs = len(questions_of(context)) * len(ARMS) * sizes.batches * sizes.repeats
    seconds = None if context.model or context.make_agent else runs * SECONDS_A_RUN * sizes.pace / sizes.concurrency
    return Planned(runs=runs, judge_calls=0, spending=Spending(calls=0), seconds=seconds)


async def run(context: SuiteContext) -> SuiteReport:
    """Price the rows that are given, else those of runs made here.

    Raises:
        PriceFileError: the price file cannot be read.
        ConfigurationError: settings that make no sense, a price that is missing, or no rows.
        EvaluationFileError: the rows cannot be read.
    """
    settings = await asyncio.to_thread(settings_of, context)
    given = context.inputs.get("rows")
    made = await asyncio.to_thread(_given, given) if given else await _made(context)
    if not made.rows:
        raise ConfigurationError("there are no rows to price: run the suite again, or give the rows of a finished run")
    return await asyncio.to_thread(_report, context, settings, made)


def _report(context: SuiteContext, settings: CostSettings, made: _Rows) -> SuiteReport:
    by_arm = _by_arm(made.rows, settings.baseline)
    today = datetime.datetime.now(datetime.UTC).date()
    return report(
        context,
        Billed(
            rows=by_arm,
            bills={name: _bill(name, held, settings) for name, held in by_arm.items()},
            prices=settings.prices,
            model=settings.model,
            assumed=settings.assumed,
            baseline=settings.baseline,
            stale=settings.prices.stale(today),
            remarks=made.remarks,
            described=made.described,
        ),
    )


def settings_of(context: SuiteContext) -> CostSettings:
    """The settings of the suite's file, checked.

    Raises:
        PriceFileError: the price file cannot be read.
        ConfigurationError: a name is missing or no text, or the price file lacks the model.
    """
    given = context.inputs.get("prices", ())
    if len(given) > 1:
        raise ConfigurationError("give one price file: prices of two dates cannot be added up")
    prices = load_prices(given[0] if given else context.data / _text(context.settings, "prices"))
    model = _model(context, prices)
    embedder = _text(context.settings, "embedded_by") if "embedded_by" in context.settings else None
    prices.model(model)
    return CostSettings(
        prices=prices,
        model=model,
        embedder=embedder,
        assumed=deployment(context.settings.get("deployment", {})),
        baseline=_text(context.settings, "baseline"),
    )


def _model(context: SuiteContext, prices: Prices) -> str:
    """The one that was asked for, with or without its provider's name before it; else the one of the suite's file."""
    if context.model is None:
        return _text(context.settings, "priced_as")
    bare = context.model.partition(":")[2]
    return bare if bare in prices.models else context.model


def _text(settings: Any, name: str) -> str:
    value = settings.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"the suite's file needs a text under {name!r}, not {value!r}")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What is priced, and what has to be said of it."""

    rows: tuple[RunRow, ...]
    described: Mapping[str, str]
    remarks: tuple[str, ...] = ()


def _given(paths: Sequence[Path]) -> _Rows:
    return _Rows(
        rows=tuple(row for file in paths for row in read_rows(file)),
        described={"rows": ", ".join("/".join(file.parts[-2:]) for file in paths)},
    )


def _by_arm(rows: Sequence[RunRow], baseline: str) -> dict[str, tuple[RunRow, ...]]:
    """By arm, the baseline first, and warm runs apart from cold ones where there are any."""
    found: dict[str, list[RunRow]] = {}
    for row in rows:
        found.setdefault(f"{row.arm}, warm" if row.warm else row.arm, []).append(row)
    names = sorted(found, key=lambda name: (name.endswith(", warm"), name.removesuffix(", warm") != baseline))
    return {name: tuple(found[name]) for name in names}


def _bill(name: str, rows: Sequence[RunRow], settings: CostSettings) -> Bill:
    usage = usage_of(rows, settings.assumed, settings.prices)
    return bill(name, usage, settings.prices, model=settings.model, embedder=settings.embedder)


async def _made(context: SuiteContext) -> _Rows:
    sizes = Sizes.of(context.settings)
    async with open_bench(context) as bench:
        trials = in_pairs(bench, ARMS, sizes, context.seed, warm=False)
        outcome = await asked(context, bench, SUITE, trials)
    return _Rows(rows=outcome.rows, described=bench.described, remarks=outcome.remarks)
