"""Figures beside the limits that they are held to, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

NOTHING = "nothing measured"
"""Said where a run gave nothing to measure; a limit is not held by that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row.

    Attributes:
        measure: what was measured.
        limit: what it is held to, or what is known of it elsewhere.
        measured: the figure, with its unit.
        held: whether the limit is held; None: it is only printed.
        timeless: its limit holds in every right run, however small it is and however busy the machine.
    """

    measure: str
    limit: str
    measured: str
    held: bool | None = None
    timeless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part of the benchmark found; ``details`` are for those who look closer."""

    title: str
    figures: Sequence[Figure]
    details: Any = None

    @property
    def held(self) -> bool:
        """No limit is broken."""
        return all(figure.held is not False for figure in self.figures)

    def text(self) -> str:
        """A table in Markdown."""
        lines = [f"{self.title}\n", "| measure | limit | measured | |", "|---|---|---|---|"]
        verdicts = {True: "held", False: "NOT HELD", None: ""}
        lines += [
            f"| {each.measure} | {each.limit} | {each.measured} | {verdicts[each.held]} |" for each in self.figures
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        figures = [asdict(each) for each in self.figures]
        return {"title": self.title, "held": self.held, "figures": figures, "details": self.details}
