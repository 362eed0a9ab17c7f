"""Batches end up in the table, whole or not at all, and what was counted is what happened."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import (
    ConfigurationError,
    ReadOnlyServerError,
    RefusedPassagesError,
    ServerUnreachableError,
)
from langgraph_prefetch.passages import Written
from langgraph_prefetch.ports import PassageWriter
from langgraph_prefetch.retrieval import driver
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.driver import Cursor
from langgraph_prefetch.retrieval.writing import CopyWriter
from tests.retrieval.writing.batches import Passage, Table, batch, many, replaced, table


def writer(into: Table, **options: Any) -> CopyWriter:
    return CopyWriter(into.database, into.collection, **options)


def said(rows: list[Passage]) -> dict[str, tuple[str, str]]:
    return {row.id: (row.source, row.text) for row in rows}


def stored(into: Table, tenant: str = "") -> dict[str, tuple[str, str]]:
    return {key: row[:2] for key, row in into.rows(tenant).items()}


def test_it_is_a_passage_writer(passages: Table) -> None:
    """The port that an ingestion writes through."""
    made = writer(passages)
    assert isinstance(made, PassageWriter)
    assert made.dimensions == 4


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(Passage, id=texts, source=texts, text=texts, vector=st.tuples(*[st.floats(2**-7, 9, width=32)] * 4)),
        min_size=1,
        max_size=6,
        unique_by=lambda each: each.id,
    ),
    texts,
    st.booleans(),
    st.booleans(),
)
def test_any_text_comes_back_as_it_was(
    passages: Table, rows: list[Passage], tenant: str, large: bool, known: bool
) -> None:
    """Characters of every plane, empty texts, no order of ids; straight into the table, or by the staging table."""
    passages.execute("delete from {table}")
    if known:
        writer(passages, tenant=tenant).write(batch([replace(rows[0], text="another")]))
    written = writer(passages, tenant=tenant).write(batch([Passage(id="cut off"), *rows], large=large).slice(1))
    changed = int(known and rows[0].text != "another")
    assert written == Written(added=len(rows) - known, updated=changed, unchanged=known - changed)
    assert stored(passages, tenant) == said(rows)
    query = f"select id, content_hash, embedding::real[]::float8[] from {passages.collection.table_name}"
    numbers = passages.database.run(lambda connection: connection.exec_driver_sql(query).all())
    assert {row[0]: (bytes(row[1]), tuple(row[2])) for row in numbers} == {
        row.id: (row.content_hash, row.vector) for row in rows
    }


def test_what_was_counted_is_what_happened(passages: Table) -> None:
    """New rows, rows that differ in anything, and rows that stand there just so."""
    rows = many(50)
    assert writer(passages).write(batch(rows)) == Written(added=50)
    changed = [
        replace(rows[0], text="other"),
        replace(rows[1], source="other.md"),
        replace(rows[2], metadata='{"other": 1}'),
        replace(rows[3], vector=(4, 3, 2, 1)),
        *rows[4:20],
        *many(5, first=1_000),
    ]
    assert writer(passages).write(batch(changed)) == Written(added=5, updated=4, unchanged=16)
    assert stored(passages) == said([*rows[20:], *changed])
    assert passages.rows()[rows[3].id][-1] == "[4,3,2,1]"
    assert writer(passages).write(batch([])) == Written()


def test_unchanged_rows_are_not_touched(passages: Table) -> None:
    """Neither written nor locked, and the epoch stays: what was fetched early is still good."""
    rows = many(200)
    writer(passages).write(batch(rows))
    before, epoch = passages.versions(), passages.epoch()
    reordered = [replace(row, metadata=row.metadata.replace(":", " : ")) for row in rows[::-1]]
    assert writer(passages).write(batch(reordered)) == Written(unchanged=200)
    assert (passages.versions(), passages.epoch()) == (before, epoch)
    assert writer(passages).write(batch([*rows[1:], replace(rows[0], text="other")])) == Written(
        updated=1, unchanged=199
    )
    after = passages.versions()
    assert {key for key in after if after[key] != before[key]} == {rows[0].id}
    assert passages.epoch() != epoch


def test_tenants_are_apart(passages: Table) -> None:
    """The same ids under two tenants are two passages."""
    ours, theirs = many(5), [replace(row, text="theirs") for row in many(5)]
    assert writer(passages, tenant="us").write(batch(ours)) == Written(added=5)
    assert writer(passages, tenant="them").write(batch(theirs)) == Written(added=5)
    assert stored(passages, "us") == said(ours)
    assert stored(passages, "them") == said(theirs)


def test_half_precision(database: Database) -> None:
    """What 16 bits hold, is held; an unchanged row is known again although its numbers were rounded."""
    with table(database, storage="halfvec") as passages:
        rows = [Passage(id="a", vector=(0.1, 65_504, -1, 6e-8))]
        assert writer(passages).write(batch(rows)) == Written(added=1)
        assert passages.rows()["a"][-1] == "[0.099975586,65504,-1,5.9604645e-08]"
        assert writer(passages).write(batch(rows)) == Written(unchanged=1)
        with pytest.raises(RefusedPassagesError, match="beyond 65,504"):
            writer(passages).write(batch([Passage(id="b", vector=(1, 1, 1, 70_000))]))


@pytest.mark.parametrize("dimensions", [384, 3_000])
def test_rows_longer_than_a_page(database: Database, dimensions: int) -> None:
    """Long texts and long vectors go through the staging table as well."""
    with table(database, dimensions=dimensions) as passages:
        rows = [replace(row, text=row.text * 2_000) for row in many(20, dimensions=dimensions)]
        assert writer(passages).write(batch(rows)) == Written(added=20)
        later = [replace(row, text=row.text + "!") for row in rows]
        assert writer(passages).write(batch(later)) == Written(updated=20)
        assert stored(passages) == said(later)


def test_bad_rows_are_named_and_nothing_is_written(passages: Table) -> None:
    """All of them, with their ids and reasons; the good ones of the batch wait."""
    rows = [*many(3), Passage(id="nul", text="a\0b"), Passage(id="nan", vector=(1, 2, 3, float("nan")))]
    epoch = passages.epoch()
    with pytest.raises(RefusedPassagesError, match="'nul': text has a NUL") as caught:
        writer(passages).write(batch(rows))
    assert set(caught.value.refused) == {3, 4}
    assert caught.value.refused[4] == "'nan': the vector has a number that is not finite"
    assert (passages.rows(), passages.epoch()) == ({}, epoch)
    kept, refused = writer(passages).sift(batch(rows))
    assert [each.id for each in refused] == ["nul", "nan"]
    assert writer(passages).write(kept) == Written(added=3)


def test_vectors_of_another_length_are_refused(passages: Table) -> None:
    """With a guess at the reason."""
    with pytest.raises(ConfigurationError, match="takes vectors of 4 numbers, not 3: was it made for another"):
        writer(passages).write(batch([Passage(id="a", vector=(1, 2, 3))]))


@pytest.mark.parametrize("known", [False, True], ids=["straight", "staged"])
def test_what_only_the_server_refuses(passages: Table, known: bool) -> None:
    """The row is named, the server's reason given, the row's words not repeated, and nothing written."""
    rows = many(20)
    if known:
        writer(passages).write(batch(rows[:1]))
    before = passages.rows()
    bad = replace(rows[7], metadata='{"secret": 1e400000}')
    with pytest.raises(RefusedPassagesError, match="overflow") as caught:
        writer(passages).write(batch([*rows[:7], bad, *rows[8:]]))
    assert list(caught.value.refused) == [7]
    assert repr(bad.id) in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert passages.rows() == before


def before_the_copy(monkeypatch: pytest.MonkeyPatch, act: Callable[[Cursor], None]) -> None:
    """Do something between the question whether ids are known and the COPY."""
    inserted = CopyWriter._inserted

    def acting(self: CopyWriter, cursor: Cursor, sending: Any) -> bool:
        act(cursor)
        return inserted(self, cursor, sending)

    monkeypatch.setattr(CopyWriter, "_inserted", acting)


def test_another_writer_between_the_question_and_the_copy(passages: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were new when asked, and are there when written, are updated: the last one to write wins."""
    rows = many(30)

    def insert(_: Cursor) -> None:
        monkeypatch.undo()
        writer(passages).write(batch([replace(rows[9], text="theirs"), rows[20]]))

    before_the_copy(monkeypatch, insert)
    assert writer(passages).write(batch(rows)) == Written(added=28, updated=1, unchanged=1)
    assert stored(passages) == said(rows)


