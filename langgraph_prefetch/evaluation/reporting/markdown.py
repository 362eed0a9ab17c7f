"""A report as Markdown that stands without pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from langgraph_prefetch.evaluation.reporting.outline import (
    SUMMARY_HEAD,
    failure_title,
    figure_columns,
    hypotheses,
    summary_rows,
)
from langgraph_prefetch.evaluation.reporting.plain import MAX_CELL, MAX_PARAGRAPH, MAX_ROWS, clipped
from langgraph_prefetch.evaluation.reporting.values import Block, Section, SuiteReport, Table, Text
from langgraph_prefetch.evaluation.reporting.words import described

_MARKUP = re.compile(
    r"[\\`*|~$]"  # these mean something anywhere
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word an underscore means nothing
    r"|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])"
    r"|\](?=[(\[:])|^\[|!(?=\[)"
    r"|:(?=//)|(?<=www)\."
)
_START = re.compile(r"^(?:[#>+=-]|\d+(?=[.)](?: |$)))")


def to_markdown(report: SuiteReport) -> str:
    """The report. Nothing in it that comes from data is read as markup."""
    return "\n\n".join(_parts(report)) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = in_cell(text)
    return _START.sub(lambda found: found[0] + "\\" if found[0].isdigit() else "\\" + found[0], text)


def in_cell(text: str) -> str:
    """Text that Markdown shows as it is where no line begins."""
    return _MARKUP.sub(r"\\\g<0>", text)


def _parts(report: SuiteReport) -> Iterator[str]:
    yield f"# {_line(report.title)}"
    if report.failures:
        yield f"> **{failure_title(report)}**\n>\n{_items(report.failures, quoted=True)}"
    yield "## Hypotheses, written before the run"
    yield _items(hypotheses(report))
    if report.settings:
        yield "## What was run"
        yield from _table(Table(caption="", head=("Setting", "Value"), rows=tuple(report.settings.items())))
    for section in report.sections:
        yield from _section(section)
    yield "## Speed, quality and cost"
    yield from _table(Table(caption="", head=SUMMARY_HEAD, rows=summary_rows(report.summary)))
    yield "### Limitations"
    yield _items(report.limitations)


def _section(section: Section) -> Iterator[str]:
    yield f"## {_line(section.title)}"
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield from map(_line, block.paragraphs)
        return
    if isinstance(block, Table):
        yield from _table(block)
        return
    words = described(block)
    yield f"**{_line(block.caption)}.** {_line(words.sentence)}"
    if words.table is not None:
        yield from _table(words.table, captioned=False)
    if block.note:
        yield _line(block.note)


def _table(table: Table, *, captioned: bool = True) -> Iterator[str]:
    if captioned and table.caption:
        yield f"**{_line(table.caption)}**"
    if not table.rows:
        yield "No rows."
    else:
        lines = [table.head, *table.rows[:MAX_ROWS]]
        rule = "|".join("---:" if each else "---" for each in figure_columns(table))
        written = ["| " + " | ".join(in_cell(clipped(cell, MAX_CELL)) or " " for cell in line) + " |" for line in lines]
        yield "\n".join([written[0], f"|{rule}|", *written[1:]])
    if len(table.rows) > MAX_ROWS:
        yield f"The first {MAX_ROWS} of {len(table.rows):,} rows; all are in `report.json`."
    if table.note:
        yield _line(table.note)


def _line(text: str) -> str:
    return escaped(clipped(text, MAX_PARAGRAPH))


def _items(texts: Iterable[str], *, quoted: bool = False) -> str:
    return "\n".join(f"{'> ' if quoted else ''}- {_line(text)}" for text in texts)
