"""What every report holds beside its sections, in the same words in each form."""

from __future__ import annotations

import re

from langgraph_prefetch.evaluation.reporting.values import Figure, SuiteReport, Summary, Table

_FIGURE = re.compile(r"(?:at (?:least|most) )?[<>≈+-]?\s?\d|(?:none|unknown)\b|$")
_SHORT = 26

SUMMARY_HEAD = ("Of", "figure", "value", "note")
NOT_MEASURED = "not measured by this suite"
EXPLORATORY = "None was written down: what follows explores, and confirms nothing."


def figure_columns(table: Table) -> tuple[bool, ...]:
    """Of each column, whether it holds short figures alone and so is set to the right; the first names the rows."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.head)
    return (False, *(all(_FIGURE.match(cell) and len(cell) < _SHORT for cell in column) for column in columns[1:]))


def failure_title(report: SuiteReport) -> str:
    """What stands at the top of a suite that failed."""
    count = len(report.failures)
    return f"This suite failed, for {count} reason{'' if count == 1 else 's'}"


def hypotheses(report: SuiteReport) -> tuple[str, ...]:
    """As they stood before the run, or that there were none."""
    return report.hypotheses or (EXPLORATORY,)


def summary_rows(summary: Summary) -> tuple[tuple[str, ...], ...]:
    """The closing table."""
    parts = {"Speed": summary.speed, "Quality": summary.quality, "Cost": summary.cost}
    return tuple(row for part, figures in parts.items() for row in _rows(part, figures))


def _rows(part: str, figures: tuple[Figure, ...]) -> tuple[tuple[str, ...], ...]:
    if not figures:
        return ((part, NOT_MEASURED, "", ""),)
    return tuple((part, each.name, each.value, each.note) for each in figures)
