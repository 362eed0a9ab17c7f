"""Cutting documents into pieces small enough to embed."""

from langgraph_prefetch.ingest.splitting.shapes import PIECES, Pieces, Span, Splitter

__all__ = ["PIECES", "Pieces", "Span", "Splitter"]
