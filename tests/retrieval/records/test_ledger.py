"""What was ingested completely is remembered, and nothing else is."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import SourceDone
from langgraph_prefetch.ports import ListsSources, SourceLedger
from langgraph_prefetch.retrieval import driver
from langgraph_prefetch.retrieval.records import PgSourceLedger
from langgraph_prefetch.retrieval.schema import drop
from langgraph_prefetch.retrieval.writing import CopyWriter
from tests.retrieval.writing.batches import Passage, Table, batch, many


def ledger(of: Table, tenant: str = "") -> PgSourceLedger:
    return PgSourceLedger(of.database, of.collection, tenant=tenant)


def write(into: Table, rows: Sequence[Passage], tenant: str = "") -> None:
    CopyWriter(into.database, into.collection, tenant=tenant).write(batch(rows))


def done(rows: Sequence[Passage], mark: bytes = b"1") -> list[SourceDone]:
    """Each document of the rows, with the ids it has there."""
    sources = {row.source: [each.id for each in rows if each.source == row.source] for row in rows}
    return [SourceDone(source=source, fingerprint=mark, ids=tuple(ids)) for source, ids in sources.items()]


def test_it_is_a_source_ledger(passages: Table) -> None:
    """The port that an ingestion asks."""
    assert isinstance(ledger(passages), SourceLedger)
    assert isinstance(ledger(passages), ListsSources)


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(names, st.binary(max_size=40), max_size=6), st.sets(names, max_size=3), names)
def test_fingerprints_come_back_as_they_were(
    passages: Table, known: dict[str, bytes], asked: set[str], tenant: str
) -> None:
    """Any names and any bytes, of all documents or of those asked for."""
    book = ledger(passages, tenant)
    book.keep_only(())
    assert book.finish([SourceDone(source=s, fingerprint=f, ids=()) for s, f in known.items()], prune=True) == 0
    assert book.fingerprints() == known
    some = asked | set(list(known)[:2])
    assert book.fingerprints(some) == {source: known[source] for source in some & known.keys()}
    assert ledger(passages, f"{tenant}!").fingerprints() == {}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(names, st.binary(min_size=16, max_size=16), max_size=6), names, names, st.integers(0, 6))
def test_a_range_of_names_comes_in_one_piece(
    passages: Table, known: dict[str, bytes], first: str, last: str, most: int
) -> None:
    """In the order of code points, as Python sorts them; nothing where there are more than are wanted."""
    book = ledger(passages)
    book.keep_only(())
    book.finish([SourceDone(source=s, fingerprint=f, ids=()) for s, f in known.items()], prune=True)
    within = {name: known[name] for name in sorted(known) if first <= name <= last}
    found = book.listed(first, last, most)
    if len(within) > most:
        assert found is None
    else:
        assert found is not None
        assert found.by_source() == within
        assert list(found.by_source()) == list(within)


def test_fingerprints_of_another_length_are_not_listed(passages: Table) -> None:
    """They could not be told apart."""
    marks = {"a": b"1" * 15, "b": b"2" * 17, "c": b"3" * 16}
    ledger(passages).finish([SourceDone(source=s, fingerprint=f, ids=()) for s, f in marks.items()], prune=False)
    assert ledger(passages).listed("a", "c", 9) is None
    assert ledger(passages).listed("c", "c", 9) is not None


def test_finishing_again_takes_the_new_fingerprint(passages: Table) -> None:
    """One for each document; finishing one twice at a time is a mistake."""
    one = SourceDone(source="a", fingerprint=b"1", ids=())
    book = ledger(passages)
    book.finish([one], prune=False)
    book.finish([replace(one, fingerprint=b"2"), replace(one, source="b")], prune=False)
    assert book.fingerprints() == {"a": b"2", "b": b"1"}
    with pytest.raises(ConfigurationError, match="one is there twice"):
        book.finish([one, one], prune=False)
    assert book.finish([], prune=True) == 0


def test_old_rows_of_a_finished_document_go(passages: Table) -> None:
    """Those of its rows that it no longer has; other documents', and other tenants', stay."""
    rows = many(40)
    write(passages, rows)
    write(passages, rows, tenant="other")
    left = [row for number, row in enumerate(rows) if number % 10 != 3]
    book = ledger(passages)
    assert book.finish(done(left[:18]), prune=False) == 0
    assert book.finish(done(left[:18]), prune=True) == 2
    assert set(passages.rows()) == {row.id for row in rows} - {rows[3].id, rows[13].id}
    assert len(passages.rows("other")) == 40
    assert set(book.fingerprints()) == {"00000.md", "00001.md"}


def test_a_document_that_says_nothing_any_more(passages: Table) -> None:
    """No ids: all of its rows go, and it is complete."""
    write(passages, many(20))
    book = ledger(passages)
    assert book.finish([SourceDone(source="00001.md", fingerprint=b"empty", ids=())], prune=True) == 10
    assert {row[0] for row in passages.rows().values()} == {"00000.md"}
    assert book.fingerprints() == {"00001.md": b"empty"}


def test_rows_that_two_documents_share_stay(passages: Table) -> None:
    """A row that one document finished with is not deleted for another, wherever it says it is from."""
    shared = Passage(id="shared", source="b.md")
    write(passages, [shared, Passage(id="a", source="a.md"), Passage(id="old", source="b.md")])
    both = [
        SourceDone(source="a.md", fingerprint=b"1", ids=("a", "shared")),
        SourceDone(source="b.md", fingerprint=b"1", ids=()),
    ]
    assert ledger(passages).finish(both, prune=True) == 1
    assert set(passages.rows()) == {"a", "shared"}


def test_the_epoch_moves_when_rows_go_and_only_then(passages: Table) -> None:
    """What was fetched early is good until the contents change."""
    rows = many(30)
    write(passages, rows)
    book, epoch = ledger(passages), passages.epoch()
    book.finish(done(rows), prune=True)
    book.keep_only({row.source for row in rows})
    book.fingerprints()
    assert passages.epoch() == epoch
    book.finish(done(rows[1:]), prune=True)
    assert (pruned := passages.epoch()) != epoch
    book.keep_only({"00000.md"})
    assert passages.epoch() != pruned


def test_only_what_is_kept_is_left(passages: Table) -> None:
    """Rows and fingerprints of all other documents go, also of those without rows, or without fingerprint."""
    rows = many(50)
    write(passages, rows)
    write(passages, rows, tenant="other")
    book = ledger(passages)
    book.finish([*done(rows[:30]), SourceDone(source="no rows", fingerprint=b"1", ids=())], prune=True)
    assert book.keep_only(["00000.md", "00004.md", "never seen"]) == 30
    assert {row[0] for row in passages.rows().values()} == {"00000.md", "00004.md"}
    assert set(book.fingerprints()) == {"00000.md"}
    assert len(passages.rows("other")) == 50
    assert book.keep_only(()) == 20
    assert (passages.rows(), book.fingerprints()) == ({}, {})


def test_two_that_finish_the_same_documents_at_once(passages: Table) -> None:
    """One after the other, whichever the order of their lists: the fingerprints of one of them, of every document."""
    sources = [f"{number:04}" for number in range(300)]

    def finish(mark: bytes) -> int:
        barrier.wait()
        given = sources if mark == b"1" else sources[::-1]
        return ledger(passages).finish([SourceDone(source=s, fingerprint=mark, ids=()) for s in given], prune=True)

    for _ in range(4):
        ledger(passages).keep_only(())
        barrier = threading.Barrier(2)
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(finish, (b"1", b"2"))) == [0, 0]
        known = ledger(passages).fingerprints()
        assert known.keys() == set(sources)
        assert len(set(known.values())) == 1


@pytest.mark.parametrize("known", [(), ("b",)], ids=["all new", "one known"])
def test_another_that_finishes_in_between(
    passages: Table, monkeypatch: pytest.MonkeyPatch, known: Sequence[str]
) -> None:
    """A document that another ingestion finished since it was looked for is finished all the same.

    Where one of the others was known, its fingerprint has just been taken away.
    """
    some = [SourceDone(source=source, fingerprint=b"1", ids=()) for source in ("a", "b")]
    touched, left = driver.copy_in, [*known]

    def overtaken(*arguments: Any) -> None:
        if left:
            left.pop()
        else:
            monkeypatch.undo()
            ledger(passages).finish([replace(some[0], fingerprint=b"2")], prune=False)
        touched(*arguments)

    book = ledger(passages)
    book.finish([SourceDone(source=source, fingerprint=b"0", ids=()) for source in known], prune=False)
    monkeypatch.setattr("langgraph_prefetch.retrieval.records.ledger.copy_in", overtaken)
    monkeypatch.setattr(book, "_sql", replace(book._sql, touch="select 1 where %s is null"))  # else the other waits
    book.finish(some, prune=False)
    assert book.fingerprints() == {"a": b"1", "b": b"1"}


LIVE = {
    "a writer of one that was finished": (
        b"old",
        "delete from prefetch_sources where collection = {collection} and source = 'a'",
    ),
    "a writer of one that was not": (
        None,
        "delete from prefetch_sources where collection = {collection} and source = 'a'",
    ),
    "who finishes one for the first time": (
        None,
        "insert into prefetch_sources (collection, tenant, source, fingerprint)"
        " values ({collection}, '', 'a', 'other')",
    ),
}


@pytest.mark.parametrize("ends", ["commit", "rollback"])
@pytest.mark.parametrize(("known", "live"), LIVE.values(), ids=LIVE)
def test_finishing_while_another_is_at_work_on_the_document(
    passages: Table, known: bytes | None, live: str, ends: str
) -> None:
    """However the other ends: what finished last is what is remembered, and of every document."""
    book = ledger(passages)
    if known is not None:
        book.finish([SourceDone(source="a", fingerprint=known, ids=())], prune=True)
    some = [SourceDone(source=source, fingerprint=b"new", ids=()) for source in ("0", "a", "b")]
    waiting = (
        "select count(*) from pg_stat_activity where datname = current_database()"
        " and wait_event_type = 'Lock' and query like 'copy %%prefetch_sources%%'"
    )
    with ThreadPoolExecutor(1) as thread:
        with passages.database.connection() as theirs:
            touched = theirs.exec_driver_sql(live.format(collection=passages.collection.id)).rowcount
            finished = thread.submit(book.finish, some, prune=True)
            with passages.database.connection(autocommit=True) as asking:
                while touched and not asking.exec_driver_sql(waiting).scalar_one():
                    assert not finished.done()
                    time.sleep(0.01)
            if not touched:  # nothing to wait for: it ends first
                finished.result(60)
            if ends == "rollback":
                theirs.rollback()
        assert finished.result(60) == 0
    assert book.fingerprints() == dict.fromkeys(("0", "a", "b"), b"new")


CHANGES = [
    "update {table} set text = 'by hand' where source = '00001.md'",
    "update {table} set source = 'moved.md' where source = '00001.md'",
    "delete from {table} where id in (select id from {table} where source = '00001.md' limit 1)",
]


@pytest.mark.parametrize("change", CHANGES, ids=["changed", "moved", "deleted"])
def test_a_document_whose_rows_are_changed_by_any_hand_is_not_complete(passages: Table, change: str) -> None:
    """Only that one, of that tenant: the next ingestion writes it again."""
    rows = many(30)
    for tenant in ("", "other"):
        write(passages, rows, tenant=tenant)
        ledger(passages, tenant).finish(done(rows), prune=True)
    passages.execute(f"{change} ".replace("where ", "where tenant = '' and ", 1))
    assert set(ledger(passages).fingerprints()) == {"00000.md", "00002.md"}
    assert set(ledger(passages, "other").fingerprints()) == {"00000.md", "00001.md", "00002.md"}
    passages.execute("truncate {table}")
    assert ledger(passages).fingerprints() == ledger(passages, "other").fingerprints() == {}


def test_a_document_that_gains_rows_is_not_complete(passages: Table) -> None:
    """New rows change none of the old ones, so that no trigger sees it: the writer says so."""
    rows = many(12, per_source=20)
    write(passages, rows[:10])
    ledger(passages).finish(done(rows[:10]), prune=True)
    write(passages, rows[10:])
    assert ledger(passages).fingerprints() == {}


def test_after_a_crash_at_any_point_a_rerun_gives_the_same_rows(passages: Table) -> None:
    """A document in its second state, cut off after each step, then back in its first state: never taken for whole."""
    first, second = many(10), [replace(row, text="second") for row in many(6)]
    steps: list[Callable[[], object]] = [
        partial(write, passages, second[:3]),
        partial(write, passages, second[3:]),
        partial(ledger(passages).finish, done(second, b"second"), prune=True),
    ]
    for crash_after in range(len(steps) + 1):
        write(passages, first)
        ledger(passages).finish(done(first, b"first"), prune=True)
        whole = passages.rows()
        for step in steps[:crash_after]:
            step()
        known = ledger(passages).fingerprints().get("00000.md")
        assert known == (b"first" if crash_after == 0 else b"second" if crash_after == 3 else None)
        if known != b"first":
            write(passages, first)
            ledger(passages).finish(done(first, b"first"), prune=True)
        assert passages.rows() == whole


def test_what_was_written_before_is_on_disk_after(passages: Table) -> None:
    """A writer may return early; the next to finish waits for the log up to its own end, and so for the writer's."""

    with passages.with_settings(synchronous_commit="on") as database:

        def ask(query: str, *parameters: object) -> object:
            return database.run(lambda connection: connection.exec_driver_sql(query, parameters).scalar())

        CopyWriter(database, passages.collection, durable=False).write(batch(many(500)))
        written = ask("select pg_current_wal_insert_lsn()::text")
        PgSourceLedger(database, passages.collection).finish([], prune=True)
        assert ask("select pg_current_wal_flush_lsn() >= %s::pg_lsn", written)


