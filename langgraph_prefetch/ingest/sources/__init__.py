"""Where documents come from: files of several formats, LangChain loaders, lists."""

from langgraph_prefetch.ingest.sources.coerce import as_source
from langgraph_prefetch.ingest.sources.files import FileSource, files, python_package
from langgraph_prefetch.ingest.sources.formats import FORMATS, Format, Reading
from langgraph_prefetch.ingest.sources.joined import JoinedSource
from langgraph_prefetch.ingest.sources.langchain import DocumentSource
from langgraph_prefetch.ingest.sources.options import ReadingOptions
from langgraph_prefetch.ingest.sources.shapes import Document, Markup, Part, Skipped, Source

__all__ = [
    "FORMATS",
    "Document",
    "DocumentSource",
    "FileSource",
    "Format",
    "JoinedSource",
    "Markup",
    "Part",
    "Reading",
    "ReadingOptions",
    "Skipped",
    "Source",
    "as_source",
    "files",
    "python_package",
]
