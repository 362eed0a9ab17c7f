"""The ``intent`` suite: precision, recall and calibration of P(search) on recorded thoughts, and what settings do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from langgraph_prefetch.evaluation.readings.forecasts import Forecast
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.intent_measured import IntentSettings, Measured, measure, settings_of
from langgraph_prefetch.suites.intent_report import report

FORECASTS_FILE = "forecasts.jsonl"


def plan(context: SuiteContext) -> Planned:
    """Count the replays; the recordings are read, and nothing is called.

    Raises:
        ConfigurationError: settings that make no sense.
        TraceFileError: a recording cannot be read.
    """
    settings, recordings = settings_of(context), _recordings(context)
    steps = sum(len(episode.steps) for each in recordings for episode in each.episodes)
    return Planned(
        runs=settings.replays * len(recordings),
        judge_calls=0,
        spending=Spending(calls=0, money=0.0),
        notes=(f"{len(recordings)} recordings, {steps:,} thoughts; replays on virtual time, no model and no tool",),
    )


async def run(context: SuiteContext) -> SuiteReport:
    """Read, score and replay every recording.

    Raises:
        ConfigurationError: settings that make no sense.
        TraceFileError: a recording cannot be read.
    """
    settings = settings_of(context)
    measured = await asyncio.to_thread(_measured, settings, context)
    await asyncio.to_thread(_write, context.out / FORECASTS_FILE, measured.forecasts)
    return report(context, settings, measured)


def _measured(settings: IntentSettings, context: SuiteContext) -> Measured:
    """Off the loop: a replay has a loop of its own."""
    return measure(_recordings(context), settings, context.say)


def _recordings(context: SuiteContext) -> tuple[Recording, ...]:
    given = context.inputs.get("recordings")
    paths: Sequence[Path] = given or [context.data / str(name) for name in context.settings["recordings"]]
    return tuple(map(read_recording, paths))


def _write(path: Path, found: Sequence[Forecast]) -> None:
    """One line a thought. No text of the recordings: those are the user's."""
    lines = [
        json.dumps(
            {
                "file": each.file,
                "model": each.model,
                "language": each.language,
                "p_search": round(each.probability, 6),
                "searched": each.searched,
            },
            ensure_ascii=False,
        )
        for each in found
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
