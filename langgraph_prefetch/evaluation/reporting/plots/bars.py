"""Amounts that add up, a bar for each whole."""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_prefetch.evaluation.reporting.plain import shown
from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    MUTED,
    Canvas,
    Entry,
    Look,
    bar,
    headline,
    headline_height,
    legend_height,
    name_axes,
)
from langgraph_prefetch.evaluation.reporting.values import StackedBars
from langgraph_prefetch.evaluation.reporting.words import components, total

MAX_BARS = 24
MAX_COMPONENTS = 30
_ROW = 30


def draw(plot: StackedBars, width: int) -> Canvas:
    """The first `MAX_BARS` bars; components after the first `MAX_COMPONENTS` make one part, the rest."""
    names = components(plot)[:MAX_COMPONENTS]
    bars = dict(list(plot.bars.items())[:MAX_BARS])
    looks = {name: Look.of(number) for number, name in enumerate(names)}
    entries = [Entry(name, look) for name, look in looks.items()]
    rest = Look(MUTED, "", "", "-")
    if len(components(plot)) > len(names):
        entries.append(Entry("the rest", rest))
    under = legend_height(len(entries), width)
    said = [f"{shown(total(parts))} {plot.unit}" for parts in bars.values()]
    head = headline_height(list(bars), said, width)
    height = (head + _ROW) * len(bars)
    canvas = Canvas(width, height + AXIS + under)
    axes = canvas.axes(bottom=AXIS + under)
    canvas.rows(axes, height)
    axes.set_xlim(0, max(map(total, bars.values())) * 1.02 or 1.0)
    name_axes(axes, x=plot.unit)
    for number, (bar_name, parts) in enumerate(bars.items()):
        top, begin = (head + _ROW) * number, 0.0
        headline(axes, top, head, bar_name, said[number])
        for name in names:
            if amount := parts.get(name, 0.0):
                bar(axes, begin, top + head + 1, amount, 20, looks[name])
                begin += amount
        if (left := total(parts) - begin) > total(parts) * 1e-9:
            bar(axes, begin, top + head + 1, left, 20, rest)
    canvas.legend(entries)
    return canvas


def notes(plot: StackedBars) -> Iterator[str]:
    """What was left out of the drawing."""
    if len(plot.bars) > MAX_BARS:
        yield f"Drawn are the first {MAX_BARS} of {len(plot.bars)} bars; the table has all."
