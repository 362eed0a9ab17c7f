"""The ``intent`` suite: precision, recall and calibration of P(search) on recorded thoughts, and what settings do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.readings.forecasts import Forecast
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.suites.contract import Planned, Spending, SuiteContext
from langgraph_prefetch.suites.intent_measured import measure, settings_of
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
    return await asyncio.to_thread(_run, context)


def _run(context: SuiteContext) -> SuiteReport:
    """Off the loop: a replay has a loop of its own."""
    settings = settings_of(context)
    measured = measure(_recordings(context), settings, context.say)
    _write(context.out / FORECASTS_FILE, measured.forecasts)
    return report(context, settings, measured)


def _recordings(context: SuiteContext) -> tuple[Recording, ...]:
    paths: Sequence[Path] = context.inputs.get("recordings") or _own(context)
    if not paths:
        raise ConfigurationError("there are no recordings: name some in the suite's file, or give them (--recordings)")
    return tuple(map(read_recording, paths))


def _own(context: SuiteContext) -> list[Path]:
    names = context.settings.get("recordings")
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ConfigurationError(f"recordings in the suite's file must be a list of file names, not {names!r}")
    return [context.data / name for name in names]


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
