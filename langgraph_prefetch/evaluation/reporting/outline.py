"""What every report holds beside its sections, in the same words in each form."""

from __future__ import annotations

from langgraph_prefetch.evaluation.reporting.values import Figure, SuiteReport, Summary

SUMMARY_HEAD = ("Of", "figure", "value", "note")
NOT_MEASURED = "not measured by this suite"
EXPLORATORY = "None was written down: what follows explores, and confirms nothing."


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
