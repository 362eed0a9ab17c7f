"""The suite ``speed``: how much sooner an agent answers when it is wrapped, asked the same questions in pairs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import Figure, SuiteReport, Summary
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.evaluation.trials import EventLog, Outcome
from langgraph_prefetch.suites.agents import ARMS, BARE, WRAPPED, Bench, open_bench
from langgraph_prefetch.suites.asking import asked, in_pairs
from langgraph_prefetch.suites.became import answers_section
from langgraph_prefetch.suites.by_kind import kinds_section
from langgraph_prefetch.suites.cells import estimate, share
from langgraph_prefetch.suites.comparing import arms_section, batches_section, endpoint_section
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.pairing import answered, pairs, searches
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.sizes import Sizes
from langgraph_prefetch.suites.speed_answers import speed_answers
from langgraph_prefetch.suites.suite_file import stated
from langgraph_prefetch.suites.versions import settings_shown, title_shown
from langgraph_prefetch.suites.waiting import as_real, same_answers, searches_section, served, timeline_section

SUITE = "speed"
SECONDS_A_RUN = 6.0


def plan(context: SuiteContext) -> Planned:
    """Count the runs; nothing is called."""
    sizes = Sizes.of(context.settings)
    runs = len(questions_of(context)) * len(ARMS) * sizes.batches * sizes.repeats * (2 if sizes.warm else 1)
    seconds = None if context.model or context.make_agent else runs * SECONDS_A_RUN * sizes.pace / sizes.concurrency
    return Planned(runs=runs, judge_calls=0, spending=Spending(calls=0), seconds=seconds)


async def run(context: SuiteContext) -> SuiteReport:
    """Ask every question of the three arms."""
    sizes = Sizes.of(context.settings)
    async with open_bench(context) as bench:
        events = EventLog(context.out / "events.jsonl")
        trials = in_pairs(bench, ARMS, sizes, context.seed, warm=sizes.warm)
        outcome = await asked(context, bench, SUITE, trials, events=events, checked=True)
    return await asyncio.to_thread(report, context, bench, outcome, events)


def report(context: SuiteContext, bench: Bench, outcome: Outcome, events: EventLog) -> SuiteReport:
    """What the rows say."""
    rows, warm = outcome.rows, any(row.warm for row in outcome.rows)
    cold = pairs(rows, BARE, WRAPPED, warm=False)
    ratio, by_pairs = geometric_mean_ratio(*cold.by_question()), geometric_mean_ratio(*cold.of())
    failures = _failures(context, ratio)
    sections = [
        endpoint_section(
            f"Wrapped / bare, cold, by question: {estimate(ratio)}, with its 95 % interval{_limit_said(context)}. All "
            f"pairs taken for independent: {estimate(by_pairs)}. The first counts: a question asked again is no new "
            "question.",
            failures,
            judged=not context.smoke and "ratio" in context.settings.get("limits", {}),
        ),
        answers_section(speed_answers(rows, seed=context.seed), smoke=context.smoke),
        arms_section("Cold runs", rows, warm=False, seed=context.seed),
    ]
    if warm:
        sections.append(arms_section("Warm runs", rows, warm=True, seed=context.seed))
    sections += [
        searches_section(rows, warm=False, seed=context.seed),
        kinds_section(rows),
        batches_section(rows, arms=ARMS),
        *timeline_section(rows, events),
    ]
    return SuiteReport(
        suite=SUITE,
        title=title_shown(context),
        hypotheses=stated(context.settings),
        settings=settings_shown(context, bench.described),
        sections=tuple(sections),
        summary=_summary(rows, ratio, warm=warm, seed=context.seed),
        limitations=(*_limitations(context), *outcome.remarks),
        failures=(*failures, *(outcome.remarks if outcome.given_up else ())),
    )


def _summary(rows: Sequence[RunRow], ratio: Estimate, *, warm: bool, seed: int) -> Summary:
    cold = answered(rows, arm=WRAPPED, warm=False)
    speed = [
        Figure(name="wrapped / bare, cold", value=estimate(ratio), note="geometric mean by question, 95 % interval"),
        *(
            Figure(
                name=f"{arm}, cold, mean",
                value=estimate(mean([row.seconds for row in answered(rows, arm=arm, warm=False)], seed=seed), "s"),
            )
            for arm in ARMS
        ),
        Figure(name="searches served, cold", value=served(cold)),
    ]
    if warm:
        again = geometric_mean_ratio(*pairs(rows, BARE, WRAPPED, warm=True).by_question())
        speed.append(Figure(name="wrapped / bare, warm", value=estimate(again), note="by question"))
    made = searches(cold)
    starts = sum(row.speculations for row in cold) + sum(each.answered == "ran" for each in made)
    return Summary(
        speed=tuple(speed),
        quality=(
            Figure(name="same answer, bare and wrapped", value=same_answers(rows)),
            Figure(name="served passages as searched again", value=as_real(answered(rows, arm=WRAPPED))),
        ),
        cost=(
            Figure(name="searches started / needed, cold", value=f"{starts / len(made):.3g}" if made else "none"),
            Figure(
                name="wasted searches, cold",
                value=share(sum(row.wasted for row in cold), sum(row.speculations for row in cold)),
            ),
        ),
    )


def _failures(context: SuiteContext, ratio: Estimate) -> list[str]:
    limit = context.settings.get("limits", {}).get("ratio")
    if limit is None or context.smoke:
        return []
    if ratio.interval is None:
        return [f"the ratio has no interval: {ratio.note}"]
    if ratio.interval.high >= limit:
        return [
            f"the interval of the ratio by question reaches {ratio.interval.high:.3f}, and was to stay below {limit:g}"
        ]
    return []


def _limit_said(context: SuiteContext) -> str:
    limit = context.settings.get("limits", {}).get("ratio")
    return "" if limit is None else f", whose upper end was to stay below {limit:g}"


def _limitations(context: SuiteContext) -> list[str]:
    said = [
        "Runs of one question are no independent questions: the ratio by question counts, and intervals and tests over "
        "all runs are too narrow and too sure."
    ]
    if context.make_agent is None:
        said.append("The passages are few and the searches take as long as the suite's file says, not as yours do.")
    if context.make_agent is None and context.model is None:
        said.append(
            "The model is scripted: its thoughts were written for this suite, and it never answers differently."
        )
    if context.smoke:
        said.append("This was a smoke run: its figures mean nothing.")
    return said
