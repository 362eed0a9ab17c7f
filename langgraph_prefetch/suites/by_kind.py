"""Times, savings and searches by the questions' labelled types. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import Block, Section, Table, Text
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.groups import dunn, kruskal_wallis
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.cells import corrected_pairs, estimate, tests
from langgraph_prefetch.suites.pairing import Pairs, answered, kinds, pairs, seconds
from langgraph_prefetch.suites.waiting import served


def kinds_section(rows: Sequence[RunRow], *, warm: bool | None = False) -> Section:
    """Times, savings and searches by the questions' labelled types."""
    found = pairs(rows, BARE, WRAPPED, warm=warm)
    names = kinds(rows)
    saved: dict[str, list[float]] = {name: [] for name in names}
    saved |= saved_by_kind(found)
    ratios: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for one, other in zip(found.first, found.second, strict=True):
        if one.kind in ratios:
            ratios[one.kind][0].append(one.seconds)
            ratios[one.kind][1].append(other.seconds)
    wrapped = answered(rows, arm=WRAPPED, warm=warm)
    table = Table(
        caption="By type of question, bare and wrapped",
        head=("type", "pairs", "bare, mean s", "wrapped, mean s", "saved, mean s", "ratio", "served of its searches"),
        rows=tuple(
            (
                name,
                str(len(saved[name])),
                estimate(mean(ratios[name][0])),
                estimate(mean(ratios[name][1])),
                estimate(mean(saved[name])),
                estimate(geometric_mean_ratio(*ratios[name])),
                served([row for row in wrapped if row.kind == name]),
            )
            for name in names
        ),
    )
    if not names:
        return Section(title="By type of question", blocks=(Text(paragraphs=("The questions have no types.",)),))
    blocks: list[Block] = [
        table,
        tests(
            "Whether the types differ",
            [
                ("wrapped seconds", kruskal_wallis(_seconds_by_kind(wrapped, names))),
                ("seconds saved", kruskal_wallis(saved)),
            ],
        ),
        corrected_pairs("Seconds saved, each pair of types (Dunn's test, Holm's correction)", dunn(saved)),
        corrected_pairs(
            "Wrapped seconds, each pair of types (Dunn's test, Holm's correction)",
            dunn(_seconds_by_kind(wrapped, names)),
        ),
    ]
    return Section(title="By type of question", blocks=tuple(blocks))


def saved_by_kind(found: Pairs) -> dict[str, list[float]]:
    """By how many seconds each second run is shorter than its first, by the labelled type of the question."""
    saved: dict[str, list[float]] = {}
    for one, other in zip(found.first, found.second, strict=True):
        if one.kind:
            saved.setdefault(one.kind, []).append(one.seconds - other.seconds)
    return saved


def _seconds_by_kind(rows: Sequence[RunRow], names: Sequence[str]) -> dict[str, list[float]]:
    return {name: [seconds(row) for row in rows if row.kind == name] for name in names}
