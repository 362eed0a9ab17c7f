"""Documents as columns: whole lists of texts and metadata, and no object for a document until somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint_of_two
from langgraph_prefetch.ingest.sources.metadata import metadata_bytes
from langgraph_prefetch.ingest.sources.shapes import Document, Markup, Part, Skipped

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error

MOST_DOCUMENTS, MOST_CHARS = 256, 1_048_576
"""So many documents, or characters of them, are collected before they are passed on."""

_COLUMNS = ("sources", "texts", "metadatas", "mappings", "fingerprints", "markups")


class Documents(Sequence[Document]):
    """A sequence of documents, kept as one list for each of their fields; indexing it makes a ``Document``.

    Attributes:
        sources: their names.
        texts: what they say.
        metadatas: as JSON objects, their keys sorted.
        mappings: the metadata as they were given; None where only the JSON was made.
        fingerprints: None where it is that of text and metadata, and is made on demand.
        markups: how the texts are written.
    """

    __slots__ = _COLUMNS

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.texts: list[str] = []
        self.metadatas: list[bytes] = []
        self.mappings: list[Mapping[str, Any] | None] = []
        self.fingerprints: list[bytes | None] = []
        self.markups: list[Markup] = []

    @classmethod
    def of_source(cls, source: str, texts: list[str], metadatas: list[bytes]) -> Documents:
        """Plain documents of one source; the lists become the columns."""
        made, count = cls(), len(texts)
        made.sources, made.texts, made.metadatas = [source] * count, texts, metadatas
        made.mappings, made.fingerprints, made.markups = [None] * count, [None] * count, ["plain"] * count
        return made

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Documents:
        """Documents that exist as objects; as they are, if they are columns already.

        Raises:
            UnreadableDocumentError: metadata that JSON cannot hold.
        """
        if isinstance(documents, Documents):
            return documents
        made = cls()
        for each in documents:
            made.add(each)
        return made

    def add(self, document: Document) -> None:
        """One more.

        Raises:
            UnreadableDocumentError: metadata that JSON cannot hold; nothing was added.
        """
        metadata = metadata_bytes(document.metadata)
        self.append(document.source, document.text, metadata, document.metadata, document.fingerprint, document.markup)

    def append(
        self,
        source: str,
        text: str,
        metadata: bytes,
        mapping: Mapping[str, Any] | None,
        fingerprint: bytes | None,
        markup: Markup = "plain",
    ) -> None:
        """One more, field by field."""
        self.sources.append(source)
        self.texts.append(text)
        self.metadatas.append(metadata)
        self.mappings.append(mapping)
        self.fingerprints.append(fingerprint)
        self.markups.append(markup)

    def extend(self, other: Documents, start: int, end: int) -> None:
        """Those of ``other[start:end]``, after these."""
        for name in _COLUMNS:
            getattr(self, name).extend(getattr(other, name)[start:end])

    def fingerprint(self, place: int) -> bytes:
        """That of one document."""
        known = self.fingerprints[place]
        if known is None:
            known = fingerprint_of_two(self.texts[place].encode("utf-8", "surrogatepass"), self.metadatas[place])
        return known

    def told(self) -> bytes:
        """The fingerprints of all, one after the other."""
        return b"".join(map(self.fingerprint, range(len(self))))

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> Documents: ...
    def __getitem__(self, place: int | slice) -> Document | Documents:
        if isinstance(place, slice):
            made = Documents()
            for name in _COLUMNS:
                setattr(made, name, getattr(self, name)[place])
            return made
        mapping = self.mappings[place]
        return Document(
            source=self.sources[place],
            text=self.texts[place],
            metadata=orjson.loads(self.metadatas[place]) if mapping is None else mapping,
            fingerprint=self.fingerprint(place),
            markup=self.markups[place],
        )

    def __iter__(self) -> Iterator[Document]:
        return map(self.__getitem__, range(len(self)))


def columns_of(part: Part) -> Iterator[Documents | Skipped]:
    """A part's documents as columns: its own, where it has a method ``columns``, or made of its documents."""
    columns = getattr(part, "columns", None)
    if columns is not None:
        found: Iterator[Documents | Skipped] = columns()
        return found
    return collected(part.documents())


def collected(given: Iterable[Document | Documents | Skipped]) -> Iterator[Documents | Skipped]:
    """Documents that come one by one, some hundred at a time."""
    held, chars = Documents(), 0
    for each in given:
        if isinstance(each, Document):
            try:
                held.add(each)
            except UnreadableDocumentError as error:
                yield Skipped(where=each.source, reason=str(error))
                continue
            chars += len(each.text)
            if len(held) >= MOST_DOCUMENTS or chars >= MOST_CHARS:
                yield held
                held, chars = Documents(), 0
        else:
            yield each
    if held:
        yield held
