"""Where documents come from: files of several formats, LangChain loaders, lists."""

from langgraph_prefetch.ingest.sources.shapes import Document, Markup, Part, Skipped, Source

__all__ = ["Document", "Markup", "Part", "Skipped", "Source"]
