"""What the serving benchmark found as one report: tables beside the published figures, plots, and what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.serving_parts.part import Check, Part
from benchmarks.serving_parts.part import Table as PartTable
from langgraph_prefetch.evaluation.reporting import write_report
from langgraph_prefetch.evaluation.reporting.values import Block, Figure, Section, SuiteReport, Summary, Table

LIMITATIONS = (
    "Published figures are those of other systems on other machines; each table says why ours differ.",
    "Live parts run on one machine: what else it does is in their figures.",
)


def write(parts: Sequence[Part], folder: Path, *, short: bool, seed: int) -> None:
    """``report.md``, ``report.json`` and ``report.html`` with the plots.

    Raises:
        ReportError: the folder cannot be written.
        MissingExtraError: what draws the plots is not installed.
    """
    checks = [check for part in parts for check in part.checks]
    report = SuiteReport(
        suite="serving",
        title="Serving under load",
        hypotheses=tuple(f"{each.what}: {each.wanted}" for each in checks),
        settings={"scale": "short" if short else "full", "seed": str(seed)},
        sections=tuple(Section(title=part.name, blocks=_blocks(part)) for part in parts),
        summary=Summary(speed=tuple(map(_figure, checks))),
        limitations=LIMITATIONS,
        failures=tuple(each.text() for each in checks if not each.kept),
    )
    write_report(report, folder)


def _blocks(part: Part) -> tuple[Block, ...]:
    return (*map(_table, part.tables), *part.plots)


def _table(each: PartTable) -> Table:
    return Table(caption=each.caption, head=each.head, rows=each.rows, note=" ".join(each.note.split("\n")))


def _figure(check: Check) -> Figure:
    return Figure(name=check.what, value=check.measured, note=f"{'kept' if check.kept else 'missed'}: {check.wanted}")
