"""Observed shares over predicted ones, with the diagonal; under it how many predictions each bin has."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.ticker import FixedLocator, MaxNLocator

from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    GRID,
    MUTED,
    Canvas,
    Entry,
    Look,
    bar,
    legend_height,
    name_axes,
)
from langgraph_prefetch.evaluation.reporting.values import Reliability

MAX_SERIES = 6
_COUNTS, _GAP = 74, 18


def draw(plot: Reliability, width: int) -> Canvas:
    """The first `MAX_SERIES` series that have predictions."""
    filled = {name: [each for each in bins if each.n] for name, bins in plot.series.items()}
    series = dict([(name, bins) for name, bins in filled.items() if bins][:MAX_SERIES])
    entries = [Entry(name, Look.of(number), line=True) for number, name in enumerate(series)]
    entries.append(Entry("predicted = observed", Look(MUTED, "", "", (0, (3, 3))), line=True))
    under = legend_height(len(entries), width)
    side = min(width - 80, 340)
    canvas = Canvas(width, side + _GAP + _COUNTS + AXIS + under + 8)
    right = width - 56 - side
    axes = canvas.axes(left=56, top=8, right=right, bottom=under + AXIS + _COUNTS + _GAP)
    counts = canvas.axes(left=56, top=8 + side + _GAP, right=right, bottom=under + AXIS)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.grid(color=GRID, linewidth=1)
    for axis in (axes.xaxis, axes.yaxis, counts.xaxis):
        axis.set_major_locator(FixedLocator([0, 0.2, 0.4, 0.6, 0.8, 1]))
    axes.plot([0, 1], [0, 1], color=MUTED, linestyle=(0, (3, 3)), linewidth=1.5)
    axes.tick_params(labelbottom=False)
    most = max(each.n for bins in series.values() for each in bins)
    counts.set(xlim=(0, 1), ylim=(0, most * 1.1))
    counts.yaxis.set_major_locator(MaxNLocator(nbins=2, integer=True))
    counts.grid(axis="y", color=GRID, linewidth=1)
    thick = 0.07 / len(series)
    for number, bins in enumerate(series.values()):
        look = Look.of(number)
        aside = (number - (len(series) - 1) / 2) * 0.008  # so that intervals of equal bins stand side by side
        for each in bins:
            if each.interval is not None:
                ends = [max(0.0, each.interval.low), min(1.0, each.interval.high)]
                axes.plot([each.predicted + aside] * 2, ends, color=look.colour, linewidth=1.5)
            place = each.predicted + (number - len(series) / 2) * thick
            bar(counts, place, 0, thick * 0.9, each.n, look)
        points = sorted((each.predicted + aside, each.observed, each.n) for each in bins)
        line = axes.plot(
            [x for x, _, _ in points], [y for _, y, _ in points], color=look.colour, linestyle=look.dash, linewidth=1
        )
        line[0].set(clip_on=False)
        for x, y, n in points:  # what rests on little is drawn small
            axes.plot(
                [x], [y], color=look.colour, marker=look.marker, markersize=3 + 6 * (n / most) ** 0.5, clip_on=False
            )
    name_axes(axes, y="observed share")
    name_axes(counts, x="predicted probability", y="n")
    canvas.legend(entries)
    return canvas


def notes(plot: Reliability) -> Iterator[str]:
    """What was left out of the drawing."""
    filled = sum(any(each.n for each in bins) for bins in plot.series.values())
    if filled > MAX_SERIES:
        yield f"Drawn are the first {MAX_SERIES} of {filled} series; the table has all."
