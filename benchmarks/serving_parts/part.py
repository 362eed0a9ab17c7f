"""What a part of the serving benchmark gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.reporting.values import Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as they are to be read; the first column names the row."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def text(self) -> str:
        """Aligned for a terminal."""
        cells = [self.head, *self.rows]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.head))]
        lines = [
            "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(pairs))
            for pairs in (list(zip(row, widths, strict=True)) for row in cells)
        ]
        return "\n".join([self.caption, *(f"  {line.rstrip()}" for line in lines), *([self.note] if self.note else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was promised."""

    what: str
    measured: str
    wanted: str
    kept: bool

    def text(self) -> str:
        return f"{'kept' if self.kept else 'MISSED'}: {self.what}: {self.measured} (wanted: {self.wanted})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tables, checks, the figures behind them as plain values, and plots for a report."""

    name: str
    tables: Sequence[Table]
    checks: Sequence[Check]
    figures: dict[str, Any] = field(default_factory=dict)
    plots: Sequence[Lines] = ()

    def text(self) -> str:
        return "\n\n".join(
            [f"== {self.name}", *(each.text() for each in self.tables), "\n".join(each.text() for each in self.checks)]
        )

    def as_json(self) -> dict[str, Any]:
        return {"checks": [asdict(each) for each in self.checks], "figures": self.figures}
