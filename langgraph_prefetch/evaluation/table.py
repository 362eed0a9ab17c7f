"""The figures of a replay as text a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from langgraph_prefetch.evaluation.measures import FileMeasures, TimeRow

_HEAD = (
    *("file", "steps", "calls", "coverage", "reasoning", "sealed", "reuse", "verbatim", "accuracy", "timely"),
    *("amplif.", "false starts", "hidden / hideable", "net value", "wrong"),
)


def main_table(files: Iterable[FileMeasures]) -> str:
    """One line a file."""
    return aligned([_HEAD, *(_line(each) for each in files)])


def time_tables(measured: FileMeasures) -> str:
    """The hidden share of one file by lead time, and by what could have been hidden."""
    return (
        f"{_name(measured)}: calls served by a speculation, by lead time (from its dispatch to the call)\n"
        f"{_rows(measured.hidden_by_lead)}\n"
        f"{_name(measured)}: all search calls by hideable time\n"
        f"{_rows(measured.hidden_by_hideable)}"
    )


def _line(each: FileMeasures) -> tuple[str, ...]:
    searches = each.search_calls > 0
    return (
        _name(each),
        str(each.steps),
        str(each.search_calls),
        *(
            _share(share, searches)
            for share in (
                *(each.coverage, each.coverage_reasoning, each.coverage_sealed, each.coverage_reuse),
                each.verbatim_ceiling,
            )
        ),
        _share(each.accuracy, each.speculations > 0),
        _share(each.timeliness, each.coverage > 0),
        f"{each.amplification:.2f}" if searches else "-",
        str(each.false_starts),
        f"{each.hidden_seconds:.1f} / {each.hideable_seconds:.1f} s",
        f"{each.net_value:.1f}",
        str(each.wrong_answers),
    )


def _rows(rows: Iterable[TimeRow]) -> str:
    lines = [
        (
            f"  >= {row.from_seconds:.1f} s" if row.to_seconds is None else f"  < {row.to_seconds:.1f} s",
            f"{row.search_calls} calls",
            f"{row.hidden_seconds:.1f} / {row.hideable_seconds:.1f} s hidden",
            _share(row.hidden_share, row.hideable_seconds > 0),
        )
        for row in rows
    ]
    return aligned(lines)


def _name(each: FileMeasures) -> str:
    return Path(each.file).name


def _share(share: float, known: bool) -> str:
    return f"{share:.1%}" if known else "-"


def aligned(lines: Sequence[tuple[str, ...]]) -> str:
    """Lines of cells as a table in plain text: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
