"""The formats that can be read, how a file's name tells them, and what a reader is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Literal, get_args

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped

Format = Literal["text", "markdown", "html", "jsonl", "python"]
FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".py": "python",
    ".pyi": "python",
}


def format_of(path: str) -> Format | None:
    """What a file is by the end of its name, upper and lower case alike; None if that says nothing."""
    return SUFFIXES.get(os.path.splitext(path)[1].lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read.

    Attributes:
        format: of all files; ``"auto"`` goes by each file's name, and takes for text a named file whose name says
            nothing. In a folder only the files of the format are read.
        encoding: of files that do not say it themselves (by a byte order mark, an HTML ``charset``, a Python coding
            line); UTF-8 if None. Nothing is guessed.
        max_bytes: of a file, or of a line of JSON; what is larger is skipped.
        follow_links: read what symbolic links in a folder point at; named paths are followed always.
        text_field: the field of a line of JSON that holds the text.
        title_field: the one that holds a title, or None.
        metadata_fields: fields that become metadata; all but the text if None.
        title_in_text: begin a document's text with its title where there is one, since an agent sees the text alone.
    """

    format: Format | Literal["auto"] = "auto"
    encoding: str | None = None
    max_bytes: int = 32 << 20
    follow_links: bool = False
    text_field: str = "text"
    title_field: str | None = "title"
    metadata_fields: tuple[str, ...] | None = None
    title_in_text: bool = True

    def __post_init__(self) -> None:
        if self.format not in ("auto", *FORMATS):
            known = ("auto", *FORMATS)
            hint = did_you_mean(str(self.format), known)
            raise ConfigurationError(f"unknown format {self.format!r}. Formats: {', '.join(known)}.{hint}")
        require_at_least("max_bytes", self.max_bytes, 1)
        if isinstance(self.metadata_fields, str):
            raise ConfigurationError("metadata_fields must be a tuple of names, not one name")

    @property
    def identity(self) -> str:
        """Equal for two only if they read a file of a known format alike."""
        how = (self.encoding, self.text_field, self.title_field, self.metadata_fields, self.title_in_text)
        return repr((how, self.max_bytes))

    def titled(self, title: str, text: str) -> str:
        """The text with its title in front, once."""
        if not title or not self.title_in_text or text.startswith(title):
            return text
        return f"{title}\n\n{text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file to be read: its name in the store, where it is, and its content from the beginning."""

    source: str
    path: str
    file: IO[bytes]
    reading: Reading


Reader = Callable[[Opened], Iterator[Document | Documents | Skipped]]
"""Gives the documents of one file, one by one or many as columns.

Raises:
    UnreadableDocumentError: the file as a whole cannot be read.
"""
