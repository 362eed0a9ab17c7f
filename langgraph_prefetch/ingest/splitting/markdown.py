"""Cutting Markdown: a section is a piece, code and tables stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from langgraph_prefetch.ingest.sources.metadata import metadata_bytes
from langgraph_prefetch.ingest.sources.shapes import Document
from langgraph_prefetch.ingest.splitting.columns import pieces
from langgraph_prefetch.ingest.splitting.recursive import OVERLAP, SIZE, require_sizes
from langgraph_prefetch.ingest.splitting.shapes import Pieces, Span
from langgraph_prefetch.ingest.splitting.spans import Range, spans

_WHOLE = frozenset({"fence", "code_block", "table_open", "html_block"})
_LINE_END = re.compile(r"\r\n|\n|\r")
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text from one heading to the next, and the headings it is under, outermost first."""

    start: int
    end: int
    headings: tuple[str, ...]
    kept: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownSplitter:
    """Cuts at headings, and what is between two of them as plain text, but not inside code and tables that fit.

    Only headings of the document itself count, not those in quotes, lists or code. A heading with nothing under it goes
    with the next. The metadata of a piece name the headings it is under: ``headings``, a list, outermost first.

    Attributes:
        size: of a piece, in characters, at most.
        overlap: how many characters of its own section a piece repeats at most; up to half of ``size``.
    """

    size: int = SIZE
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        require_sizes(self.size, self.overlap)

    @property
    def identity(self) -> str:
        """Its name, version and options."""
        return f"markdown/1 size={self.size} overlap={self.overlap}"

    def spans(self, text: str) -> list[Span]:
        """The pieces of a text by offsets, blanks included: nothing is lost."""
        return [span for section in sections(text) for span in self._of(text, section)]

    def split(self, documents: Sequence[Document]) -> Pieces:
        """The pieces of all documents."""
        sources, texts, metadatas = [], [], []
        for document in documents:
            text = document.text
            for section in sections(text):
                metadata = metadata_bytes(_under(section.headings, document.metadata))
                for span in self._of(text, section):
                    if piece := text[span.start : span.end].strip():
                        sources.append(document.source)
                        texts.append(piece)
                        metadatas.append(metadata)
        return pieces(sources, texts, metadatas)

    def _of(self, text: str, section: Section) -> Iterator[Span]:
        return spans(text, self.size, self.overlap, start=section.start, end=section.end, kept=section.kept)


def _under(headings: tuple[str, ...], metadata: Any) -> dict[str, Any]:
    return {**metadata, "headings": list(headings)} if headings else dict(metadata)


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order; together they are the text."""
    matter = _FRONT_MATTER.match(text)
    skipped = matter.end() if matter else 0
    lines = [skipped, *(found.end() for found in _LINE_END.finditer(text, skipped)), len(text), len(text)]
    outline = _Outline(text)
    for token, following in _blocks(text[skipped:]):
        first, last = (lines[min(line, len(lines) - 1)] for line in token.map or (0, 0))
        if token.type == "heading_open":
            outline.heading(int(token.tag[1:]), following.content.strip(), first, last)
        elif token.type in _WHOLE:
            outline.kept.append((first, last))
    return outline.closed()


def _blocks(text: str) -> Iterator[tuple[Token, Token]]:
    """The blocks of the outermost level that matter here, each with the token after it."""
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    tokens = parser.parse(text)
    for token, following in pairwise([*tokens, Token("", "", 0)]):
        if token.level == 0 and token.map is not None and (token.type == "heading_open" or token.type in _WHOLE):
            yield token, following


@dataclass(slots=True)
class _Outline:
    """Sections as they are read off, heading by heading."""

    text: str
    kept: list[Range] = field(default_factory=list)
    _sections: list[Section] = field(default_factory=list)
    _path: list[tuple[int, str]] = field(default_factory=list)
    _start: int = 0
    _content: int = 0  # where what is under the last heading begins

    def heading(self, level: int, title: str, first: int, last: int) -> None:
        if self.text[self._content : first].strip():
            self._close(first)
        self._path = [(other, name) for other, name in self._path if other < level] + [(level, title)]
        self._content = last

    def closed(self) -> list[Section]:
        self._close(len(self.text))
        return self._sections

    def _close(self, end: int) -> None:
        if end > self._start:
            headings = tuple(name for _, name in self._path if name)
            self._sections.append(Section(self._start, end, headings, tuple(self.kept)))
        self._start, self.kept = end, []
