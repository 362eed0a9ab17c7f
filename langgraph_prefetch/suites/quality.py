"""The suite ``quality``: whether wrapped answers are as good as bare ones, by judges that are checked themselves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from langgraph_prefetch.evaluation.judging import Scored, ScoreSheet
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.trials import read_rows
from langgraph_prefetch.suites.agents import BARE, WRAPPED, open_bench
from langgraph_prefetch.suites.asking import asked, in_pairs
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.quality_asking import check_samples, judged
from langgraph_prefetch.suites.quality_judges import judge_names, open_judges, price_of, prices_of
from langgraph_prefetch.suites.quality_report import quality_report
from langgraph_prefetch.suites.quality_samples import sample_of
from langgraph_prefetch.suites.quality_settings import JudgingSettings
from langgraph_prefetch.suites.quality_texts import text_figures
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.sizes import Sizes

SUITE = "quality"
ARMS = (BARE, WRAPPED)
SECONDS_A_RUN = 6.0
TOKENS_A_CALL = (1_500, 300)
"""What a call of a judge is taken to read and to write, before its texts are known."""
RAGAS_CALLS = {"faithfulness": 2, "answer_relevancy": 3, "context_precision": 5, "context_recall": 1}
"""Of a judge, for one answer: of context precision one for each passage, of which there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """Rows, however they came about, and what they were made on."""

    rows: tuple[RunRow, ...]
    described: dict[str, str]
    remarks: tuple[str, ...] = ()
    partial: bool = False


def plan(context: SuiteContext) -> Planned:
    """Count runs and calls of judges, at most; nothing is called."""
    settings, sizes = JudgingSettings.of(context.settings), Sizes.of(context.settings)
    names = judge_names(context, settings)
    given = context.inputs.get("rows", ())
    if given:
        rows = _given(given)
        questions, runs, answers = len({row.question_id for row in rows}), 0, len(rows)
    else:
        questions = len(questions_of(context))
        runs = answers = questions * sizes.batches * sizes.repeats * (2 if sizes.warm else 1) * len(ARMS)
    control = min(settings.controls, questions)
    each = len(settings.rubrics) * answers + 3 * control + (answers + 2 * control if settings.pairwise else 0)
    each += answers * sum(RAGAS_CALLS[metric] for metric in settings.ragas)
    calls = len(names) * each
    prices = [price_of(name, prices_of(context)) for name in names]
    money = None if None in prices else sum(each * price.of(*TOKENS_A_CALL) for price in prices if price is not None)
    notes = ["identical answers are not compared, and identical texts are judged once: it may be far fewer calls"]
    if settings.ragas:
        notes.append(f"of ragas, several for each of {answers} answers and {len(settings.ragas)} metrics: an estimate")
    limit = context.budget.calls
    if limit is not None and calls > limit:
        notes.append(f"the budget ends it at {limit} calls")
    known = given or context.model or context.make_agent
    seconds = None if known else runs * SECONDS_A_RUN * sizes.pace / sizes.concurrency
    return Planned(
        runs=runs, judge_calls=calls, spending=Spending(calls=calls, money=money), seconds=seconds, notes=tuple(notes)
    )


async def run(context: SuiteContext) -> SuiteReport:
    """Ask both arms every question, unless rows are given; then judge the answers.

    Raises:
        NoJudgeError: no judge is named.
        JudgeModelError: a judge cannot be used.
        NothingToJudgeError: rows without the two arms.
        MissingPartError: a rubric or metric needs what the data lack.
    """
    settings = JudgingSettings.of(context.settings)
    names = judge_names(context, settings)
    with ExitStack() as stack:
        # First, so that a judge that cannot be made costs no run of the agent.
        judges = await asyncio.to_thread(stack.enter_context, open_judges(context, names))
        made = await _rows(context)
        samples = [sample_of(row) for row in made.rows if row.arm in ARMS]
        await asyncio.to_thread(check_samples, samples, settings)
        found = await judged(context, settings, judges, samples)
    texts, untold = await asyncio.to_thread(text_figures, made.rows)
    found = replace(found, texts=texts, untold=untold)
    await asyncio.to_thread(_write_scores, context, found.scores)
    return await asyncio.to_thread(
        quality_report, context, settings, found, made.described, made.remarks, partial=made.partial
    )


def _given(paths: Sequence[Path]) -> tuple[RunRow, ...]:
    return tuple(row for path in paths for row in read_rows(path))


async def _rows(context: SuiteContext) -> _Made:
    given = context.inputs.get("rows", ())
    if given:
        rows = await asyncio.to_thread(_given, given)
        return _Made(rows=rows, described={"rows": ", ".join(path.name for path in given), "runs": str(len(rows))})
    sizes = Sizes.of(context.settings)
    async with open_bench(context) as bench:
        trials = in_pairs(bench, ARMS, sizes, context.seed, warm=sizes.warm)
        outcome = await asked(context, bench, SUITE, trials, timed=False)
    return _Made(
        rows=outcome.rows,
        described=dict(bench.described),
        remarks=outcome.remarks,
        partial=bool(outcome.given_up) or len(outcome.rows) < outcome.planned,
    )


def _write_scores(context: SuiteContext, sheets: Sequence[ScoreSheet]) -> None:
    """What came of every answer, a line each, beside the transcripts: for whoever wants to look at single ones."""
    with open(context.out / "scores.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for sheet in sheets:
            for each in sheet.judged:
                verdicts = {"all": each.verdict, **each.by_judge}
                line = {
                    "metric": sheet.metric,
                    "question_id": each.sample.question_id,
                    "arm": each.sample.arm,
                    "run": each.sample.run,
                    "verdicts": {
                        name: {"score": verdict.score, "why": verdict.why}
                        if isinstance(verdict, Scored)
                        else {"unscored": verdict.reason.value, "detail": verdict.detail}
                        for name, verdict in verdicts.items()
                    },
                }
                file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
