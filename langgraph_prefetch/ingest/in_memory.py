"""Documents that are all in memory: told unchanged by their hashes alone, many sources at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.fingerprints import SIZE as FINGERPRINT_BYTES
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint_of_two, fingerprints_of_two
from langgraph_prefetch.ingest.sources.langchain import fault_of
from langgraph_prefetch.ingest.sources.metadata import metadata_bytes, metadata_column
from langgraph_prefetch.ingest.sources.names import SURELY_SHORT, source_name
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped
from langgraph_prefetch.ingest.units import joined

Given = LangChainDocument | Document


class Gathered:
    """Documents by source, and the fingerprints of many sources at once, without an object of ours for any of them.

    Args:
        given: the documents.
        source_key: where in a LangChain document's metadata its source is named.
        skip: is told of documents that cannot be hashed, or that no store could keep.

    Attributes:
        sources: in the order of their first documents, each source with the places of all of them; of its only one, as
            nearly all have.
    """

    def __init__(self, given: Sequence[Given], source_key: str, skip: Callable[[Skipped], None]) -> None:
        self._given, self._key, self._skip = given, source_key, skip
        self.sources: dict[str, int | list[int]] = {}
        self._has_marks = False
        found = self.sources
        for place, each in enumerate(given):
            if isinstance(each, Document):
                source, self._has_marks = each.source, True
            else:
                named = each.metadata.get(source_key) or each.id
                source = str(named) if named else self._unnamed(each, place)
            if len(source) > SURELY_SHORT:
                source = source_name(source)
            if source not in found:
                found[source] = place
            elif isinstance(places := found[source], list):
                places.append(place)
            else:
                found[source] = [places, place]

    def _unnamed(self, given: LangChainDocument, place: int) -> str:
        """A document without a name is named by what it says."""
        try:
            return f"document:{_mark(given, metadata_bytes(given.metadata)).hex()}"
        except UnreadableDocumentError:
            return _where(place)

    def blocks(self, sources: Sequence[str], size: int) -> Iterator[GatheredBlock]:
        """Hash the documents of some sources, which are neighbours here, so many sources at a time."""
        return (self._block(sources[start : start + size]) for start in range(0, len(sources), size))

    def _block(self, sources: Sequence[str]) -> GatheredBlock:
        places, ends = self._places(sources)
        given = [self._given[place] for place in places]
        metadatas, faults = metadata_column([each.metadata for each in given])
        texts = [each.text if isinstance(each, Document) else each.page_content for each in given]
        marks = fingerprints_of_two(texts, metadatas)
        if self._has_marks:
            for place, each in enumerate(given):
                if isinstance(each, Document):
                    marks[place] = each.fingerprint
        fingerprints = marks
        if len(places) > len(sources):
            starts = [0, *ends]
            fingerprints = [
                marks[start] if end == start + 1 else joined(marks[start:end]) for start, end in pairwise(starts)
            ]
        even = not self._has_marks or set(map(len, fingerprints)) == {FINGERPRINT_BYTES}
        columns = (ends, places, texts, marks, metadatas, faults)
        return GatheredBlock(given, self._skip, sources, fingerprints, even, *columns)

    def _places(self, sources: Sequence[str]) -> tuple[Sequence[int], Sequence[int]]:
        """Where the documents of some sources are, and where in that list the documents of each end."""
        found = [self.sources[source] for source in sources]
        if len(self.sources) == len(self._given):
            return cast("list[int]", found), range(1, len(found) + 1)
        places: list[int] = []
        ends: list[int] = []
        for where in found:
            if isinstance(where, int):
                places.append(where)
            else:
                places += where
            ends.append(len(places))
        return places, ends


@dataclass(slots=True)
class GatheredBlock:
    """Some sources whose documents have been hashed; lists of one item for each document, those of a source together.

    Attributes:
        sources: their names.
        fingerprints: of each source: that of its only document, the one that ``DocumentSource`` gives it, or of all in
            their order.
        even: all fingerprints are hashes of 16 bytes, none a user's own of another length.
    """

    _given: Sequence[Given]
    _skip: Callable[[Skipped], None]
    sources: Sequence[str]
    fingerprints: list[bytes]
    even: bool
    _ends: Sequence[int]
    _places: Sequence[int]
    _texts: list[str]
    _marks: list[bytes]
    _metadatas: list[bytes]
    _faults: dict[int, str]

    def alone(self, wanted: Sequence[int]) -> Documents | None:
        """The documents of those sources whose places are wanted; None unless each has one, and all can be kept."""
        if len(self._places) > len(self.sources) or self._faults:
            return None
        made = Documents()
        made.texts = [self._texts[at] for at in wanted]
        if any(map(fault_of, made.texts)):
            return None
        given = [self._given[at] for at in wanted]
        made.sources = [self.sources[at] for at in wanted]
        made.metadatas = [self._metadatas[at] for at in wanted]
        made.mappings = [each.metadata for each in given]
        made.fingerprints = [self._marks[at] for at in wanted]
        made.markups = [each.markup if isinstance(each, Document) else "plain" for each in given]
        return made

    def documents(self, wanted: Sequence[int]) -> tuple[Documents, list[int], list[bool]]:
        """The documents of those sources whose places are wanted, those that no store could keep left out.

        Returns:
            The documents, and for each source where its own end, and whether none was left out.
        """
        made = Documents()
        ends, whole = [], []
        for number in wanted:
            start, end = self._ends[number - 1] if number else 0, self._ends[number]
            before = len(made)
            for at in range(start, end):
                each, text = self._given[at], self._texts[at]
                reason = self._faults.get(at) or fault_of(text)
                if reason is not None:
                    self._skip(Skipped(where=_where(self._places[at]), reason=reason))
                    continue
                markup = each.markup if isinstance(each, Document) else "plain"
                made.append(self.sources[number], text, self._metadatas[at], each.metadata, self._marks[at], markup)
            ends.append(len(made))
            whole.append(len(made) - before == end - start)
        return made, ends, whole


def _mark(given: LangChainDocument, metadata: bytes) -> bytes:
    return fingerprint_of_two(given.page_content.encode("utf-8", "surrogatepass"), metadata)


def _where(place: int) -> str:
    return f"document {place + 1}"
