"""What a plot shows, as a sentence and a table: all that a reader without pictures has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.reporting.plain import five, shown
from langgraph_prefetch.evaluation.reporting.run_words import run_sentence, run_table
from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Lines,
    PairedDifferences,
    Reliability,
    RunTimeline,
    StackedBars,
    Table,
)
from langgraph_prefetch.evaluation.statistics.values import Interval

Plot = Distributions | PairedDifferences | Reliability | StackedBars | Lines | RunTimeline

_FIVE = ("n", "smallest", "first quartile", "median", "third quartile", "largest")
_NONE = "none"
_MAX_LINE_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A plot in words; ``table`` is None where there is nothing to draw, and the sentence says so."""

    sentence: str
    table: Table | None


def described(plot: Plot) -> Described:
    """The plot in words."""
    match plot:
        case Distributions():
            return _distributions(plot)
        case PairedDifferences():
            return _differences(plot)
        case Reliability():
            return _reliability(plot)
        case StackedBars():
            return _bars(plot)
        case Lines():
            return _lines(plot)
        case RunTimeline():
            return Described(sentence=run_sentence(plot), table=run_table(plot))


def total(parts: Mapping[str, float]) -> float:
    """The sum of a bar's amounts, rounded once."""
    return math.fsum(parts.values())


def components(plot: StackedBars) -> tuple[str, ...]:
    """All that appear in any bar, in the order of their first."""
    return tuple(dict.fromkeys(name for parts in plot.bars.values() for name in parts))


def _empty(what: str) -> Described:
    return Described(sentence=f"Nothing to draw: {what}.", table=None)


def _distributions(plot: Distributions) -> Described:
    if not any(plot.series.values()):
        return _empty("no values were measured")
    rows = tuple((name, str(len(values)), *_five(values)) for name, values in plot.series.items())
    said = [
        f"{name}: median {shown(five(values)[2])} {plot.unit} (n = {len(values)})" if values else f"{name}: no values"
        for name, values in plot.series.items()
    ]
    head = ("Series", *_FIVE)
    return Described(sentence=_sentence(said), table=Table(caption=_in(plot.caption, plot.unit), head=head, rows=rows))


def _five(values: Sequence[float]) -> tuple[str, ...]:
    return tuple(map(shown, five(values))) if values else (_NONE,) * 5


def _differences(plot: PairedDifferences) -> Described:
    found = plot.differences
    if not found:
        return _empty(f"there are no pairs of {plot.first} and {plot.second}")
    below, above = sum(each < 0 for each in found), sum(each > 0 for each in found)
    said = (
        f"Difference of each pair, {plot.second} minus {plot.first}: median {shown(five(found)[2])} {plot.unit} "
        f"(n = {len(found)} pairs). Of these, {plot.second} needed less in {below}, more in {above}"
    )
    equal = len(found) - below - above
    row = (f"{plot.second} minus {plot.first}", str(len(found)), *_five(found), str(below), str(above))
    head = ("Difference", *_FIVE, "below 0", "above 0")
    table = Table(caption=_in(plot.caption, plot.unit), head=head, rows=(row,))
    return Described(sentence=f"{said}, the same in {equal}." if equal else f"{said}.", table=table)


def _reliability(plot: Reliability) -> Described:
    filled = {name: [each for each in bins if each.n] for name, bins in plot.series.items()}
    if not any(filled.values()):
        return _empty("nothing was predicted")
    said, rows = [], []
    for name, bins in filled.items():
        n = sum(each.n for each in bins)
        if not n:
            said.append(f"{name}: no predictions")
            continue
        gap = math.fsum(each.n * abs(each.predicted - each.observed) for each in bins) / n
        said.append(f"{name}: predicted and observed shares differ by {gap:.3f} on average (n = {n})")
        rows += [
            (name, f"{each.predicted:.3f}", f"{each.observed:.3f}", _interval(each.interval), str(each.n))
            for each in bins
        ]
    head = ("Series", "predicted", "observed", "interval", "n")
    return Described(sentence=_sentence(said), table=Table(caption=plot.caption, head=head, rows=tuple(rows)))


def _interval(found: Interval | None) -> str:
    return "none given" if found is None else f"{found.low:.3f} to {found.high:.3f} ({found.level:.0%})"


def _bars(plot: StackedBars) -> Described:
    names = components(plot)
    if not names:
        return _empty("no amounts were measured")
    rows = [(name, *(_amount(parts, name) for parts in plot.bars.values())) for name in names]
    rows.append(("total", *(shown(total(parts)) for parts in plot.bars.values())))
    said = []
    for bar, parts in plot.bars.items():
        most = max(parts, key=lambda name: parts[name], default=None)
        whole = total(parts)
        share = f", of which {most} {parts[most] / whole:.0%}" if most is not None and whole else ""
        said.append(f"{bar}: {shown(whole)} {plot.unit}{share}")
    table = Table(caption=_in(plot.caption, plot.unit), head=("Component", *plot.bars), rows=tuple(rows))
    return Described(sentence=_sentence(said), table=table)


def _amount(parts: Mapping[str, float], name: str) -> str:
    return shown(parts[name]) if name in parts else _NONE


def _lines(plot: Lines) -> Described:
    drawn = {name: dict(points) for name, points in plot.series.items()}
    places = sorted({x for points in drawn.values() for x in points})
    if not places:
        return _empty(f"no values of {plot.y} were measured")
    said = []
    for name, points in drawn.items():
        if not points:
            said.append(f"{name}: no values")
            continue
        said.append(f"{name}: {_range(plot.y, points)}")
    kept = places
    if len(places) > _MAX_LINE_ROWS:
        kept = [places[round(at * (len(places) - 1) / (_MAX_LINE_ROWS - 1))] for at in range(_MAX_LINE_ROWS)]
    rows = tuple((shown(x), *(shown(points[x]) if x in points else _NONE for points in drawn.values())) for x in kept)
    note = "" if kept is places else f"{len(kept)} of {len(places)} places."
    table = Table(caption=f"{plot.caption}: {plot.y} by {plot.x}", head=(plot.x, *drawn), rows=rows, note=note)
    return Described(sentence=_sentence(said), table=table)


def _range(y: str, points: Mapping[float, float]) -> str:
    low, high = (choose(points, key=lambda x: points[x]) for choose in (min, max))
    if points[low] == points[high]:
        return f"{y} {shown(points[low])} {'throughout' if len(points) > 1 else f'at {shown(low)}'}"
    return f"{y} from {shown(points[low])} (at {shown(low)}) to {shown(points[high])} (at {shown(high)})"


def _sentence(parts: Iterable[str]) -> str:
    return "; ".join(parts) + "."


def _in(caption: str, unit: str) -> str:
    return f"{caption} ({unit})" if unit else caption
