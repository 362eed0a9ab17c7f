"""Cutting plain text: at the best border that leaves a piece full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.shapes import Document
from langgraph_prefetch.ingest.splitting.columns import pieces
from langgraph_prefetch.ingest.splitting.shapes import Pieces, Span
from langgraph_prefetch.ingest.splitting.spans import spans

SIZE = 1_000
OVERLAP = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveSplitter:
    """Cuts texts after paragraphs, else sentences, lines, words, and only then anywhere between two characters.

    Blanks at both ends of a piece are left out, and so are pieces that are nothing else.

    Attributes:
        size: of a piece, in characters, at most. 1,000 are about 250 tokens, what small embedding models read.
        overlap: how many characters before it a piece repeats at most; up to half of ``size``.
    """

    size: int = SIZE
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        require_sizes(self.size, self.overlap)

    @property
    def identity(self) -> str:
        """Its name, version and options."""
        return f"recursive/1 size={self.size} overlap={self.overlap}"

    def spans(self, text: str) -> list[Span]:
        """The pieces of a text by offsets, blanks included: nothing is lost."""
        return list(spans(text, self.size, self.overlap))

    def split(self, documents: Sequence[Document]) -> Pieces:
        """The pieces of all documents."""
        columns = Documents.of(documents)
        found = list(map(str.strip, columns.texts))
        if max(map(len, columns.texts), default=0) <= self.size and all(found):
            return pieces(columns.sources, found, columns.metadatas)  # as most corpora of passages are
        sources, texts, metadatas = [], [], []
        for text, whole, source, metadata in zip(columns.texts, found, columns.sources, columns.metadatas, strict=True):
            cut = [whole] if len(text) <= self.size else self._cut(text)
            for piece in cut:
                if piece:
                    sources.append(source)
                    texts.append(piece)
                    metadatas.append(metadata)
        return pieces(sources, texts, metadatas)

    def _cut(self, text: str) -> list[str]:
        return [text[span.start : span.end].strip() for span in spans(text, self.size, self.overlap)]


def require_sizes(size: int, overlap: int) -> None:
    """Raise ``ConfigurationError`` unless pieces of that size and overlap can be made."""
    require_at_least("size", size, 1)
    require_at_least("overlap", overlap, 0)
    if overlap * 2 > size:
        raise ConfigurationError(f"overlap must be at most half of size, {size // 2}, not {overlap}")
