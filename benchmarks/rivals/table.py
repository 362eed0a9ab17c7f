"""What the runs came to: every row beside ours, also where we lose."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

REQUIRED = {
    "dask rows, defaults": 5.0,
    "dask rows, best": 4.0,
    "dask copy, best": 1.3,
    "ray copy, best": 5.0,
    "langchain index, defaults": 8.0,
    "langchain index, best": 8.0,
    "langchain aindex, defaults": 8.0,
    "langchain aindex, best": 8.0,
    "llamaindex, defaults": 8.0,
    "llamaindex, best": 8.0,
}
"""How many times as fast as a row ours is to be."""

LINE = "{:34}{:>12}{:>18}{:>11}{:>10}{:>10}{:>7}{:>6}"

Run = dict[str, Any]


def tables(runs: Iterable[Run]) -> str:
    """A table for each corpus, delay and kind of comparison."""
    groups: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in runs:
        if run["purpose"] != "grid":
            groups[run["corpus"], run["delay"], run["purpose"]].append(run)
    return "\n\n".join(_table(key, rows) for key, rows in sorted(groups.items()))


def _table(key: tuple[Any, ...], runs: Sequence[Run]) -> str:
    corpus, delay, purpose = key
    by_row: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_row[run["row"]].append(run)
    ended = [run for run in by_row.get("ours", runs) if "rate" in run]
    ours = statistics.median(run["rate"] for run in ended) if ended else 0.0
    lines = [
        f"{corpus}, {delay * 1_000:.0f} ms a request; {purpose}",
        LINE.format("", "passages/s", "from - to", "ours / it", "at least", "again, s", "MB", "runs"),
    ]
    for row, measured in by_row.items():
        unended = [run["unended"] for run in measured if "unended" in run]
        if unended:
            lines.append(f"{row:34}{'not ended in':>12}{f'{max(unended):.0f} s':>18}")
            continue
        rates = [run["rate"] for run in measured]
        rate = statistics.median(rates)
        least = REQUIRED.get(row) if purpose == "speed" else None
        verdict = "" if least is None else f"{least:.1f} {'ok' if ours / rate >= least else 'NOT'}"
        agains = [run["again"] for run in measured if run["again"] is not None]
        again = f"{statistics.median(agains):.2f}" if agains else "-"
        memory = statistics.median(run["peak_megabytes"] for run in measured)
        spread = f"{min(rates):,.0f} - {max(rates):,.0f}"
        ratio = f"{ours / rate:.2f}"
        lines.append(LINE.format(row, f"{rate:,.0f}", spread, ratio, verdict, again, f"{memory:.0f}", len(rates)))
    return "\n".join([*lines, *_own({row: some for row, some in by_row.items() if all("rate" in run for run in some)})])


def _own(by_row: dict[str, list[Run]]) -> list[str]:
    """What is promised of our own runs alone."""
    lines = []
    for row, runs in by_row.items():
        if not row.startswith("ours"):
            continue
        ratio = statistics.median(run["seconds"] / run["again"] for run in runs)
        rate = statistics.median(run["rate"] * run["seconds"] / run["again"] for run in runs)
        full = max(run["fullest"] for run in runs)
        lines.append(
            f"{row}: unchanged again {ratio:.0f} times as fast (at least 10), {rate:,.0f} passages/s; "
            f"the fullest queue {full:.0%} of its bound"
        )
        errors = [run["model_error"] for run in runs if "model_error" in run]
        if errors:
            off = statistics.median(errors)
            lines.append(f"{row}: cost model, fitted to a part of the corpus, off by {off:.0%} (at most 20 %)")
    memory = [run for runs in by_row.values() for run in runs if "memory" in str(run["settings"])]
    for name, what in (("again", "reading them included"), ("again_at_hand", "documents at hand")):
        theirs = [_again(run, name) for run in memory if run.get(name)]
        mine = [_again(run, name) for run in by_row.get("ours, as documents", ()) if run.get(name)]
        if theirs and mine:
            lines.append(
                f"unchanged again, {what}: {statistics.median(mine):,.0f} passages/s, "
                f"{statistics.median(mine) / max(theirs):.1f} times LangChain's in-memory records (at least 3)"
            )
    return lines


def _again(run: Run, name: str) -> float:
    """Passages a second of a corpus that had not changed."""
    rate: float = run["rate"] * run["seconds"] / run[name]
    return rate
