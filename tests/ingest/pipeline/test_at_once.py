"""Documents that are a source each: told unchanged all at once, and written without an object for any of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langgraph_prefetch.ingest import ingest
from langgraph_prefetch.ingest.recalled import recalled
from langgraph_prefetch.passages import SourceDone, SourcesDone
from tests.ingest.pipeline.corpus import by_line, documents, embed, rows_of, store

_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)


@given(known=st.dictionaries(_names, st.binary(min_size=16, max_size=16)), data=st.data())
def test_what_is_recalled_is_what_a_ledger_says_of_each(known: dict[str, bytes], data: st.DataObject) -> None:
    """Whatever else it knows, and in whatever order they are asked for; in one piece where it knows all."""
    passages = store()
    passages.remembered = known
    asked = data.draw(st.lists(st.sampled_from(sorted(known)) if known else _names, unique=True) | st.just([*known]))
    found = recalled(passages, asked)
    if isinstance(found, bytes):
        found = {name: found[16 * place : 16 * place + 16] for place, name in enumerate(asked)}
    assert {name: found[name] for name in asked if name in found} == passages.fingerprints(asked)
    if asked and sorted(asked) == sorted(known):
        assert isinstance(recalled(passages, asked), bytes)


@pytest.mark.parametrize("crowd", ["others between", "a mark of another length", "a name no ledger has"])
def test_where_it_cannot_be_told_at_once_each_is_asked_for(crowd: str) -> None:
    """A ledger with far more in between, or with marks that are not ours, answers all the same."""
    passages, asked = store(), ["a", "z"]
    passages.remembered = dict.fromkeys(asked, bytes(16))
    if crowd == "others between":
        passages.remembered |= {f"b{number}": bytes(16) for number in range(9)}
    elif crowd == "a mark of another length":
        passages.remembered["b"] = b"short"
    else:
        asked = [*asked, "\ud800"]
    assert recalled(passages, asked) == {"a": bytes(16), "z": bytes(16)}


async def test_an_unchanged_corpus_is_asked_for_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many documents there are, and in whatever order; a changed one does not change that."""
    passages, given = store(), documents(6_000, lines=1)[::-1]
    await ingest(given, by_line, embed, passages)
    before = rows_of(passages)
    monkeypatch.setattr(passages, "fingerprints", lambda sources: pytest.fail("asked for each"))
    assert (await ingest(given, by_line, embed, passages)).unchanged == 6_000
    changed = [*given[:4_500], Document("new", metadata={"source": given[4_500].metadata["source"]}), *given[4_501:]]
    report = await ingest(changed, by_line, embed, passages)
    assert (report.unchanged, report.documents, report.written.added, report.deleted) == (5_999, 1, 1, 1)
    assert len(before.items() - rows_of(passages).items()) == 1


async def test_documents_that_give_several_rows_one_or_none() -> None:
    """Each source is remembered with all of its rows; equal pieces of one are one row."""

    def split(text: str) -> list[str]:
        return text.split("|") if text != "nothing" else []

    texts = {"a": "one", "b": "two|three", "c": "nothing", "d": "four|five|six"}
    for repeated in (False, True):
        passages = store()
        given = [Document(text, metadata={"source": name}) for name, text in texts.items()]
        given += [Document("twice|twice", metadata={"source": "e"})] if repeated else []
        first = await ingest(given, split, embed, passages)
        assert (first.documents, first.duplicates) == (len(given), int(repeated))
        assert sorted(row["text"] for row in passages.rows.values()) == sorted(
            ["one", "two", "three", "four", "five", "six", *(["twice"] if repeated else [])]
        )
        assert (await ingest(given, split, embed, passages)).unchanged == len(given)
        shorter = [Document("three", metadata={"source": "b"})]
        assert (await ingest(shorter, split, embed, passages)).deleted == 1


async def test_one_that_failed_is_not_remembered_and_costs_no_other() -> None:
    """Neither one that the embedder refuses, nor one that cannot be stored."""

    def refuse_some(texts: Any) -> Any:
        return embed(texts) * [[0.0 if text == "bad" else 1.0] for text in texts]

    passages = store()
    given = [Document(text, metadata={"source": text}) for text in ("good", "bad", "fine", "n\0l")]
    report = await ingest(given, by_line, refuse_some, passages)
    assert report.skipped_count == 2
    assert passages.remembered.keys() == {"good", "fine"}
    assert (await ingest(given, by_line, refuse_some, passages)).unchanged == 2


@given(
    st.lists(
        st.tuples(_names, st.binary(max_size=3), st.lists(_names, max_size=3)), max_size=5, unique_by=lambda e: e[0]
    )
)
def test_columns_of_what_is_done_are_the_same(rows: list[tuple[str, bytes, list[str]]]) -> None:
    """Sorted, joined, or one by one."""
    done = [SourceDone(source=source, fingerprint=mark, ids=tuple(ids)) for source, mark, ids in rows]
    columns = SourcesDone.of(done)
    assert list(columns) == done == columns[:]
    assert list(columns.sorted()) == sorted(done, key=lambda each: each.source)
    assert list(SourcesDone.joined([columns, SourcesDone.of(done[:2])])) == done + done[:2]
