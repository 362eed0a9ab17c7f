"""LangChain's record manager in the database does what LangChain's own does in memory."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.indexing import InMemoryRecordManager, RecordManager

from langgraph_prefetch.errors import ConfigurationError, ServerTimeError
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.driver import Cursor, execute, fetch_one, in_transaction
from langgraph_prefetch.retrieval.records import PgRecordManager
from langgraph_prefetch.retrieval.records.binary import texts
from langgraph_prefetch.retrieval.records.manager_sql import listing, statements
from tests.postgres import fresh_database

KEYS = ["a", "b", "c", "Ä\U0001f40d", ""]
GROUPS = ["one", "two", None]


@pytest.fixture
def manager(database: Database) -> PgRecordManager:
    made = PgRecordManager("tests", database)
    made.create_schema()
    made.delete_keys(made.list_keys())
    return made


keys = st.lists(st.sampled_from(KEYS), max_size=4)
updates = keys.flatmap(
    lambda some: st.tuples(
        st.just("update"),
        st.just(some),
        st.none() | st.lists(st.sampled_from(GROUPS), min_size=len(some), max_size=len(some)),
    )
)
steps = st.lists(
    updates
    | st.tuples(st.just("delete"), keys)
    | st.tuples(st.just("exists"), keys)
    | st.tuples(
        st.just("list"),
        st.none() | st.integers(0, 8),
        st.none() | st.integers(0, 8),
        st.none() | st.lists(st.sampled_from(GROUPS[:2]), max_size=2),
    ),
    max_size=8,
)


class Both:
    """The same calls for both managers, each with its own clock's readings for the same moments."""

    def __init__(self, *managers: RecordManager) -> None:
        self.managers = managers
        self.moments: list[tuple[float, ...]] = []

    def tick(self) -> None:
        self.moments.append(tuple(each.get_time() for each in self.managers))

    def moment(self, number: int | None, which: int) -> float | None:
        return None if number is None or number >= len(self.moments) else self.moments[number][which]

    def step(self, what: str, *arguments: Any) -> None:
        answers: list[object] = []
        for which, each in enumerate(self.managers):
            if what == "update":
                each.update(arguments[0], group_ids=arguments[1], time_at_least=self.moments[-1][which])
            elif what == "delete":
                # LangChain's own raises nothing either for keys that are not there.
                each.delete_keys(arguments[0])
            elif what == "exists":
                answers.append(each.exists(arguments[0]))
            else:
                before, after = (self.moment(number, which) for number in arguments[:2])
                found = each.list_keys(before=before, after=after, group_ids=arguments[2])
                limited = each.list_keys(before=before, after=after, group_ids=arguments[2], limit=2)
                assert set(limited) <= set(found)
                assert len(limited) == min(2, len(found))
                answers.append(sorted(found))
        assert answers[1:] == answers[:-1]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_it_answers_as_the_one_in_memory(manager: PgRecordManager, steps: list[tuple[Any, ...]]) -> None:
    """Any calls in any order: the same keys, the same answers, the same times relative to each other."""
    manager.delete_keys(manager.list_keys())
    both = Both(InMemoryRecordManager("tests"), manager)
    for what, *arguments in steps:
        both.tick()
        both.step(what, *arguments)
    both.step("list", None, None, None)


def test_namespaces_are_apart(manager: PgRecordManager, database: Database) -> None:
    """Two indexes may have the same keys."""
    other = PgRecordManager("others", database)
    manager.update(["a"], group_ids=["g"])
    other.update(["b"])
    assert (manager.list_keys(), other.list_keys()) == (["a"], ["b"])
    other.delete_keys(["a", "b"])
    assert (manager.exists(["a", "b"]), other.list_keys()) == ([True, False], [])


