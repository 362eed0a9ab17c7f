"""Rows sorted into what is compared. Pure; a run without an answer is in none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.rows import RunRow, SearchRow

Measure = Callable[[RunRow], float]


def seconds(row: RunRow) -> float:
    """From the question to the last token."""
    return row.seconds


@dataclass(frozen=True, slots=True)
class Pairs:
    """One question asked of two arms in the same batch, repeat and state of their caches."""

    first: tuple[RunRow, ...]
    second: tuple[RunRow, ...]

    def of(self, measure: Measure = seconds) -> tuple[list[float], list[float]]:
        """The measure of both, pair by pair."""
        return [measure(row) for row in self.first], [measure(row) for row in self.second]

    def by_question(self, measure: Measure = seconds) -> tuple[list[float], list[float]]:
        """The measure of both, the mean over all pairs of a question: questions are what was drawn independently."""
        names = list(dict.fromkeys(row.question_id for row in self.first))
        return [_mean(self.first, name, measure) for name in names], [
            _mean(self.second, name, measure) for name in names
        ]


def answered(rows: Iterable[RunRow], *, arm: str | None = None, warm: bool | None = None) -> list[RunRow]:
    """Runs with an answer, of one arm and one state where given."""
    return [
        row
        for row in rows
        if row.error is None and (arm is None or row.arm == arm) and (warm is None or row.warm == warm)
    ]


def pairs(rows: Iterable[RunRow], first: str, second: str, *, warm: bool | None = None) -> Pairs:
    """All pairs of two arms of which both runs have an answer, in the order of the first's places."""
    kept = list(rows)
    others = {_place(row): row for row in answered(kept, arm=second, warm=warm)}
    found = [(row, others[_place(row)]) for row in answered(kept, arm=first, warm=warm) if _place(row) in others]
    return Pairs(tuple(one for one, _ in found), tuple(other for _, other in found))


def kinds(rows: Iterable[RunRow]) -> tuple[str, ...]:
    """The labelled types of questions, in the order of their first run; without those that have none."""
    return tuple(dict.fromkeys(row.kind for row in rows if row.kind))


def searches(rows: Iterable[RunRow]) -> list[SearchRow]:
    """All search calls."""
    return [search for row in rows for search in row.searches]


def median_run(rows: Sequence[RunRow]) -> RunRow | None:
    """The run in the middle, by its time; None of no runs."""
    ordered = sorted(rows, key=seconds)
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def _place(row: RunRow) -> tuple[str, int, int, bool]:
    return (row.question_id, row.batch, row.repeat, row.warm)


def _mean(rows: Sequence[RunRow], name: str, measure: Measure) -> float:
    found = [measure(row) for row in rows if row.question_id == name]
    return sum(found) / len(found)
