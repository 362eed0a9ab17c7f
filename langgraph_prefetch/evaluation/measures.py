"""What a replay measured of one file. Every figure comes from the machine's own events, and the oracle."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.events import Event, SearchCallAnswered
from langgraph_prefetch.report import Report

EDGES = (0.0, 0.1, 0.2, 0.4, math.inf)
"""Borders of the rows by time, in seconds."""
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """Search calls whose time (lead or hideable) is in ``[from_seconds, to_seconds)``."""

    from_seconds: float
    to_seconds: float | None
    search_calls: int
    hidden_seconds: float
    hideable_seconds: float

    @property
    def hidden_share(self) -> float:
        """Hidden / hideable seconds, in [0, 1]; 0 where nothing could be hidden."""
        return self.hidden_seconds / self.hideable_seconds if self.hideable_seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMeasures:
    """The figures of one file; the words are those of the report. A share of nothing is 0.

    Attributes:
        file: as it was named.
        episodes, skipped_lines: runs played, and malformed lines left out.
        steps: messages of the model.
        search_calls: steps whose action is a search call.
        coverage: served / search calls; the sum of the next three.
        verbatim_ceiling: share of search calls whose query stands, letter for letter, in the step's thought.
        accuracy: speculations served / speculations started.
        timeliness: served calls whose result was ready / served calls.
        amplification: backend starts with prefetch / without; 1 where there are no search calls.
        false_starts: steps without a search call that started a speculation.
        hidden_seconds, hideable_seconds: retrieval time not waited for, and what could have been.
        net_value: hidden seconds * value of a second - speculations that were not served * price of a call. A served
            speculation replaces its call, so it costs nothing more; wasted, failed and cancelled ones cost a call each.
        wrong_answers: answers that were not what the call would have got.
        hidden_by_lead: calls served by a speculation (not by reuse), by the time from its dispatch to the call.
        hidden_by_hideable: all search calls by their hideable seconds.
    """

    file: str
    episodes: int
    skipped_lines: int
    steps: int
    search_calls: int
    coverage: float
    coverage_reasoning: float
    coverage_sealed: float
    coverage_reuse: float
    verbatim_ceiling: float
    accuracy: float
    timeliness: float
    amplification: float
    speculations: int
    false_starts: int
    hidden_seconds: float
    hideable_seconds: float
    net_value: float
    wrong_answers: int
    hidden_by_lead: tuple[TimeRow, ...]
    hidden_by_hideable: tuple[TimeRow, ...]

    def as_json(self) -> dict[str, Any]:
        """A JSON object; times and shares are rounded to a millionth."""
        rows = {name: [_row(row) for row in getattr(self, name)] for name in ("hidden_by_lead", "hidden_by_hideable")}
        plain = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {name: _rounded(value) for name, value in (plain | rows).items()}


class Answers:
    """An event sink that keeps the answered search calls."""

    def __init__(self) -> None:
        self.events: list[SearchCallAnswered] = []

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, SearchCallAnswered):
            self.events.append(event)


def measures(
    file: str,
    report: Report,
    answers: Iterable[SearchCallAnswered],
    *,
    episodes: int,
    skipped_lines: int,
    verbatim: int,
    wrong: int,
    cost: float,
    value_of_second: float,
) -> FileMeasures:
    """Put the figures together.

    Args:
        file: its name.
        report: the machine's own counts.
        answers: its answered search calls.
        episodes: runs played.
        skipped_lines: malformed lines.
        verbatim: search calls whose query stands in the step's thought.
        wrong: wrong answers, by the oracle's count.
        cost: of one call.
        value_of_second: in the unit of ``cost``.
    """
    calls = max(1, report.search_calls)
    answers = list(answers)
    return FileMeasures(
        file=file,
        episodes=episodes,
        skipped_lines=skipped_lines,
        steps=report.steps,
        search_calls=report.search_calls,
        coverage=report.coverage,
        coverage_reasoning=report.served_reasoning / calls,
        coverage_sealed=report.served_sealed / calls,
        coverage_reuse=report.served_reuse / calls,
        verbatim_ceiling=verbatim / calls,
        accuracy=report.accuracy,
        timeliness=report.timeliness,
        amplification=report.amplification,
        speculations=report.speculations,
        false_starts=report.false_starts,
        hidden_seconds=report.hidden_seconds,
        hideable_seconds=report.hideable_seconds,
        net_value=report.hidden_seconds * value_of_second - (report.speculations - report.served_speculations) * cost,
        wrong_answers=wrong,
        hidden_by_lead=_rows((each for each in answers if each.speculation_id), lambda each: each.lead_seconds),
        hidden_by_hideable=_rows(answers, lambda each: each.hideable_seconds),
    )


def _rows(answers: Iterable[SearchCallAnswered], seconds: Callable[[SearchCallAnswered], float]) -> tuple[TimeRow, ...]:
    answers = list(answers)
    rows: list[TimeRow] = []
    for first, last in itertools.pairwise(EDGES):
        held = [each for each in answers if first <= seconds(each) + _SLACK < last]
        rows.append(
            TimeRow(
                from_seconds=first,
                to_seconds=last if last < math.inf else None,
                search_calls=len(held),
                hidden_seconds=math.fsum(each.hidden_seconds for each in held),
                hideable_seconds=math.fsum(each.hideable_seconds for each in held),
            )
        )
    return tuple(rows)


def _row(row: TimeRow) -> dict[str, Any]:
    values = {**dataclasses.asdict(row), "hidden_share": row.hidden_share}
    return {name: _rounded(value) for name, value in values.items()}


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value
