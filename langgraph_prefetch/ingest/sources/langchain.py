"""LangChain's loaders and documents as a source, and lists of documents of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import BLANK, NUL, encodable
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.metadata import metadata_json
from langgraph_prefetch.ingest.sources.names import source_name
from langgraph_prefetch.ingest.sources.shapes import Document, Part, Skipped

Given = LangChainDocument | Document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSource:
    """Documents that exist already, or that a LangChain loader gives one by one.

    It is one part without a fingerprint: whether a document changed is found out from what it says.

    Attributes:
        documents: a loader, or any iterable of LangChain documents or of ours; an iterator lasts for one run.
        source_key: where in a LangChain document's metadata its source is named; a document without it is its own
            source, named by its id or by what it says.
    """

    documents: BaseLoader | Iterable[Given]
    source_key: str = "source"

    def parts(self) -> Iterator[Part | Skipped]:
        """The one part."""
        yield DocumentPart(self.documents, self.source_key)


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """All documents of a ``DocumentSource``."""

    _given: BaseLoader | Iterable[Given]
    _source_key: str
    source: str = "documents"
    fingerprint: bytes | None = None

    def documents(self) -> Iterator[Document | Skipped]:
        """The documents, those that no store could keep left out. What a loader raises is passed on."""
        given = self._given.lazy_load() if isinstance(self._given, BaseLoader) else self._given
        for number, each in enumerate(given, start=1):
            try:
                document = _named(each) if isinstance(each, Document) else self._converted(each)
                check_text(document.text)
            except UnreadableDocumentError as error:
                yield Skipped(where=f"document {number}", reason=str(error))
            else:
                yield document

    def _converted(self, given: LangChainDocument) -> Document:
        mark = fingerprint(given.page_content, metadata_json(given.metadata))
        named: Any = given.metadata.get(self._source_key) or given.id
        return Document(
            source=source_name(str(named)) if named else f"document:{mark.hex()}",
            text=given.page_content,
            metadata=given.metadata,
            fingerprint=mark,
        )


def _named(given: Document) -> Document:
    name = source_name(given.source)
    return given if name is given.source else replace(given, source=name)


def check_text(text: str) -> None:
    """A text can be stored.

    Raises:
        UnreadableDocumentError: it is blank, or holds what PostgreSQL cannot keep.
    """
    reason = fault_of(text)
    if reason is not None:
        raise UnreadableDocumentError(reason)


def fault_of(text: str) -> str | None:
    """Why a text cannot be stored, if it cannot."""
    if not text or text.isspace():
        return BLANK
    if "\0" in text:
        return NUL
    if not text.isascii() and not encodable(text):
        return "holds half a surrogate pair, which is no character"
    return None
