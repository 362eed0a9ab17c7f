"""A row for each series: a box from the first to the third quartile, and under it the values as dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from langgraph_prefetch.evaluation.reporting.plain import quantile, shown, thinned
from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    GRID,
    INK,
    NOT_FROM_ZERO,
    Canvas,
    Look,
    dots,
    headline,
    headline_height,
    name_axes,
    span,
)
from langgraph_prefetch.evaluation.reporting.values import Distributions

MAX_DOTS = 400
MAX_SERIES = 24
_ROW, _BOX, _DOTS, _HALF = 50, 10, 31, 8


def draw(plot: Distributions, width: int) -> Canvas:
    """The first `MAX_SERIES` series that have values; of each at most `MAX_DOTS` values, evenly spaced by rank."""
    series = {name: sorted(values) for name, values in plot.series.items() if values}
    drawn = dict(list(series.items())[:MAX_SERIES])
    said = [f"median {shown(quantile(each, 0.5))} {plot.unit}, n = {len(each)}" for each in drawn.values()]
    head = headline_height(list(drawn), said, width)
    height = (head + _ROW) * len(drawn)
    canvas = Canvas(width, height + AXIS)
    axes = canvas.axes()
    canvas.rows(axes, height)
    axes.set_xlim(span([end for values in drawn.values() for end in (values[0], values[-1])]))
    name_axes(axes, x=plot.unit)
    for number, (name, values) in enumerate(drawn.items()):
        headline(axes, (head + _ROW) * number, head, name, said[number])
        _row(axes, (head + _ROW) * number + head, values, Look.of(number))
    return canvas


def notes(plot: Distributions) -> Iterator[str]:
    """What was left out of the drawing."""
    most = max(map(len, plot.series.values()), default=0)
    if most > MAX_DOTS:
        yield f"Of each series at most {MAX_DOTS} values are dots, evenly spaced by rank; boxes are of all values."
    if ends := [value for values in plot.series.values() for value in values]:
        low, high = span(ends)
        if low > 0 or high < 0:
            yield NOT_FROM_ZERO
    filled = sum(map(bool, plot.series.values()))
    if filled > MAX_SERIES:
        yield f"Drawn are the first {MAX_SERIES} of {filled} series; the table has all."


def _row(axes: Axes, top: float, values: Sequence[float], look: Look) -> None:
    kept = thinned(values, MAX_DOTS)
    size = 5 if len(kept) <= 150 else 3.5
    dots(axes, [(value, top + _DOTS + _HALF * _spread(at)) for at, value in enumerate(kept)], look.colour, size=size)
    low, first, half, third, high = (quantile(values, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95))
    middle = top + _BOX
    for ends in ((low, first), (third, high)):
        axes.plot(ends, [middle] * 2, color=INK, linewidth=1.5)
    axes.add_patch(
        Rectangle((first, middle - _HALF), third - first, 2 * _HALF, facecolor=GRID, edgecolor=INK, linewidth=1.5)
    )
    axes.plot([half] * 2, [middle - _HALF, middle + _HALF], color=INK, linewidth=3.5)


def _spread(at: int) -> float:
    """Between -0.8 and 0.8, neighbours far apart: the van der Corput sequence to base 2."""
    share, part = 0.0, 0.5
    while at:
        share, at, part = share + part * (at & 1), at >> 1, part / 2
    return 1.6 * share - 0.8