def test_groups_of_any_length(manager: PgRecordManager, database: Database) -> None:
    """A document may come from an address of many thousand characters; an index still leads to its keys."""
    group = random.Random(1).randbytes(4_000).hex()
    manager.update(["a", "b", "c"], group_ids=[group, f"{group}!", None])
    assert manager.list_keys(group_ids=[group]) == ["a"]
    assert manager.list_keys(group_ids=[f"{group}!", "no such"]) == ["b"]
    query, values = listing(statements("public").listed, None, None, texts([group]))

    def plan(cursor: Cursor) -> str:
        execute(cursor, "set local enable_seqscan = off")
        return str(fetch_one(cursor, f"explain (format json) {query}", ("tests", *values, None))[0])

    assert "prefetch_records_groups" in in_transaction(database, plan)


def test_keys_that_no_index_takes_are_refused(manager: PgRecordManager, database: Database) -> None:
    """With the limit, before the database is asked; up to there they are kept."""
    room = 2_600 - len("tests")
    longest = random.Random(2).randbytes(room // 2).hex()
    manager.update(["é", longest])
    assert manager.exists([longest]) == [True]
    with pytest.raises(ConfigurationError, match="2,600 bytes together, not 2,60"):
        manager.update(["é", "x" * (room + 1)])
    for namespace in ("n" * 2_601, "n\0", "\ud800", 3):
        with pytest.raises(ConfigurationError, match="namespace"):
            PgRecordManager(namespace, database)  # type: ignore[arg-type]


def test_wrong_use_is_refused(manager: PgRecordManager) -> None:
    """As LangChain's own does, by a ValueError, and nothing is recorded."""
    with pytest.raises(ValueError, match="2 keys cannot have 1 group ids"):
        manager.update(["a", "b"], group_ids=["g"])
    with pytest.raises(ValueError, match="already: index again") as caught:
        manager.update(["a"], time_at_least=manager.get_time() + 100)
    assert isinstance(caught.value, ServerTimeError)
    assert 99 < caught.value.at_least - caught.value.now < 101
    assert manager.list_keys() == []


def test_the_oldest_come_first(manager: PgRecordManager) -> None:
    """So a limited list goes on where the last one ended."""
    for key in ("b", "c", "a"):
        manager.update([key])
    manager.update(["b"])
    assert manager.list_keys() == ["c", "a", "b"]
    assert manager.list_keys(limit=2) == ["c", "a"]


def test_without_tables_it_says_what_to_do(postgres_server: str) -> None:
    """And makes them when told, once, or again."""
    with fresh_database(postgres_server) as url:
        manager = PgRecordManager("tests", url)
        with pytest.raises(ConfigurationError, match=r"call create_schema\(\) first"):
            manager.exists(["a"])
        manager.create_schema()
        manager.create_schema()
        assert manager.exists(["a"]) == [False]
        manager.close()
        manager.close()


def test_a_schema_of_its_own(manager: PgRecordManager, database: Database) -> None:
    """Any schema that the tables can be in."""
    apart = PgRecordManager("tests", database, schema="Of its own")
    apart.create_schema()
    manager.update(["a"])
    assert apart.list_keys() == []


@pytest.fixture
def opened(postgres_server: str) -> Iterator[PgRecordManager]:
    with fresh_database(postgres_server) as url:
        made = PgRecordManager("tests", url)
        yield made
        made.close()


def test_from_event_loops(opened: PgRecordManager) -> None:
    """Every call has its twin, which blocks no loop, and works on one loop after another."""

    async def all_calls(key: str) -> list[str]:
        await opened.acreate_schema()
        start = await opened.aget_time()
        await asyncio.gather(*(opened.aupdate([f"{key}{number}"], group_ids=["g"]) for number in range(5)))
        await opened.aupdate([], time_at_least=start)
        assert await opened.aexists([f"{key}0", "x"]) == [True, False]
        assert await opened.aexists([]) == []
        found = await opened.alist_keys(after=start, group_ids=["g"])
        await opened.adelete_keys([f"{key}0"])
        await opened.adelete_keys([])
        return found

    assert sorted(asyncio.run(all_calls("a"))) == ["a0", "a1", "a2", "a3", "a4"]
    assert sorted(asyncio.run(all_calls("b"))) == ["b0", "b1", "b2", "b3", "b4"]
    assert len(opened.list_keys()) == 8
