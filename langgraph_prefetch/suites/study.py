"""The suite ``study``: the protocol of the study that this package comes from, on local services.

First one set of questions, asked of the wrapped agent again and again with results kept: cold, then warm. Then every
question of both sets, asked of each arm once and cold.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.trials import (
    Arm,
    EventLog,
    Question,
    Trial,
    paired_trials,
    series_trials,
)
from langgraph_prefetch.suites.agents import BARE, DIRECT, REASONING, WRAPPED, Bench, open_bench
from langgraph_prefetch.suites.asking import asked
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.sizes import Sizes
from langgraph_prefetch.suites.study_report import SERIES, report

SUITE = "study"
COMPARED = (BARE, WRAPPED, DIRECT, REASONING)
SECONDS_A_RUN = 6.0


def plan(context: SuiteContext) -> Planned:
    """Count the runs; nothing is called."""
    sizes, questions = Sizes.of(context.settings), questions_of(context)
    runs = len(trials_of(sets_of(questions), sizes, context.seed))
    seconds = None if context.model or context.make_agent else runs * SECONDS_A_RUN * sizes.pace / sizes.concurrency
    return Planned(runs=runs, judge_calls=0, spending=Spending(calls=0), seconds=seconds)


async def run(context: SuiteContext) -> SuiteReport:
    """Run the protocol."""
    sizes = Sizes.of(context.settings)
    async with open_bench(context) as bench:
        sets = sets_of(bench.questions)
        events = EventLog(context.out / "events.jsonl")
        trials = trials_of(sets, sizes, context.seed)
        outcome = await asked(context, bench, SUITE, trials, arms=_arms(bench), events=events, checked=True)
    return await asyncio.to_thread(report, context, bench, sets, outcome, events)


def sets_of(questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
    """The ids of the questions of each set: those whose ids begin alike, up to the first hyphen."""
    sets: dict[str, list[str]] = {}
    for question in questions:
        sets.setdefault(question.id.partition("-")[0], []).append(question.id)
    return {name: tuple(ids) for name, ids in sets.items()}


def trials_of(sets: dict[str, tuple[str, ...]], sizes: Sizes, seed: int) -> tuple[Trial, ...]:
    """The whole protocol, in order."""
    first = next(iter(sets.values()))
    parts = [series_trials(first, SERIES, batches=sizes.batches, seed=seed)]
    parts += [paired_trials(ids, COMPARED, repeats=sizes.repeats, seed=seed) for ids in sets.values()]
    trials = [trial for part in parts for trial in part]
    return tuple(dataclasses.replace(trial, place=place) for place, trial in enumerate(trials))


def _arms(bench: Bench) -> dict[str, Arm]:
    """The series is the wrapped arm under another name, so that its runs are not those of the comparison."""
    return {**bench.arms, SERIES: dataclasses.replace(bench.arms[WRAPPED], name=SERIES)}
