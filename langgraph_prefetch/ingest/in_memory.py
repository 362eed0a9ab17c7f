"""Documents that are all in memory: told unchanged by their hashes alone, made ours only where they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint_of_two
from langgraph_prefetch.ingest.sources.langchain import check_text
from langgraph_prefetch.ingest.sources.metadata import metadata_bytes
from langgraph_prefetch.ingest.sources.names import SURELY_SHORT, source_name
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped
from langgraph_prefetch.ingest.units import joined

Given = LangChainDocument | Document


class Gathered:
    """Documents by source, and the fingerprint of each, without an object of ours for any of them.

    Args:
        given: the documents.
        source_key: where in a LangChain document's metadata its source is named.
        skip: is told of documents that cannot be hashed.

    Attributes:
        sources: at the place of its first document, each source with the places of all of them; of its only one, as
            nearly all have.
    """

    def __init__(self, given: Sequence[Given], source_key: str, skip: Callable[[Skipped], None]) -> None:
        self._given = given
        self._marks: list[bytes] = []
        self.sources: dict[str, int | list[int]] = {}
        found = self.sources
        for number, each in enumerate(given):
            if isinstance(each, Document):
                source, mark = each.source, each.fingerprint
            else:
                metadata = each.metadata
                try:
                    told = metadata_bytes(metadata)
                except UnreadableDocumentError as error:
                    skip(Skipped(where=_where(number), reason=str(error)))
                    self._marks.append(b"")
                    continue
                mark = fingerprint_of_two(each.page_content.encode("utf-8", "surrogatepass"), told)
                named = metadata.get(source_key) or each.id
                source = str(named) if named else f"document:{mark.hex()}"
            if len(source) > SURELY_SHORT:
                source = source_name(source)
            self._marks.append(mark)
            if source not in found:
                found[source] = number
            elif isinstance(places := found[source], list):
                places.append(number)
            else:
                found[source] = [places, number]

    def fingerprint(self, source: str) -> bytes:
        """That of a source's only document, the one that ``DocumentSource`` gives it, or of all in their order."""
        places = self.sources[source]
        return self._marks[places] if isinstance(places, int) else joined([self._marks[each] for each in places])

    def documents(self, source: str) -> Iterator[Document | Skipped]:
        """A source's documents, those that no store could keep left out."""
        places = self.sources[source]
        for number in [places] if isinstance(places, int) else places:
            each = self._given[number]
            text = each.text if isinstance(each, Document) else each.page_content
            try:
                check_text(text)
            except UnreadableDocumentError as error:
                yield Skipped(where=_where(number), reason=str(error))
                continue
            if isinstance(each, Document):
                yield each if each.source == source else replace(each, source=source)
            else:
                yield Document(source=source, text=text, metadata=each.metadata, fingerprint=self._marks[number])


def _where(number: int) -> str:
    return f"document {number + 1}"