def test_known_rows_after_batches_that_were_all_new(passages: Table) -> None:
    """A writer that has come to expect new rows is wrong once, and counts and writes as ever."""
    rows, into = many(60), writer(passages)
    assert into.write(batch(rows[:20])) == into.write(batch(rows[20:40])) == Written(added=20)
    mixed = [*rows[35:50], replace(rows[0], text="other")]
    for _ in range(2):
        epoch = passages.epoch()
        assert into.write(batch(rows[:20])) == Written(unchanged=20)
        assert passages.epoch() == epoch
    assert into.write(batch(mixed)) == Written(added=10, updated=1, unchanged=5)
    assert into.write(batch(rows[50:])) == Written(added=10)
    assert into.write(batch(rows[49:])) == Written(unchanged=11)
    assert stored(passages) == said([*rows, mixed[-1]])


def test_a_connection_that_ends_in_the_middle(passages: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says so, nothing written, and the next write has a new connection."""

    def end(cursor: Cursor) -> None:
        monkeypatch.undo()
        backend = cursor.connection.info.backend_pid
        passages.database.run(lambda other: other.execute(sa.select(sa.func.pg_terminate_backend(backend))).all())

    before_the_copy(monkeypatch, end)
    with pytest.raises(ServerUnreachableError):
        writer(passages).write(batch(many(10)))
    assert passages.rows() == {}
    assert writer(passages).write(batch(many(10))) == Written(added=10)


def test_a_read_only_server(passages: Table) -> None:
    """Said in our words."""
    with (
        passages.with_settings(default_transaction_read_only="on") as reading,
        pytest.raises(ReadOnlyServerError),
    ):
        CopyWriter(reading, passages.collection).write(batch(many(1)))


def test_a_victim_of_a_deadlock_writes_again(passages: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may lock rows in another order; the batch, undone as a whole, is written anew, within bounds."""
    left = [2]

    def fail(_: Cursor) -> None:
        if left[0]:
            left[0] -= 1
            raise psycopg.errors.DeadlockDetected("deadlock detected")

    before_the_copy(monkeypatch, fail)
    assert writer(passages).write(batch(many(5))) == Written(added=5)
    left[0] = driver._ATTEMPTS
    with pytest.raises(sa.exc.DBAPIError, match="deadlock detected"):
        writer(passages).write(batch(many(5, first=5)))
    assert len(passages.rows()) == 5


def test_not_durable_is_so_for_its_own_transactions_only(passages: Table) -> None:
    """The connection goes back to the pool as it was."""
    with passages.with_settings(synchronous_commit="on") as database:
        into = CopyWriter(database, passages.collection, durable=False)
        assert into.write(batch(many(5))) == Written(added=5)
        assert database.run(lambda connection: connection.exec_driver_sql("show synchronous_commit").scalar()) == "on"
    assert len(passages.rows()) == 5


def test_batches_of_one_connection_do_not_mix(passages: Table) -> None:
    """The staging table is empty at the start of every batch, also after one that failed."""
    rows = many(30)
    writer(passages).write(batch(rows[:10]))
    with pytest.raises(RefusedPassagesError):
        writer(passages).write(batch([*rows[:9], replace(rows[9], metadata='{"a": 1e400000}')]))
    assert writer(passages).write(batch(rows[9:20])) == Written(added=10, unchanged=1)
    assert writer(passages).write(batch(rows[19:30])) == Written(added=10, unchanged=1)
    assert stored(passages) == said(rows)


def test_any_order_of_columns_and_large_strings(passages: Table) -> None:
    """A batch from elsewhere need not look like ours."""
    made = batch(many(10), large=True)
    made = replaced(made, "source", made.column("source").cast(pa.string()))
    assert writer(passages).write(made.select(made.schema.names[::-1])) == Written(added=10)
    assert stored(passages) == said(many(10))
