"""What must hold of a report before anything of it is written."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.errors import ReportError
from langgraph_prefetch.evaluation.reporting.values import (
    Figure,
    ReliabilityBin,
    StackedBars,
    SuiteReport,
    Table,
)
from langgraph_prefetch.evaluation.statistics.values import Interval

# A cell that is nothing but figures, units and signs, so that a text about nan bread is one.
_FIGURE = re.compile(
    r"(?:[\s()\[\],;:/%$€=<>≈±\u00d7\u2013\u2014+-]|\d[\d.,]*(?:e[+-]?\d+)?|nan|inf|infinity|to|of|n|p|m?s|USD|EUR)+",
    re.I,
)
_NOT_FINITE = re.compile(r"(?<![a-z])(?:nan|inf|infinity)(?![a-z])", re.I)


def check(report: SuiteReport) -> None:
    """Look at all of it.

    Raises:
        ReportError: a figure that is not finite, a row that does not fit its table, amounts that cannot be stacked, a
            probability outside 0 to 1, or no limitations; the message says where.
    """
    if not report.limitations:
        raise ReportError("limitations", "there are none, and every report has some: say what its figures do not show")
    for where, problem in _problems("", report):
        raise ReportError(where, problem)


def _problems(where: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, float) and not math.isfinite(value):
        yield where, f"{value} is no figure: leave the value out, and say why it is missing"
    elif isinstance(value, tuple):
        for at, each in enumerate(value):
            yield from _problems(f"{where}[{at}]", each)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _problems(f"{where}[{str(key)[:60]!r}]", each)
    elif dataclasses.is_dataclass(value):
        yield from _own(where, value)
        for field in dataclasses.fields(value):
            yield from _problems(f"{where}.{field.name}".removeprefix("."), getattr(value, field.name))


def _own(where: str, value: Any) -> Iterator[tuple[str, str]]:
    """What a kind of value promises beyond its types."""
    match value:
        case Table(head=head, rows=rows):
            for at, row in enumerate(rows):
                if len(row) != len(head):
                    yield f"{where}.rows[{at}]", f"{len(row)} cells under a head of {len(head)}"
                for column, cell in enumerate(row[1:], 1):
                    yield from _cell(f"{where}.rows[{at}][{column}]", cell)
        case Figure(value=text):
            yield from _cell(f"{where}.value", text)
        case ReliabilityBin(predicted=predicted, observed=observed, n=n):
            if not (0 <= predicted <= 1 and 0 <= observed <= 1) or n < 0:
                yield where, f"predicted {predicted}, observed {observed}, n {n}: shares are from 0 to 1, and n from 0"
        case Interval(low=low, high=high) if low > high:
            yield where, f"{low} to {high} is no interval"
        case StackedBars(bars=bars):
            for bar, parts in bars.items():
                if any(amount < 0 for amount in parts.values()):
                    yield f"{where}.bars[{bar[:60]!r}]", "an amount below 0 cannot be stacked"


def _cell(where: str, text: str) -> Iterator[tuple[str, str]]:
    if _NOT_FINITE.search(text) and _FIGURE.fullmatch(text):
        yield where, f"{text!r} is no figure: say why there is none"
