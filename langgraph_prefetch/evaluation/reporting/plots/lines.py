"""Curves over one axis."""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    GRID,
    NOT_FROM_ZERO,
    Canvas,
    Entry,
    Look,
    legend_height,
    name_axes,
    span,
)
from langgraph_prefetch.evaluation.reporting.values import Lines

MAX_POINTS = 400
MAX_SERIES = 12
_HEIGHT = 260
_MARKED = 40


def draw(plot: Lines, width: int) -> Canvas:
    """The first `MAX_SERIES` series that have points; of each at most `MAX_POINTS`, evenly spaced."""
    filled = [(name, sorted(points)) for name, points in plot.series.items() if points]
    series = {name: _thinned(points) for name, points in filled[:MAX_SERIES]}
    entries = [Entry(name, Look.of(number), line=True) for number, name in enumerate(series)]
    under = legend_height(len(entries), width)
    canvas = Canvas(width, _HEIGHT + AXIS + under)
    axes = canvas.axes(left=62, top=10, right=16, bottom=AXIS + under)
    axes.grid(color=GRID, linewidth=1)
    axes.set_xlim(span([x for points in series.values() for x, _ in points]))
    axes.set_ylim(span([y for points in series.values() for _, y in points]))
    for number, points in enumerate(series.values()):
        look = Look.of(number)
        marker = look.marker if len(points) <= _MARKED else ""
        line = axes.plot(*zip(*points, strict=True), color=look.colour, linestyle=look.dash, linewidth=2)
        line[0].set(marker=marker, markersize=6, clip_on=False)
    name_axes(axes, x=plot.x, y=plot.y)
    canvas.legend(entries)
    return canvas


def notes(plot: Lines) -> Iterator[str]:
    """What was left out of the drawing."""
    if any(len(points) > MAX_POINTS for points in plot.series.values()):
        yield f"Of each line at most {MAX_POINTS} points are drawn, evenly spaced."
    if heights := [y for points in plot.series.values() for _, y in points]:
        low, high = span(heights)
        if low > 0 or high < 0:
            yield NOT_FROM_ZERO
    filled = sum(map(bool, plot.series.values()))
    if filled > MAX_SERIES:
        yield f"Drawn are the first {MAX_SERIES} of {filled} lines; the table has all."


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= MAX_POINTS:
        return points
    return [points[round(at * (len(points) - 1) / (MAX_POINTS - 1))] for at in range(MAX_POINTS)]
