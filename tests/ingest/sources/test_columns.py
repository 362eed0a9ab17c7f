"""Documents as columns are the documents, and are cut into groups of bounded size."""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.grouping import FIRST_ROWS, Block, Group, Grouping
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources import Document, Skipped, files
from langgraph_prefetch.ingest.sources.columns import MOST_DOCUMENTS, Documents, collected, columns_of
from langgraph_prefetch.ingest.sources.metadata import metadata_bytes, metadata_column
from langgraph_prefetch.ingest.units import Unit
from tests.ingest.sources.writing import read, write

_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
_documents = st.builds(
    Document,
    source=_texts,
    text=_texts,
    metadata=st.dictionaries(_texts, _texts | st.integers(-9, 9), max_size=2),
    fingerprint=st.binary(min_size=16, max_size=16),
    markup=st.sampled_from(["plain", "markdown"]),
)


@given(given=st.lists(_documents, max_size=6), start=st.integers(0, 6), end=st.integers(0, 6))
def test_columns_are_the_documents(given: list[Document], start: int, end: int) -> None:
    """Each comes out as it went in; so do slices, what is joined, and what went to another process."""
    columns = Documents.of(given)
    assert list(columns) == given
    assert list(columns[start:end]) == given[start:end]
    assert Documents.of(columns) is columns
    assert columns.metadatas == [metadata_bytes(each.metadata) for each in given]
    assert columns.told() == b"".join(each.fingerprint for each in given)
    joined = Documents()
    joined.extend(columns, 0, len(columns))
    joined.extend(columns, start, max(start, end))
    assert list(joined) == given + given[start : max(start, end)]
    assert list(pickle.loads(pickle.dumps(columns))) == given


def test_a_file_gives_the_same_as_columns_and_one_by_one(tmp_path: Path) -> None:
    """The lines of a file, whatever is wrong with some of them."""
    lines = [f'{{"text": "text {number}", "n": {number}}}' for number in range(2 * MOST_DOCUMENTS + 3)]
    lines[5], lines[300] = "{", '{"text": ""}'
    source = files(write(tmp_path, {"a.jsonl": "\n".join(lines)}) / "a.jsonl")
    (part,) = source.parts()
    assert not isinstance(part, Skipped)
    found = list(columns_of(part))
    columns = [each for each in found if isinstance(each, Documents)]
    assert [document for each in columns for document in each] == read(source)[0]
    assert [str(each) for each in found if isinstance(each, Skipped)] == read(source)[1]
    assert max(map(len, columns)) <= MOST_DOCUMENTS


def test_documents_one_by_one_are_collected() -> None:
    """One whose metadata no JSON can hold is skipped, and the rest goes on."""
    circle: dict[str, Any] = {}
    circle["again"] = circle
    given = [Document(source="s", text=f"{number}", fingerprint=bytes(16)) for number in range(MOST_DOCUMENTS + 1)]
    bad = Document(source="bad", text="b", metadata=circle, fingerprint=bytes(16))
    found = list(collected([given[0], bad, *given[1:]]))
    assert [each.where for each in found if isinstance(each, Skipped)] == ["bad"]
    assert [document for each in found if isinstance(each, Documents) for document in each] == given


@pytest.mark.parametrize("bad", [{"a": "n\0l"}, {"a": "\ud800"}])
def test_a_column_of_metadata_is_that_of_each(bad: dict[str, Any]) -> None:
    """Whether all of them can be written or not; of one that cannot, the reason is told."""
    good: list[dict[str, Any]] = [{"b": 1, "a": [1.5, None]}, {}, {"c": "\\u0000"}]
    assert metadata_column(good) == ([metadata_bytes(each) for each in good], {})
    column, faults = metadata_column([good[0], bad, good[1]])
    assert (column[0], column[2]) == (metadata_bytes(good[0]), b"{}")
    with pytest.raises(UnreadableDocumentError) as raised:
        metadata_bytes(bad)
    assert faults == {1: str(raised.value)}


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "},{", "\n", '"', "\\", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "},{"]), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "}"]), _json, max_size=3), max_size=5))
def test_what_is_written_at_once_is_what_is_written_one_by_one(metadatas: list[dict[str, Any]]) -> None:
    """Whatever stands in them that looks like the border between two."""
    assert metadata_column(metadatas) == ([metadata_bytes(each) for each in metadatas], {})


