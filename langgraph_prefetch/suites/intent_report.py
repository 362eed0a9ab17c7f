"""What the ``intent`` suite tells of its figures."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_prefetch.evaluation.reporting.values import Figure, Section, SuiteReport, Summary
from langgraph_prefetch.suites.cells import estimate, share
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.intent_measured import IntentSettings, Measured
from langgraph_prefetch.suites.intent_tables import (
    elsewhere_section,
    looking_section,
    queries_section,
    reading_section,
    threshold_section,
    verdict_section,
)
from langgraph_prefetch.suites.suite_file import stated
from langgraph_prefetch.suites.versions import settings_shown, title_shown

_LIMITATIONS = (
    "The cues, their weights and the rates of queries were chosen and counted on public recordings of agents. On those "
    "very recordings the figures flatter: the section on weights that never saw the file says how much for the "
    "weights, and nothing can say it for the phrases themselves.",
    "Thoughts of one question, and of one run, are not independent, so that the intervals are too narrow.",
    "A thought that announces a search which its step does not make counts as wrong, though a later step may make it.",
    "Language is told by script where the recording does not say: Latin letters count as English.",
    "The replays assume a steady pace of tokens and one search time; a machine's own time is not in them. A stream "
    "that is looked at now and then is read at the end of the message at the latest, which flatters long intervals.",
)
_OWN_RECORDINGS = (
    "The recordings that come with the suite were written for it, by people who knew the cues: they show that the "
    "suite works, and not how well your model's thoughts are read. Give recordings of your own.",
)


def report(context: SuiteContext, settings: IntentSettings, measured: Measured) -> SuiteReport:
    """All sections, the closing table and what it does not show."""
    sections: tuple[Section | None, ...] = (
        reading_section(measured, settings.threshold),
        verdict_section(measured),
        queries_section(measured),
        threshold_section(measured),
        looking_section(measured),
        elsewhere_section(measured),
    )
    return SuiteReport(
        suite="intent",
        title=title_shown(context),
        hypotheses=stated(context.settings),
        settings=settings_shown(context, _described(settings, measured)),
        sections=tuple(each for each in sections if each is not None),
        summary=_summary(settings, measured),
        limitations=(
            *(() if context.inputs.get("recordings") else _OWN_RECORDINGS),
            *_LIMITATIONS,
            *_remarks(measured),
        ),
    )


def _described(settings: IntentSettings, measured: Measured) -> dict[str, str]:
    replay = settings.replay
    return {
        "recordings": ", ".join(measured.thresholds),
        "thoughts": f"{len(measured.forecasts):,}",
        "search tools": ", ".join(replay.tools),
        "threshold": f"{settings.threshold:g}",
        "replay": f"{replay.tokens_per_second:g} tokens a second, {replay.latency_seconds:g} s a search; reasoning",
    }


def _summary(settings: IntentSettings, measured: Measured) -> Summary:
    at = {name: points[0].measured for name, points in measured.looks.items()}
    return Summary(
        speed=tuple(
            Figure(
                name=f"{name}: hidden of hideable",
                value=f"{each.hidden_seconds:.1f} of {each.hideable_seconds:.1f} s",
                note=f"every token read, threshold {settings.threshold:g}",
            )
            for name, each in at.items()
        ),
        quality=tuple(
            Figure(
                name=f"{name}: Brier score",
                value=estimate(each.brier),
                note=f"always saying the share of searches: {each.brier_of_base_rate:.3f}",
            )
            for name, each in measured.groups.items()
        ),
        cost=tuple(
            Figure(
                name=f"{name}: searches started for nothing",
                value=share(each.speculations - round(each.accuracy * each.speculations), each.speculations),
                note=f"{each.false_starts} of {each.steps} steps were false starts",
            )
            for name, each in at.items()
        ),
    )


def _remarks(measured: Measured) -> Iterable[str]:
    for file, count in measured.skipped.items():
        yield f"{file}: {count} malformed lines were left out."
    for name, each in measured.groups.items():
        if not each.searches:
            yield f"{name}: no step searches with the named tools, so that recall and coverage have no meaning there."
