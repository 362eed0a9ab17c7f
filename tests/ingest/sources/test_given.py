"""Documents that exist already: LangChain's loaders and lists, and ours."""

import math
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources import Document, DocumentSource, Source, as_source, files
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint, fingerprint_of_two
from langgraph_prefetch.ingest.sources.metadata import metadata_json
from langgraph_prefetch.ingest.sources.names import MAX_BYTES, source_name
from tests.ingest.sources.writing import read, write


class Loader(BaseLoader):
    """Loads one document at a time."""

    loaded = 0

    def lazy_load(self) -> Iterator[LangChainDocument]:
        for number in range(3):
            self.loaded += 1
            yield LangChainDocument(f"text {number}", metadata={"source": f"page {number}", "number": number})


def test_a_loader_is_a_source() -> None:
    """Its documents keep their metadata and are named by their source; none is loaded before it is asked for."""
    loader = Loader()
    [part] = as_source(loader).parts()
    assert part.fingerprint is None  # type: ignore[union-attr]
    found = part.documents()  # type: ignore[union-attr]
    first = next(found)
    assert loader.loaded == 1
    assert isinstance(first, Document)
    assert (first.source, first.text, first.metadata["number"]) == ("page 0", "text 0", 0)
    assert len(list(found)) == 2


def test_documents_without_a_source_are_their_own() -> None:
    """Named by their id, or by what they say: the same in the next run, whatever stands before them."""
    ours = Document(source="mine", text="ours", fingerprint=b"")
    given: list[LangChainDocument | Document] = [
        LangChainDocument("a", id="7"),
        LangChainDocument("b"),
        ours,
        LangChainDocument("c", metadata={"url": "u"}),
    ]
    documents, _ = read(as_source(given))
    assert [each.source for each in documents[::2]] == ["7", "mine"]
    assert documents[2] is ours
    assert documents[1].source == read(as_source(given[1]))[0][0].source
    assert documents[1].source.startswith("document:")
    assert read(DocumentSource(documents=given[3:], source_key="url"))[0][0].source == "u"


@given(
    content=st.text(st.characters(exclude_categories=["Cs"])), other=st.text(st.characters(exclude_categories=["Cs"]))
)
def test_a_fingerprint_of_two_is_the_same_however_it_is_made(content: str, other: str) -> None:
    """A list tells a document unchanged that a loader gave in an earlier run."""
    assert fingerprint_of_two(content.encode(), other.encode()) == fingerprint(content, other)


def test_documents_that_no_store_can_keep_are_skipped() -> None:
    """Each with its place in the list, and the rest goes on."""
    circle: dict[str, Any] = {}
    circle["again"] = circle
    given = [
        *(LangChainDocument(text) for text in ("ok", " ", "n\0l", "\ud800")),
        *(LangChainDocument("ok", metadata=each) for each in ({"a": "n\0l"}, circle, {"a": "\ud800"})),
    ]
    documents, skipped = read(as_source(iter(given)))
    assert [each.text for each in documents] == ["ok"]
    assert [line.split(":")[0] for line in skipped] == [f"document {number}" for number in range(2, 8)]


def test_a_name_that_is_too_long_for_an_index() -> None:
    """It becomes a shorter one, the same in every run and for no two names; the metadata keep the whole."""
    long = "https://example.org/?q=" + "é" * 1_300
    others = [long + "x", "é" * 1_150, "é" * 1_151, "x" + "é" * 1_150]
    given: list[LangChainDocument | Document] = [
        *(LangChainDocument("a", metadata={"source": name}) for name in (long, *others)),
        Document(source=long, text="ours", fingerprint=b""),
    ]
    documents, _ = read(as_source(given))
    names = [each.source for each in documents]
    assert documents[0].metadata["source"] == long
    assert names[0] == names[-1] == source_name(long)
    assert names[0].startswith("https://example.org/?q=é")
    assert len(set(names)) == 5
    assert max(len(each.encode()) for each in names) <= MAX_BYTES
    assert names[2] == others[1]  # as long as may be


def test_what_a_fingerprint_depends_on_is_kept_apart() -> None:
    """Two lists of things are never taken for each other, wherever one thing ends and the next begins."""
    lists = [("ab", "c"), ("a", "bc"), ("abc",), ("", "abc"), ("abc", "")]
    assert len({fingerprint(b"x", *each) for each in lists} | {fingerprint(b"cx", "ab")}) == len(lists) + 1


def test_what_can_be_a_source(tmp_path: Path) -> None:
    """Paths, a list of them, a source itself, nothing at all."""
    write(tmp_path, {"a.txt": "a", "b.txt": "b"})
    source = files(tmp_path)
    assert as_source(source) is source
    assert isinstance(source, Source)
    assert [each.text for each in read(as_source(tmp_path))[0]] == ["a", "b"]
    assert [each.text for each in read(as_source([str(tmp_path / "b.txt"), tmp_path / "a.txt"]))[0]] == ["b", "a"]
    assert read(as_source([])) == ([], [])


@pytest.mark.parametrize("given", [7, b"bytes", {"a": 1}, [7], None])
def test_what_cannot(given: object) -> None:
    """Refused at once."""
    with pytest.raises(ConfigurationError, match="a source is a path"):
        as_source(given)


def test_metadata_as_json() -> None:
    """Sorted, so that equal metadata are equal text; what JSON lacks is written as text."""
    odd: dict[Any, Any] = {"b": 1, "a": date(2020, 1, 2), 3: math.nan}
    assert metadata_json(odd) == '{"3":null,"a":"2020-01-02","b":1}'
    assert metadata_json({"p": Path("/x")}) == '{"p":"/x"}'
