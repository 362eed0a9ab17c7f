"""One run over its seconds: model calls, speculations, search calls with what was hidden of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from langgraph_prefetch.evaluation.reporting.plots.canvas import (
    AXIS,
    MUTED,
    SERIES,
    Canvas,
    Entry,
    Look,
    bar,
    legend_height,
    name_axes,
    write,
)
from langgraph_prefetch.evaluation.reporting.run_words import run_of
from langgraph_prefetch.evaluation.reporting.values import RunTimeline
from langgraph_prefetch.observe.timeline.marks import Ending, RunLine

MAX_STEPS = 60
_BAR, _LANE, _TITLE = 14, 18, 22
_MODEL, _WAITED = Look(SERIES[5], "", "", "-"), Look(SERIES[0], "", "", "-")
_HIDDEN = Look(SERIES[2], "", "", (0, (3, 2)))
_FATES = {
    Ending.SERVED: Entry("speculation that served a call", Look(SERIES[2], "", "", "-")),
    Ending.WASTED: Entry("wasted: never asked for", Look(SERIES[1], "///", "", "-")),
    Ending.CANCELLED: Entry("cancelled before it was ready", Look(SERIES[4], "---", "", "-")),
    Ending.FAILED: Entry("failed", Look(SERIES[3], "xxx", "", "-")),
    Ending.FETCHED: Entry("passages fetched for near misses", Look(SERIES[2], "", "", (0, (1, 1))), hollow=True),
    Ending.UNSETTLED: Entry("speculation whose end was not kept", Look(MUTED, "", "", "-"), hollow=True),
}

_Bar = tuple[float, float, Entry]


def draw(plot: RunTimeline, width: int) -> Canvas:
    """The run up to its `MAX_STEPS`-th model call."""
    run = run_of(plot)
    if run is None:
        raise ValueError("no events to draw")
    lanes = {title: _packed(bars) for title, bars in _groups(run.first_steps(MAX_STEPS) if _is_long(run) else run)}
    entries = list(dict.fromkeys(entry for rows in lanes.values() for row in rows for _, _, entry in row))
    under = legend_height(len(entries), width)
    height = sum(_TITLE + _LANE * len(rows) for rows in lanes.values()) + 4
    canvas = Canvas(width, height + AXIS + under)
    axes = canvas.axes(bottom=AXIS + under)
    canvas.rows(axes, height)
    end = max((end for rows in lanes.values() for row in rows for _, end, _ in row), default=run.end - run.start)
    axes.set_xlim(0, end * 1.01 or 1.0)
    name_axes(axes, x="seconds from the start of the run")
    top = 0.0
    for title, rows in lanes.items():
        write(axes, 0, top + 16, title, transform=axes.get_yaxis_transform(), fontweight="bold")
        top += _TITLE
        for row in rows:
            _draw_row(axes, row, top, end * 0.004)
            top += _LANE
    canvas.legend(entries)
    return canvas


def notes(plot: RunTimeline) -> Iterator[str]:
    """What was left out of the drawing."""
    run = run_of(plot)
    if run is not None and _is_long(run):
        yield f"Drawn are the first {MAX_STEPS} of {run.all_steps} model calls."


def _is_long(run: RunLine) -> bool:
    return len(run.steps) > MAX_STEPS


def _draw_row(axes: Axes, row: Sequence[_Bar], top: float, least: float) -> None:
    for begin, end, entry in row:
        bar(axes, begin, top + 1, max(end - begin, least), _BAR, entry.look, hollow=entry.hollow)


def _groups(run: RunLine) -> Iterator[tuple[str, list[_Bar]]]:
    begin = run.start
    model, waited = Entry("model call", _MODEL), Entry("search call: the agent waits", _WAITED)
    hidden = Entry("hidden: what it would have waited longer", _HIDDEN, hollow=True)
    yield "model calls", [(each.start - begin, (each.end or run.end) - begin, model) for each in run.steps]
    if run.speculations:
        yield (
            "speculations",
            [
                (each.start - begin, _ended(each.start, each.seconds, each.end) - begin, _FATES[each.fate])
                for each in run.speculations
            ],
        )
    calls: list[_Bar] = []
    for call in run.calls:
        calls.append((call.start - begin, call.end - begin, waited))
        if call.hidden > 0:
            calls.append((call.end - begin, call.end - begin + call.hidden, hidden))
    if calls:
        yield "search calls", calls


def _ended(start: float, seconds: float | None, end: float | None) -> float:
    if seconds is not None:
        return start + seconds
    return start if end is None else end


def _packed(bars: Sequence[_Bar]) -> list[list[_Bar]]:
    """Into as few rows as have room for them without overlap."""
    rows: list[list[_Bar]] = []
    for each in sorted(bars, key=lambda found: found[:2]):
        row = next((row for row in rows if row[-1][1] <= each[0] + 1e-9), None)
        if row is None:
            rows.append([each])
        else:
            row.append(each)
    return rows
