"""A report as values: sections of text, tables and plots, and one closing table of speed, quality and cost.

The ``note`` of a table or plot is a sentence that stands under it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langgraph_prefetch.evaluation.statistics.values import ReliabilityBin as ReliabilityBin
from langgraph_prefetch.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Plain paragraphs, one a string; no markup."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as they are to be read. The first column names the row; the others are figures."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributions:
    """A distribution for each series, such as the seconds of each arm."""

    caption: str
    unit: str
    series: Mapping[str, tuple[float, ...]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifferences:
    """The difference of each pair; below 0 the second arm needed less."""

    caption: str
    unit: str
    first: str
    second: str
    differences: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How predicted probabilities compare with what happened."""

    caption: str
    series: Mapping[str, tuple[ReliabilityBin, ...]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedBars:
    """Amounts that add up, such as the components of a cost: bar -> component -> amount."""

    caption: str
    unit: str
    bars: Mapping[str, Mapping[str, float]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Curves over one axis, such as a sweep of a threshold."""

    caption: str
    x: str
    y: str
    series: Mapping[str, tuple[tuple[float, float], ...]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeline:
    """One run drawn from its events."""

    caption: str
    events: tuple[Event, ...]
    note: str = ""


Block = Text | Table | Distributions | PairedDifferences | Reliability | StackedBars | Lines | RunTimeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A line of the closing table, such as ``end to end, median``: ``value`` as it is to be read, interval included."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The closing table. An empty part says that the suite does not measure it."""

    speed: tuple[Figure, ...] = ()
    quality: tuple[Figure, ...] = ()
    cost: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReport:
    """All a suite has to say.

    Attributes:
        suite, title: such as ``speed``.
        hypotheses: the primary endpoint and what was expected of it, as they stood in the suite's file before the run.
        settings: what was run, on what, when, with which seed and versions.
        sections: in order.
        summary: the closing table.
        limitations: what these figures do not show; at least one.
        failures: reasons why the suite counts as failed, such as coverage below the one that was set; empty if none.
    """

    suite: str
    title: str
    hypotheses: tuple[str, ...]
    settings: Mapping[str, str]
    sections: tuple[Section, ...]
    summary: Summary
    limitations: tuple[str, ...]
    failures: tuple[str, ...] = field(default=())
