"""LangChain's text splitters, and functions from a text to its pieces, as splitters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.metadata import metadata_bytes
from langgraph_prefetch.ingest.sources.shapes import Document
from langgraph_prefetch.ingest.splitting.by_markup import default_splitter
from langgraph_prefetch.ingest.splitting.columns import pieces
from langgraph_prefetch.ingest.splitting.shapes import Pieces, Splitter

Split = Callable[[str], Iterable[str | LangChainDocument]]


@dataclass(frozen=True, slots=True)
class FunctionSplitter:
    """Cuts with a function from a text to its pieces: strings, or LangChain documents whose metadata are added.

    Attributes:
        function: it is called by several threads at once.
        identity: must change when the function gives other pieces; the function's name and, of a LangChain splitter,
            its options.
    """

    function: Split
    identity: str

    def split(self, documents: Sequence[Document]) -> Pieces:
        """The pieces of all documents, blank ones left out."""
        columns = Documents.of(documents)
        found = [
            row
            for document, metadata in zip(columns, columns.metadatas, strict=True)
            for row in self._rows(document, metadata)
        ]
        sources, texts, metadatas = zip(*found, strict=True) if found else ((), (), ())
        return pieces(sources, texts, metadatas)

    def _rows(self, document: Document, plain: bytes) -> Iterator[tuple[str, str, bytes]]:
        for piece in self.function(document.text):
            if isinstance(piece, str):
                text, metadata = piece, plain
            else:
                text = piece.page_content
                metadata = metadata_bytes({**document.metadata, **piece.metadata}) if piece.metadata else plain
            if text and not text.isspace():
                yield document.source, text, metadata


def as_splitter(given: Any) -> Splitter:
    """A splitter as it is; a LangChain text splitter; a function from a text to its pieces; the default for None.

    Raises:
        ConfigurationError: it is none of these.
    """
    if given is None:
        return default_splitter()
    if isinstance(given, Splitter):
        return given
    if callable(getattr(given, "create_documents", None)):
        return FunctionSplitter(lambda text: given.create_documents([text]), _identity(given))
    if callable(getattr(given, "split_text", None)):
        return FunctionSplitter(given.split_text, _identity(given))
    if callable(given):
        return FunctionSplitter(given, _name(given))
    raise ConfigurationError(
        f"a splitter is a LangChain text splitter, a function from a text to its pieces or an object with "
        f"split(documents) and identity, not {type(given).__name__}"
    )


def _identity(splitter: object) -> str:
    options: Mapping[str, Any] = getattr(splitter, "__dict__", {})
    shown = ", ".join(f"{name}={_shown(value)}" for name, value in sorted(options.items()))
    return f"{_name(type(splitter))}({shown})"


def _shown(value: object) -> str:
    # What has no value to show must at least be shown the same in every process.
    if isinstance(value, list | tuple):
        return f"[{', '.join(_shown(each) for each in value)}]"
    return repr(value) if isinstance(value, str | int | float | bool | None) else _name(value)


def _name(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', '')}"
