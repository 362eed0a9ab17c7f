"""Collections: made once, found again, held to what they are, and an epoch that moves with their contents."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import CollectionMismatchError, ConfigurationError
from langgraph_prefetch.retrieval.schema import CollectionSpec, drop, epoch, find, make, migrate, names, passages

SPEC = CollectionSpec(name="My docs", dimensions=3)


@pytest.fixture
def engine(shared_database_url: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(shared_database_url)
    with made.begin() as connection:
        migrate(connection, "public")
    yield made
    with made.begin() as connection:
        for name in names(connection, "public"):
            found = find(connection, name, "public")
            assert found is not None
            drop(connection, found)
    made.dispose()


def test_made_once_and_found_again(engine: sa.Engine) -> None:
    """The second process to ask for a collection gets the first one's."""
    with engine.begin() as connection:
        assert find(connection, "My docs", "public") is None
        made = make(connection, SPEC, "public")
    with engine.begin() as connection:
        assert make(connection, SPEC, "public") == find(connection, "My docs", "public") == made
        assert names(connection, "public") == ["My docs"]


def test_two_that_are_made_at_once_are_one(engine: sa.Engine) -> None:
    """Whoever comes second waits for the first and takes what it made."""

    def start(_: int) -> int:
        with engine.begin() as connection:
            return make(connection, SPEC, "public").id

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(start, range(4)))) == 1


@pytest.mark.parametrize(
    ("what", "other"),
    [("dimensions", 4), ("metric", "l2"), ("storage", "halfvec"), ("text_search", "english")],
)
def test_another_kind_of_the_same_name_is_refused(engine: sa.Engine, what: str, other: object) -> None:
    """What cannot be changed must be as it is; the message says both."""
    with engine.begin() as connection:
        make(connection, SPEC, "public")
    with engine.begin() as connection, pytest.raises(CollectionMismatchError, match=what) as caught:
        make(connection, replace(SPEC, **{what: other}), "public")  # type: ignore[arg-type]
    assert (caught.value.what, caught.value.has, caught.value.asked) == (what, getattr(SPEC, what), other)


def test_an_embedder_of_another_name_is_refused(engine: sa.Engine) -> None:
    """Vectors of two models of one length do not compare, and only their names can tell."""
    with engine.begin() as connection:
        make(connection, replace(SPEC, embedder="one"), "public")
        make(connection, SPEC, "public")  # who names none is not asked
        with pytest.raises(CollectionMismatchError, match=r"'one'.*'two'"):
            make(connection, replace(SPEC, embedder="two"), "public")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": ""}, "name is text"),
        ({"name": "a\0"}, "name is text"),
        ({"name": "a\ud800"}, "name is text"),
        ({"name": "x" * 201}, "1 to 200 characters"),
        ({"name": 3}, "name is text"),
        ({"embedder": "a\0"}, "embedder is text"),
        ({"embedder": 3}, "embedder is text"),
        ({"text_search": 3}, "text_search is text"),
        ({"dimensions": 0}, "1 to 16,000"),
        ({"dimensions": True}, "whole number"),
        ({"metric": "cosin"}, "Did you mean 'cosine'"),
        ({"storage": "half"}, "Did you mean 'halfvec'"),
    ],
)
def test_a_wrong_wish_is_refused(wrong: dict[str, object], message: str) -> None:
    """A collection that cannot be is refused before the database is asked."""
    with pytest.raises(ConfigurationError, match=message):
        replace(SPEC, **wrong)  # type: ignore[arg-type]


def test_an_unknown_text_search_is_refused(engine: sa.Engine) -> None:
    """The message names what the server has."""
    with engine.begin() as connection, pytest.raises(ConfigurationError, match="Did you mean 'english'"):
        make(connection, replace(SPEC, text_search="englsh"), "public")


@pytest.mark.parametrize("name", ["x' or 1=1 --", 'say "hi"', "Übung %s :x", "." * 200, "日本"])
def test_any_name_will_do(engine: sa.Engine, name: str) -> None:
    """A name is data: whatever stands in it, the collection works."""
    with engine.begin() as connection:
        made = make(connection, replace(SPEC, name=name), "public")
        connection.execute(passages(made).insert().values(id="a", text="", embedding="[1,2,3]"))
        assert find(connection, name, "public") == made


def test_every_change_moves_the_epoch(engine: sa.Engine) -> None:
    """Whoever inserts, updates, deletes or truncates by whatever way, the epoch is another one when it commits."""
    with engine.begin() as connection:
        collection = make(connection, SPEC, "public")
        make(connection, replace(SPEC, name="another"), "public")
        other = find(connection, "another", "public")
        assert other is not None
        others = epoch(connection, other)
    table = f"public.{collection.table_name}"
    seen = []
    for change in (
        f"insert into {table} (id, text, embedding) values ('a', '', '[1,2,3]')",
        f"update {table} set text = 'x'",
        f"delete from {table}",
        f"truncate {table}",
    ):
        with engine.begin() as connection:
            connection.exec_driver_sql(change)
        with engine.begin() as connection:
            seen.append(epoch(connection, collection))
            assert epoch(connection, other) == others
    assert seen == sorted(set(seen))


def test_a_change_and_its_epoch_are_seen_together(engine: sa.Engine) -> None:
    """Nobody sees the epoch of a change that is not committed, and one that is undone never was."""
    with engine.begin() as connection:
        collection = make(connection, SPEC, "public")
        before = epoch(connection, collection)
    with engine.connect() as writer, engine.begin() as reader:
        writer.execute(passages(collection).insert().values(id="a", text="", embedding="[1,2,3]"))
        assert epoch(writer, collection) != before
        assert epoch(reader, collection) == before
        writer.rollback()
    with engine.begin() as reader:
        assert epoch(reader, collection) == before


def test_a_collection_made_again_has_no_epoch_of_the_old_one(engine: sa.Engine) -> None:
    """Equal epochs mean equal contents, across a drop as well."""
    with engine.begin() as connection:
        old = make(connection, SPEC, "public")
        seen = {epoch(connection, old)}
        connection.execute(passages(old).insert().values(id="a", text="", embedding="[1,2,3]"))
        seen.add(epoch(connection, old))
        drop(connection, old)
        with pytest.raises(ConfigurationError, match="was dropped"):
            epoch(connection, old)
        new = make(connection, SPEC, "public")
        assert new.id != old.id
        assert epoch(connection, new) not in seen
        assert connection.scalar(sa.select(sa.func.count()).select_from(passages(new))) == 0
