"""Paired differences from the smallest to the largest, with zero, the median and the quartiles."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.ticker import MaxNLocator

from langgraph_prefetch.evaluation.reporting.plain import five, thinned
from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    GRID,
    INK,
    SERIES,
    Canvas,
    Entry,
    Look,
    dots,
    legend_height,
    name_axes,
    span,
)
from langgraph_prefetch.evaluation.reporting.values import PairedDifferences

MAX_DOTS = 1_000
_HEIGHT = 250
_LESS, _MORE = SERIES[0], SERIES[1]


def draw(plot: PairedDifferences, width: int) -> Canvas:
    """A dot a pair; of more than `MAX_DOTS` that many, evenly spaced by rank."""
    kept = thinned(plot.differences, MAX_DOTS)
    _, first, median, third, _ = five(plot.differences)
    entries = [
        Entry(f"less with {plot.second}", Look(_LESS, "", "o", "none"), line=True),
        Entry(f"more with {plot.second}", Look(_MORE, "", "s", "none"), line=True),
        Entry("median", Look(INK, "", "", (0, (6, 3))), line=True),
        Entry("the middle half of the pairs", Look(GRID, "", "", "-")),
    ]
    under = legend_height(len(entries), width)
    canvas = Canvas(width, _HEIGHT + AXIS + under)
    axes = canvas.axes(left=56, top=8, bottom=AXIS + under)
    axes.set_ylim(span([*kept, 0.0]))
    axes.set_xlim(0.5, len(plot.differences) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7 if canvas.is_wide else 4, integer=True))
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.axhspan(first, third, color=GRID, alpha=0.7, linewidth=0)
    axes.axhline(0, color=INK, linewidth=1.5)
    axes.axhline(median, color=INK, linewidth=1.5, linestyle=(0, (6, 3)))
    step = len(plot.differences) / len(kept)
    points = [((at + 0.5) * step + 0.5, value) for at, value in enumerate(kept)]
    size = 6 if len(kept) <= 60 else 4
    below, rest = [each for each in points if each[1] <= 0], [each for each in points if each[1] > 0]
    for part, colour, square in ((below, _LESS, False), (rest, _MORE, True)):
        if part:
            dots(axes, part, colour, size=size, square=square)
    name_axes(axes, x="pairs, from the smallest difference up", y=plot.unit)
    canvas.legend(entries)
    return canvas


def notes(plot: PairedDifferences) -> Iterator[str]:
    """What was left out of the drawing."""
    if len(plot.differences) > MAX_DOTS:
        yield f"Drawn are {MAX_DOTS:,} of {len(plot.differences):,} pairs, evenly spaced by rank; the lines are of all."
