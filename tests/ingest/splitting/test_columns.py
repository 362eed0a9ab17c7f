"""From documents to columns: splitters of ours, of LangChain, and plain functions."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document as LangChainDocument
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from langgraph_prefetch.errors import ConfigurationError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources import Document, Markup
from langgraph_prefetch.ingest.splitting import (
    PIECES,
    MarkdownSplitter,
    MarkupSplitter,
    RecursiveSplitter,
    Splitter,
    as_splitter,
    default_splitter,
)


def document(text: str, markup: Markup = "plain", **metadata: Any) -> Document:
    return Document(source="notes", text=text, metadata=metadata, fingerprint=b"", markup=markup)


def rows(splitter: Splitter, *documents: Document) -> list[tuple[str, str, Any]]:
    batch = splitter.split(documents)
    assert batch.schema == PIECES
    batch.validate(full=True)
    return [(row["source"], row["text"], json.loads(row["metadata"])) for row in batch.to_pylist()]


@given(st.lists(st.text(max_size=80), max_size=8), st.integers(1, 30))
def test_only_blanks_are_left_out(texts: list[str], size: int) -> None:
    """Blank pieces and blanks at both ends go; all other characters stay, in order."""
    texts = ["".join(each for each in text if not "\ud800" <= each <= "\udfff") for text in texts]
    batch = RecursiveSplitter(size=size, overlap=0).split([document(text) for text in texts])
    pieces = [row["text"] for row in batch.to_pylist()]
    assert "".join("".join(pieces).split()) == "".join("".join(texts).split())
    assert all(piece and piece == piece.strip() for piece in pieces)


def test_every_piece_has_its_documents_source_and_metadata() -> None:
    """In the order of the documents and of their texts."""
    made = rows(RecursiveSplitter(size=8, overlap=0), document("one two three", page=1), document("four", page=2))
    assert made == [("notes", "one two", {"page": 1}), ("notes", "three", {"page": 1}), ("notes", "four", {"page": 2})]


def test_equal_metadata_give_equal_json() -> None:
    """Whatever the order of the keys: a content hash over it must not change."""
    first, second = (
        RecursiveSplitter().split([Document(source="s", text="t", metadata=each, fingerprint=b"")])
        for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert first.equals(second)


def test_metadata_that_no_database_keeps_is_refused() -> None:
    """Named as what it is, before anything is written."""
    with pytest.raises(UnreadableDocumentError, match="its metadata holds a NUL"):
        RecursiveSplitter().split([document("t", note="a\0b")])
    assert rows(RecursiveSplitter(), document("t", note="a\\u0000b")) == [("notes", "t", {"note": "a\\u0000b"})]


MARKDOWN = """\
---
title: front matter, not a heading
---
Before.

# Guide

## Install

Run it.

```console
# no heading
$ install
```

> # quoted, no heading

Setext
======

### Deep

End.
"""


def test_markdown_is_cut_at_its_headings() -> None:
    """Each piece says which headings it is under; those in code and quotes are none; a bare one goes with the next."""
    made = rows(MarkdownSplitter(), document(MARKDOWN, "markdown", page=1))
    assert [(text.split("\n")[0], metadata.get("headings")) for _, text, metadata in made] == [
        ("---", None),
        ("# Guide", ["Guide", "Install"]),
        ("Setext", ["Setext", "Deep"]),
    ]
    assert "> # quoted, no heading" in made[1][1]
    assert all(metadata["page"] == 1 for _, _, metadata in made)


@pytest.mark.parametrize("overlap", [0, 30])
def test_code_and_tables_stay_whole_where_they_fit(overlap: int) -> None:
    """Rather a short piece before than half a program; what is too long is cut as text."""
    code = "```\n" + "call();\n\n" * 6 + "```"
    made = [
        text
        for _, text, _ in rows(
            MarkdownSplitter(size=70, overlap=overlap), document(f"{'word ' * 9}\n\n{code}\n\nafter")
        )
    ]
    assert sum(code in text for text in made) == 1
    assert len(rows(MarkdownSplitter(size=20, overlap=0), document(code))) > 1


def test_documents_are_cut_as_they_are_written() -> None:
    """Markdown by headings and the rest as text, in the documents' order."""
    text = "# A\n\none\n\n# B\n\ntwo"
    made = rows(default_splitter(), document(text), document(text, "markdown"), document("last"))
    assert [text for _, text, _ in made] == [text, "# A\n\none", "# B\n\ntwo", "last"]
    assert default_splitter().split([]).num_rows == 0


def test_langchain_splitters_are_taken() -> None:
    """The same pieces as from LangChain itself, with the metadata they add."""
    text = "one two three four five six seven"
    theirs = RecursiveCharacterTextSplitter(chunk_size=12, chunk_overlap=4, add_start_index=True)
    expected = theirs.create_documents([text], [{"page": 1}])
    made = rows(as_splitter(theirs), document(text, page=1))
    assert made == [("notes", each.page_content, each.metadata) for each in expected]
    assert len(made) > 2
    by_heading = as_splitter(MarkdownHeaderTextSplitter([("#", "head")]))
    assert rows(by_heading, document("# A\n\none\n\n# B\n\ntwo")) == [
        ("notes", "one", {"head": "A"}),
        ("notes", "two", {"head": "B"}),
    ]


def by_bars(text: str) -> list[str]:
    return text.split("|")


def test_a_function_is_a_splitter() -> None:
    """From a text to its pieces; blank ones are left out."""
    splitter = as_splitter(by_bars)
    assert [text for _, text, _ in rows(splitter, document("a| |b"))] == ["a", "b"]
    assert splitter.identity.endswith("by_bars")
    assert as_splitter(splitter) is splitter
    assert isinstance(as_splitter(None), MarkupSplitter)


def test_what_is_no_splitter_is_refused() -> None:
    """At once, with what would be one."""
    with pytest.raises(ConfigurationError, match=r"a splitter is a LangChain text splitter, .* not int"):
        as_splitter(7)


def test_identities_tell_options_apart() -> None:
    """An unchanged document is cut anew when, and only when, the splitter changed."""

    def theirs(size: int) -> Splitter:
        return as_splitter(RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0))

    assert theirs(10).identity == theirs(10).identity != theirs(11).identity
    sizes = [default_splitter(size=size, overlap=overlap).identity for size, overlap in ((10, 0), (10, 1), (11, 0))]
    assert len(set(sizes)) == 3


def test_langchain_documents_are_not_needed_for_columns() -> None:
    """A splitter that gives LangChain documents without metadata keeps the document's own."""
    splitter = as_splitter(lambda text: [LangChainDocument(text)])
    assert rows(splitter, document("t", page=1)) == [("notes", "t", {"page": 1})]
    assert isinstance(splitter.split([document("t")]), pa.RecordBatch)
