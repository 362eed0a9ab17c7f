"""Advice as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from langgraph_prefetch.evaluation.advice.quantities import count
from langgraph_prefetch.evaluation.advice.values import Advice, Advised, Verdict
from langgraph_prefetch.evaluation.advice.words import (
    LEGEND,
    MODE_HEAD,
    about,
    headline,
    mode_row,
    notes,
    readable_words,
    timing_words,
)
from langgraph_prefetch.evaluation.table import aligned

_WIDTH = 110


def as_text(advised: Advised) -> str:
    """All of it: what was read, each tool, what was assumed, and the code."""
    return "\n".join(_lines(advised)) + "\n"


def _lines(advised: Advised) -> Iterator[str]:
    for file, form, runs, skipped in advised.files:
        left_out = f", {count(skipped, 'record')} skipped" if skipped else ""
        held = "events of prefetch" if form == "events" else count(runs, "run")
        yield f"{file}: {form}, {held}{left_out}"
    parts = ((advised.runs, "run"), (advised.model_calls, "model call"), (advised.tool_timing[1], "tool call"))
    counts = ", ".join(count(number, what) for number, what in parts)
    yield f"{counts}; no model and no tool was called for this"
    yield timing_words(advised)
    yield from _wrapped("assumed", advised.assumptions)
    if any(each.evidence.modes for each in advised.advice):
        yield from _wrapped("below", (LEGEND,))
    if not advised.advice:
        yield ""
        yield "No tool is called in these traces, so there is nothing to start early."
    for each in advised.advice:
        yield ""
        yield from _tool(each, advised)
    yield ""
    yield from _paste(advised)


def _tool(advice: Advice, advised: Advised) -> Iterator[str]:
    yield headline(advice)
    yield from _wrapped("because", advice.reasons)
    yield f"  {about(advice)}"
    evidence = advice.evidence
    if evidence.readable is not None and evidence.measured:
        yield from textwrap.wrap(readable_words(evidence.readable), _WIDTH, initial_indent="  ", subsequent_indent="  ")
        for query in evidence.readable.late_queries:
            yield f"  not readable early: {query!r}"
    if evidence.modes:
        rows = [MODE_HEAD, *(mode_row(each, advised.prices) for each in evidence.modes.values())]
        yield textwrap.indent(aligned(rows), "  ")
        for note in notes(evidence.modes.values()):
            yield from textwrap.wrap(note, _WIDTH, initial_indent="  * ", subsequent_indent="    ")


def _paste(advised: Advised) -> Iterator[str]:
    left = [each for each in advised.advice if each.verdict is not Verdict.RECOMMENDED]
    for each in left:
        yield f"Do not turn this on for {each.tool}: {each.verdict}."
    if advised.code:
        yield "Paste this, and watch agent.prefetch.report():"
        yield ""
        yield advised.code.rstrip()
        yield ""
        rows = [("with exactly this", *MODE_HEAD[1:])]
        rows += [(name, *mode_row(each, advised.prices)[1:]) for name, each in advised.pasted.items()]
        yield textwrap.indent(aligned(rows), "  ")
    elif advised.advice:
        yield "Nothing to paste: leave prefetch off."
    if advised.verified_code:
        yield ""
        yield "Verified serving would hide more. It costs tokens of cancelled model calls, and no answer differs:"
        yield ""
        yield advised.verified_code.rstrip()


def _wrapped(title: str, lines: tuple[str, ...]) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(f"{title}: {line}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
