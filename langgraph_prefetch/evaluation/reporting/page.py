"""A report as one self-contained page: nothing is loaded, nothing runs, and no text of it can become markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.evaluation.reporting.outline import (
    SUMMARY_HEAD,
    failure_title,
    figure_columns,
    hypotheses,
    summary_rows,
)
from langgraph_prefetch.evaluation.reporting.plain import MAX_CELL, MAX_PARAGRAPH, MAX_ROWS, clipped
from langgraph_prefetch.evaluation.reporting.plots.draw import Drawn, drawn
from langgraph_prefetch.evaluation.reporting.values import Block, SuiteReport, Table, Text
from langgraph_prefetch.evaluation.reporting.words import Described, described

try:
    import jinja2
    from markupsafe import Markup
except ImportError as error:
    raise MissingExtraError(error.name or "jinja2", "eval") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A block as the template wants it."""

    kind: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    caption: str = ""
    words: Described | None = None
    pictures: Drawn | None = None
    note: str = ""


def to_page(report: SuiteReport) -> str:
    """The page, as HTML."""
    names = (f"p{number}" for number in count(1))
    style = _text("page.css")
    return _template().render(
        report=report,
        policy=f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - a file of this package
        failure_title=failure_title(report),
        hypotheses=hypotheses(report),
        settings=Table(caption="What was run", head=("Setting", "Value"), rows=tuple(report.settings.items())),
        sections=[(section.title, [_part(block, names) for block in section.blocks]) for section in report.sections],
        summary=Table(
            caption="Speed, quality and cost in one table", head=SUMMARY_HEAD, rows=summary_rows(report.summary)
        ),
    )


def _part(block: Block, names: Iterator[str]) -> _Part:
    if isinstance(block, Text):
        return _Part(kind="text", paragraphs=block.paragraphs)
    if isinstance(block, Table):
        return _Part(kind="table", table=block)
    words = described(block)
    pictures = drawn(block, name=next(names), description=words.sentence) if words.table else None
    return _Part(kind="plot", caption=block.caption, words=words, pictures=pictures, note=block.note)


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"cell": _cell, "line": _line, "drawing": Markup}
    environment.globals |= {"MAX_ROWS": MAX_ROWS, "figure_columns": figure_columns}
    return environment.from_string(_text("page.html"))


def _cell(text: str) -> str:
    return clipped(text, MAX_CELL)


def _line(text: str) -> str:
    return clipped(text, MAX_PARAGRAPH)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
