"""Cutting documents into pieces small enough to embed."""

from langgraph_prefetch.ingest.splitting.by_markup import MarkupSplitter, default_splitter
from langgraph_prefetch.ingest.splitting.langchain import FunctionSplitter, as_splitter
from langgraph_prefetch.ingest.splitting.markdown import MarkdownSplitter
from langgraph_prefetch.ingest.splitting.recursive import RecursiveSplitter
from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces, Span, Splitter

__all__ = [
    "PIECES",
    "FunctionSplitter",
    "MarkdownSplitter",
    "MarkupSplitter",
    "Pieces",
    "RecursiveSplitter",
    "Span",
    "Splitter",
    "as_splitter",
    "default_splitter",
]
