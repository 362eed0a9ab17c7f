"""Text and Markdown: a file is a document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import BLANK, decode
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.formats import Opened
from langgraph_prefetch.ingest.sources.shapes import Document, Markup

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def read_text(opened: Opened) -> Iterator[Document]:
    """The file as one document."""
    yield _document(opened, markup="plain")


def read_markdown(opened: Opened) -> Iterator[Document]:
    """The file as one document, with the heading it begins with as its title."""
    yield _document(opened, markup="markdown")


def _document(opened: Opened, *, markup: Markup) -> Document:
    data = opened.file.read()
    text = decode(data, opened.reading.encoding).strip()
    if not text:
        raise UnreadableDocumentError(BLANK)
    title = _title(text) if markup == "markdown" else None
    return Document(
        source=opened.source,
        text=text,
        metadata={"title": title} if title else {},
        fingerprint=fingerprint(data),
        markup=markup,
    )


def _title(text: str) -> str | None:
    matter = _FRONT_MATTER.match(text)
    start = matter.end() if matter else 0
    while text[start : start + 1] == "\n":
        start += 1
    heading = _HEADING.match(text, start)
    return None if heading is None else _without_end(text[heading.end() :].partition("\n")[0].strip())


def _without_end(title: str) -> str:
    """A heading's title without the signs that may close it."""
    bare = title.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else title