@given(
    blocks=st.lists(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=1, max_size=4), max_size=5),
    rows=st.integers(1, 5),
    chars=st.integers(1, 20),
)
def test_groups_are_bounded_and_say_whose_they_are(blocks: list[list[list[int]]], rows: int, chars: int) -> None:
    """Documents keep their order; each source is counted in every group it has documents in, and ends once."""
    grouping = Grouping(IngestSettings(batch_rows=rows, batch_chars=chars))
    groups, units, expected = [], [], []
    for number, block in enumerate(blocks):
        documents, owners, ends = Documents(), [], []
        for place, sizes in enumerate(block):
            unit = Unit(f"{number}.{place}")
            units.append(unit)
            for size in sizes:
                documents.append(unit.source, "x" * size, b"{}", None, None)
            owners.append(unit)
            ends.append(len(documents))
        expected += list(documents)
        groups += list(grouping.add(Block(documents, owners, ends)))
    groups.append(grouping.take())
    assert [document for group in groups for document in group.documents] == expected
    for group in groups:
        assert group.chars == sum(map(len, group.documents.texts))
        assert len(group.documents) <= rows
        assert group.chars <= chars or len(group.documents) == 1
        assert set(group.documents.sources) <= group.units.keys()
    for unit in units:
        assert sum(unit.source in group.units for group in groups) == unit.groups
        assert sum(group.ended.count(unit) for group in groups) == 1
        last = [place for place, group in enumerate(groups) if unit.source in group.documents.sources]
        ended = next(place for place, group in enumerate(groups) if unit in group.ended)
        assert not last or ended >= last[-1]


@given(blocks=st.lists(st.tuples(st.booleans(), st.integers(1, 4)), max_size=6), rows=st.integers(1, 5))
def test_a_group_has_columns_or_units(blocks: list[tuple[bool, int]], rows: int) -> None:
    """Documents that are a source each need no unit unless others are in their group; each source ends once."""
    grouping, groups, expected = Grouping(IngestSettings(batch_rows=rows)), [], []
    for number, (alone, count) in enumerate(blocks):
        documents = Documents()
        for place in range(count):
            documents.append(f"{number}.{place}", "x", b"{}", None, bytes([number, place] * 8))
        expected += list(documents)
        units = [Unit(source, mark) for source, mark in zip(documents.sources, documents.fingerprints, strict=True)]
        owned = Block(documents, units, list(range(1, count + 1)))
        groups += list(grouping.add(Block(documents, alone=True) if alone else owned))
    groups.append(grouping.take())
    found: list[tuple[str, bytes | None]] = []
    for group in groups:
        if group.alone is not None:
            assert not group.units
            assert not group.ended
            assert group.alone.sources == group.documents.sources
            found += zip(group.alone.sources, group.alone.fingerprints, strict=True)
        else:
            assert set(group.documents.sources) == group.units.keys()
            found += [(unit.source, unit.fingerprint) for unit in group.ended]
    assert found == [(each.source, each.fingerprint) for each in expected]


def test_columns_become_units_with_what_is_known_of_them() -> None:
    """What was skipped of a source stays known."""
    group, documents = Group(), Documents()
    for source in "ab":
        documents.append(source, "x", b"{}", None, source.encode() * 16)
    group.add_alone(Block(documents, alone=True), 0, 2)
    assert group.alone is not None
    group.alone.failed.add("b")
    group.apart()
    assert group.alone is None
    assert [(each.source, each.fingerprint, each.whole, each.groups) for each in group.ended] == [
        ("a", b"a" * 16, True, 1),
        ("b", b"b" * 16, False, 1),
    ]


def test_the_first_groups_are_small() -> None:
    """So that the stages that follow soon have something to do; then they double."""
    grouping = Grouping(IngestSettings())
    unit, documents = Unit("s"), Documents.of_source("s", ["x"] * 9_000, [b"{}"] * 9_000)
    sizes = [len(group.documents) for group in grouping.add(Block(documents, [unit], [9_000]))]
    assert sizes[0] == FIRST_ROWS
    assert all(after == min(2 * before, 2_048) for before, after in pairwise(sizes))
