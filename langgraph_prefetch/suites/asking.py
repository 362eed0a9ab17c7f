"""Asks the questions of a suite's arms, with rows in the suite's own folder: the same way in every suite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from langgraph_prefetch.evaluation.trials import (
    Arm,
    EventLog,
    Outcome,
    RowFile,
    RunSettings,
    Trial,
    paired_trials,
    run_trials,
)
from langgraph_prefetch.suites.agents import Bench
from langgraph_prefetch.suites.contract import ROWS_FILE, SuiteContext
from langgraph_prefetch.suites.sizes import Sizes


def in_pairs(bench: Bench, arms: Sequence[str], sizes: Sizes, seed: int, *, warm: bool) -> tuple[Trial, ...]:
    """Every question of every arm, in balanced order."""
    return tuple(
        paired_trials(
            [question.id for question in bench.questions],
            arms,
            batches=sizes.batches,
            repeats=sizes.repeats,
            warm=warm,
            seed=seed,
        )
    )


async def asked(
    context: SuiteContext,
    bench: Bench,
    suite: str,
    trials: Sequence[Trial],
    *,
    arms: Mapping[str, Arm] | None = None,
    events: EventLog | None = None,
    timed: bool = True,
    checked: bool = False,
) -> Outcome:
    """Make the runs.

    Args:
        context: what the suite was given.
        bench: its questions and arms.
        suite: its name, which the rows bear.
        trials: what is asked of which arm, in order.
        arms: in place of the bench's.
        events: takes what happens in the runs.
        timed: the first run of the suite's own agents is made twice, so that no arm pays for what a first run loads.
        checked: search again for all that was served, where the sizes ask for it.
    """
    sizes = Sizes.of(context.settings)
    return await run_trials(
        trials,
        bench.by_id,
        bench.arms if arms is None else arms,
        await asyncio.to_thread(RowFile, context.out / ROWS_FILE),
        RunSettings(
            suite=suite,
            tools=bench.tools,
            concurrency=sizes.concurrency,
            timeout_seconds=sizes.timeout_seconds,
            warm_up=timed and context.make_agent is None and context.model is None,
        ),
        check=bench.check if checked and sizes.check_passages else None,
        events=events,
        say=context.say,
    )
