"""What a splitter does, and the columns it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from langgraph_prefetch.ingest.sources.shapes import Document

PIECES: pa.Schema = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("metadata", pa.string(), nullable=False),
    ]
)
"""The columns of pieces: the name of the document's source, the piece's text, and its metadata as a JSON object.

They are the columns of those names that a ``PassageWriter`` takes, so they pass from here to the store unconverted.
"""

Pieces = pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, by character offsets: ``text[start:end]``, ``text[start:body]`` being repeated from before.

    The bodies of a text's spans, joined, are the text: nothing is lost, and the order is kept.
    """

    start: int
    body: int
    end: int


@runtime_checkable
class Splitter(Protocol):
    """Cuts documents into pieces small enough to embed. Used by several threads at once."""

    @property
    def identity(self) -> str:
        """Equal for two splitters only if they cut every text alike; part of what a ledger remembers."""
        ...

    def split(self, documents: Sequence[Document]) -> Pieces:
        """The pieces of all documents, in their order and that of the text, as one batch with the schema ``PIECES``."""
        ...
