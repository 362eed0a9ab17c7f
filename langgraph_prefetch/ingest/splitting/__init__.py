"""Cutting documents into pieces small enough to embed. Needs the extra ``ingest``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from langgraph_prefetch.errors import MissingExtraError

try:
    import markdown_it  # noqa: F401 - asked for once, here
    import orjson  # noqa: F401
    import pyarrow  # noqa: F401
    import regex  # noqa: F401
except ImportError as error:
    raise MissingExtraError(error.name or "pyarrow", "ingest") from error

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