def test_a_dropped_collection_leaves_no_fingerprints(passages: Table) -> None:
    """They go with it."""
    ledger(passages).finish([SourceDone(source="a", fingerprint=b"1", ids=())], prune=False)
    passages.database.run(lambda connection: drop(connection, passages.collection))
    assert ledger(passages).fingerprints() == {}


@pytest.mark.parametrize(("name", "message"), [("a\0b", "NUL"), ("\ud800", "surrogate")])
def test_names_that_cannot_be_stored(passages: Table, name: str, message: str) -> None:
    """Said before anything is sent."""
    with pytest.raises(ConfigurationError, match=message):
        ledger(passages).finish([SourceDone(source=name, fingerprint=b"1", ids=())], prune=False)


def test_the_longest_names(passages: Table) -> None:
    """What the writer takes as a name the ledger takes; a longer one is refused with the limit, and nothing is kept."""
    tenant, mark = "t" * 256, b"1" * 16
    longest = random.Random(1).randbytes((2_600 - len(tenant)) // 2).hex()
    write(passages, [Passage(id=longest, source=longest)], tenant)
    assert (
        ledger(passages, tenant).finish([SourceDone(source=longest, fingerprint=mark, ids=(longest,))], prune=True) == 0
    )
    assert ledger(passages, tenant).fingerprints() == {longest: mark}
    some = [SourceDone(source=name, fingerprint=mark, ids=()) for name in ("short", f"{longest}!")]
    with pytest.raises(ConfigurationError, match="2,600 bytes together, not 2,601"):
        ledger(passages, tenant).finish(some, prune=True)
    assert ledger(passages, tenant).keep_only(()) == 1
