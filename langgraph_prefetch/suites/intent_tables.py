"""The sections of the ``intent`` suite: tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from langgraph_prefetch.evaluation.readings.scores import ReadingScores
from langgraph_prefetch.evaluation.readings.sweeps import Point
from langgraph_prefetch.evaluation.reporting.values import Block, Lines, Reliability, Section, Table, Text
from langgraph_prefetch.evaluation.statistics.values import Estimate, ReliabilityBin
from langgraph_prefetch.suites.cells import NONE, estimate
from langgraph_prefetch.suites.intent_measured import Measured

Kind = TypeVar("Kind")

POLLED = 0.1
"""Seconds: the interval of the hypothesis on polling."""
ANNOUNCED = 0.7
"""The precision of the hypothesis on the threshold."""
SERIES = 4
"""Curves in one plot: more cannot be told apart."""


def reading_section(measured: Measured, threshold: float) -> Section:
    """Precision, recall and calibration of each group."""
    rows = tuple(
        (
            name,
            f"{each.thoughts:,}",
            f"{each.searches:,}",
            f"{each.said:,}",
            percent(each.precision),
            percent(each.recall),
            estimate(each.brier),
            f"{each.brier_of_base_rate:.3f}",
            calibration(each.calibration_error),
            calibration(each.calibration_error_said),
        )
        for name, each in measured.groups.items()
    )
    table = Table(
        caption=f"P(search) of thoughts, by file, model and language; threshold {threshold:g}",
        head=(
            "thoughts of",
            "thoughts",
            "search",
            "with a directive",
            "precision",
            "recall",
            "Brier",
            "Brier of the base rate",
            "calibration error",
            "of those with a directive",
        ),
        rows=rows,
        note="Precision: of the thoughts that reach the threshold, the share whose step searches. Recall: of the steps "
        "that search, the share whose thought reaches it. A thought without a directive says 0. In brackets: 95 %.",
    )
    series = {name: each.bins for name, each in measured.groups.items()}
    return Section(
        title="Is a search foretold?", blocks=(table, *reliability("P(search) against what the steps did", series))
    )


def verdict_section(measured: Measured) -> Section:
    """What became of the suite's hypotheses."""
    mixed = {name: each for name, each in measured.groups.items() if 0 < each.searches < each.thoughts}
    searching = {name: each for name, each in measured.groups.items() if each.searches and each.fired}
    polled = {
        name: (points[0], point)
        for name, points in measured.looks.items()
        for point in points
        if point.at == POLLED and points[0].measured.search_calls
    }
    said = (
        _held(
            "Brier score below that of always saying the share of searches",
            {name: (each.brier.value or 0.0) < each.brier_of_base_rate for name, each in mixed.items()},
        ),
        _held(
            f"at least {ANNOUNCED:.0%} of the thoughts that reach the threshold search",
            {name: (each.precision.value or 0.0) >= ANNOUNCED for name, each in searching.items()},
        ),
        _held(
            f"looked at every {POLLED * 1000:g} ms, less is hidden",
            {
                name: slow.measured.hidden_seconds < every.measured.hidden_seconds
                for name, (every, slow) in polled.items()
            },
        ),
    )
    return Section(title="What became of the hypotheses", blocks=(Text(paragraphs=said),))


def queries_section(measured: Measured) -> Section:
    """The guessed queries of each file."""
    rows = tuple(
        (
            name,
            f"{each.counted.guesses:,}",
            f"{each.scores.precision:.1%}" if each.counted.guesses else NONE,
            f"{each.scores.recall:.1%}" if each.counted.searches else NONE,
            f"{len(each.counted.forecasts):,}",
            f"{each.scores.brier:.3f}" if each.counted.forecasts else NONE,
            f"{each.scores.calibration_error:.3f}" if each.counted.forecasts else NONE,
        )
        for name, each in measured.queries.items()
    )
    table = Table(
        caption="Guessed queries, at the default settings, and the probabilities of all candidates",
        head=("file", "guesses", "precision", "recall", "candidates", "Brier", "calibration error"),
        rows=rows,
        note="Right: this step or a later one of the run asks exactly this. Agents that word their queries anew "
        "cannot be guessed exactly; near misses are measured by langgraph-prefetch replay --serve bounded.",
    )
    series = {name: each.bins for name, each in measured.queries.items()}
    return Section(
        title="Is the query guessed?",
        blocks=(table, *reliability("P(exactly this query) against what was asked", series)),
    )


def threshold_section(measured: Measured) -> Section:
    """The sweep of the threshold."""
    rows = tuple(
        (
            f"{name}, {point.at:g}",
            f"{point.measured.coverage:.1%}" if point.measured.search_calls else NONE,
            f"{point.measured.accuracy:.1%}" if point.measured.speculations else NONE,
            f"{point.waste:.2f}" if point.measured.search_calls else NONE,
            f"{point.measured.false_starts:,} of {point.measured.steps:,}",
            f"{point.measured.hidden_seconds:.1f} s",
            f"{point.measured.hidden_seconds / point.measured.hideable_seconds:.1%}"
            if point.measured.hideable_seconds
            else NONE,
        )
        for name, points in measured.thresholds.items()
        for point in points
    )
    table = Table(
        caption="Replays at several thresholds",
        head=(
            "file, threshold",
            "coverage",
            "accuracy",
            "searches for nothing, a search call",
            "false starts, of steps",
            "hidden",
            "of hideable",
        ),
        rows=rows,
        note="P(search) of a clause is one of few values, one for each pair of cues, so that a sweep has steps.",
    )
    per_call: Mapping[str, Callable[[Point], float]] = {
        "coverage": lambda point: point.measured.coverage,
        "hidden seconds, a search call": _hidden,
        "searches for nothing, a search call": lambda point: point.waste,
    }
    curves = [
        curve
        for name, of in per_call.items()
        for curve in _curves(f"{name[0].upper()}{name[1:]}, by threshold", "threshold", name, measured.thresholds, of)
    ]
    return Section(title="What the threshold does", blocks=(table, *curves))


