"""Any plot as the two drawings that a page holds of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from langgraph_prefetch.evaluation.reporting.plain import MAX_PARAGRAPH, clipped
from langgraph_prefetch.evaluation.reporting.plots import bars, differences, distributions, lines, reliability, run
from langgraph_prefetch.evaluation.reporting.plots.canvas import NARROW, WIDE, Canvas
from langgraph_prefetch.evaluation.reporting.plots.svg import to_svg
from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Lines,
    PairedDifferences,
    Reliability,
    RunTimeline,
    StackedBars,
)
from langgraph_prefetch.evaluation.reporting.words import Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """SVG for a wide page and for a narrow one, and what was left out of both."""

    wide: str
    narrow: str
    notes: tuple[str, ...]


def drawn(plot: Plot, *, name: str, description: str) -> Drawn:
    """Draw a plot that has something to draw.

    Args:
        plot: what to draw.
        name: that no other plot of the page has.
        description: the plot in words.
    """
    texts = {"title": clipped(plot.caption, MAX_PARAGRAPH), "description": clipped(description, MAX_PARAGRAPH)}
    wide, narrow = (
        to_svg(partial(_canvas, plot, width), name=f"{name}{letter}", **texts)
        for width, letter in ((WIDE, "w"), (NARROW, "n"))
    )
    return Drawn(wide=wide, narrow=narrow, notes=_notes(plot))


def _canvas(plot: Plot, width: int) -> Canvas:
    match plot:
        case Distributions():
            return distributions.draw(plot, width)
        case PairedDifferences():
            return differences.draw(plot, width)
        case Reliability():
            return reliability.draw(plot, width)
        case StackedBars():
            return bars.draw(plot, width)
        case Lines():
            return lines.draw(plot, width)
        case RunTimeline():
            return run.draw(plot, width)


def _notes(plot: Plot) -> tuple[str, ...]:
    match plot:
        case Distributions():
            return tuple(distributions.notes(plot))
        case PairedDifferences():
            return tuple(differences.notes(plot))
        case Reliability():
            return tuple(reliability.notes(plot))
        case StackedBars():
            return tuple(bars.notes(plot))
        case Lines():
            return tuple(lines.notes(plot))
        case RunTimeline():
            return tuple(run.notes(plot))
