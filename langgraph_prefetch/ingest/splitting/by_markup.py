"""Cutting each document as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.shapes import Document
from langgraph_prefetch.ingest.splitting.columns import pieces
from langgraph_prefetch.ingest.splitting.markdown import MarkdownSplitter
from langgraph_prefetch.ingest.splitting.recursive import OVERLAP, SIZE, RecursiveSplitter
from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces, Splitter


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkupSplitter:
    """One splitter for Markdown and another for everything else, by the documents' ``markup``."""

    plain: Splitter = field(default_factory=RecursiveSplitter)
    markdown: Splitter = field(default_factory=MarkdownSplitter)

    @property
    def identity(self) -> str:
        """Those of both."""
        return f"by markup: {self.plain.identity}; {self.markdown.identity}"

    def split(self, documents: Sequence[Document]) -> Pieces:
        """The pieces of all documents."""
        columns = Documents.of(documents)
        batches, start = [], 0
        for markup, run in groupby(columns.markups):
            end = start + sum(1 for _ in run)
            batches.append((self.markdown if markup == "markdown" else self.plain).split(columns[start:end]))
            start = end
        if len(batches) == 1:
            return batches[0]
        joined = pa.Table.from_batches(batches, PIECES).combine_chunks().to_batches()
        return joined[0] if joined else pieces([], [], [])


def default_splitter(*, size: int = SIZE, overlap: int = OVERLAP) -> MarkupSplitter:
    """What ``ingest`` cuts with unless told otherwise.

    Raises:
        ConfigurationError: ``overlap`` is more than half of ``size``.
    """
    return MarkupSplitter(
        plain=RecursiveSplitter(size=size, overlap=overlap), markdown=MarkdownSplitter(size=size, overlap=overlap)
    )