def looking_section(measured: Measured) -> Section:
    """The sweep of the polling interval."""
    rows = []
    searching = {name: points for name, points in measured.looks.items() if points[0].measured.search_calls}
    for name, points in searching.items():
        best = points[0].measured.hidden_seconds
        for point in points:
            hidden, calls = point.measured.hidden_seconds, point.measured.search_calls
            rows.append(
                (
                    f"{name}, {_interval(point.at)}",
                    f"{hidden:.1f} s",
                    f"{hidden / best:.1%}" if best else NONE,
                    f"{(best - hidden) / calls * 1000:.0f} ms",
                    f"{point.measured.timeliness:.1%}" if point.measured.coverage else NONE,
                )
            )
    table = Table(
        caption="The stream looked at now and then, as the original system did, instead of read token by token",
        head=(
            "file, looked at",
            "hidden",
            "of what every token hides",
            "lost a search call",
            "ready when the call came",
        ),
        rows=tuple(rows),
        note="Looks come at the multiples of the interval, whatever the model does, and at the end of each message. "
        "What is served stays nearly the same; it is started later. Files without search calls are left out.",
    )
    curves = _curves(
        "Hidden seconds by polling interval",
        "interval, seconds",
        "hidden seconds, a search call",
        measured.looks,
        _hidden,
    )
    return Section(title="What polling the stream costs", blocks=(table, *curves))


def elsewhere_section(measured: Measured) -> Section | None:
    """Weights that never saw the file; None where no file has another of its language."""
    if not measured.elsewhere:
        return None
    rows = [row for name, pair in measured.elsewhere.items() for row in _pair(name, *pair)]
    table = Table(
        caption="Cues with the shipped weights, and with weights fitted to the other files alone",
        head=("file, weights", "precision", "recall", "Brier", "calibration error"),
        rows=tuple(rows),
        note="Fitted from equal weights, by what the other files' directives led to. The phrases, and the cues against "
        "a search, are the shipped ones in both.",
    )
    alone = [name for name in measured.thresholds if name not in measured.elsewhere]
    left_out = (Text(paragraphs=(f"No other file of their language: {', '.join(alone)}.",)),) if alone else ()
    return Section(title="With weights that never saw the file", blocks=(table, *left_out))


def percent(found: Estimate) -> str:
    """A share with its interval."""
    if found.value is None or found.interval is None:
        return NONE
    return f"{found.value:.1%} ({found.interval.low:.1%} to {found.interval.high:.1%})"


def calibration(found: Estimate) -> str:
    """A calibration error; ``none`` where nothing was said."""
    return NONE if found.value is None else f"{found.value:.3f}"


def reliability(caption: str, series: Mapping[str, tuple[ReliabilityBin, ...]]) -> Iterator[Block]:
    """Plots of a few series each; those without a bin are left out."""
    for number, held in enumerate(_few({name: bins for name, bins in series.items() if bins}), start=1):
        yield Reliability(caption=caption if number == 1 else f"{caption} ({number})", series=held)


def _curves(
    caption: str, x: str, y: str, sweeps: Mapping[str, tuple[Point, ...]], of: Callable[[Point], float]
) -> Iterator[Lines]:
    """Plots of a few files each; files without search calls are left out, since all is told by the search call."""
    series = {
        name: tuple((point.at, of(point)) for point in points)
        for name, points in sweeps.items()
        if points[0].measured.search_calls
    }
    for number, held in enumerate(_few(series), start=1):
        yield Lines(caption=caption if number == 1 else f"{caption} ({number})", x=x, y=y, series=held)


def _hidden(point: Point) -> float:
    return point.measured.hidden_seconds / max(1, point.measured.search_calls)


def _interval(at: float) -> str:
    return f"every {1000 * at:g} ms" if at else "every token"


def _few(series: Mapping[str, Kind]) -> Iterator[dict[str, Kind]]:
    items = list(series.items())
    return (dict(items[start : start + SERIES]) for start in range(0, len(items), SERIES))


def _held(what: str, by_name: Mapping[str, bool]) -> str:
    """In how many of the cases that can tell it holds, and in which it does not."""
    if not by_name:
        return f"{what}: nothing here can tell."
    failing = [name for name, held in by_name.items() if not held]
    told = f"{what}: {len(by_name) - len(failing)} of {len(by_name)}"
    return f"{told}; not {', '.join(failing)}." if failing else f"{told}."


def _pair(name: str, shipped: ReadingScores, fitted: ReadingScores) -> Iterator[tuple[str, ...]]:
    for weights, each in (("shipped", shipped), ("fitted elsewhere", fitted)):
        yield (
            f"{name}, {weights}",
            percent(each.precision),
            percent(each.recall),
            estimate(each.brier),
            calibration(each.calibration_error),
        )
