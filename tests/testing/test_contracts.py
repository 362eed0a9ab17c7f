"""The contract suites: our own doubles pass them, and a broken implementation does not."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.events import Event, EventSink
from langgraph_prefetch.ports import SearchTool
from langgraph_prefetch.report import Tally
from langgraph_prefetch.testing.contract import Contract, overridden
from langgraph_prefetch.testing.search import FunctionSearch
from langgraph_prefetch.testing.search_contract import SearchToolContract
from langgraph_prefetch.testing.sink_contract import EventSinkContract

pytest_plugins = "pytester"


def search(query: str, k: int = 5) -> str:
    return f"{k} passages about {query}"


async def asearch(query: str, k: int = 5) -> list[str]:
    await asyncio.sleep(0)
    return [query] * k


class TestFunctionSearch(SearchToolContract):
    @pytest.fixture(params=[search, asearch])
    def tool(self, request: pytest.FixtureRequest) -> SearchTool:
        return FunctionSearch(
            request.param, defaults={"k": 5}, policy=ToolPolicy(name="find", fixed_arguments={"k": 3})
        )

    @pytest.fixture
    def arguments(self) -> Mapping[str, Any]:
        return {"query": "Colorado orogeny"}


class Unguessable(FunctionSearch):
    def arguments_for(self, query: str) -> None:
        return None


class TestWithoutOptionalAbilities(SearchToolContract):
    """A tool of which nothing can be guessed, whose results change and cannot be copied."""

    guesses = repeatable = copyable = False

    @pytest.fixture
    def tool(self) -> SearchTool:
        return Unguessable(lambda query: threading.Lock())

    @pytest.fixture
    def arguments(self) -> Mapping[str, Any]:
        return {"query": "q"}


class TestTally(EventSinkContract):
    @pytest.fixture
    def sink(self) -> EventSink:
        return Tally()


class TestList(EventSinkContract):
    """The plainest sink there is."""

    @pytest.fixture
    def sink(self) -> EventSink:
        events: list[Event] = []
        return events.append


class Base(Contract):
    def test_promise(self) -> None: ...

    def test_other_promise(self) -> None: ...


Base.__module__ = "langgraph_prefetch.testing.example"


class Honest(Base):
    @pytest.mark.xfail(reason="the backend cannot")
    def test_promise(self) -> None:
        raise NotImplementedError

    def test_of_its_own(self) -> None: ...


class Silent(Base):
    def test_promise(self) -> None: ...

    @pytest.mark.xfail
    def test_other_promise(self) -> None: ...


def test_an_overridden_promise_is_seen() -> None:
    """A contract test may be an expected failure with a reason; it may not be replaced."""
    assert overridden(Honest) == []
    assert overridden(Silent) == ["test_other_promise", "test_promise"]


BROKEN = """
import threading
import pytest
from langgraph_prefetch.testing.cache_contract import CacheContract
from langgraph_prefetch.testing.search import FunctionSearch
from langgraph_prefetch.testing.search_contract import SearchToolContract
from langgraph_prefetch.testing.sink_contract import EventSinkContract
from langgraph_prefetch.speculation.cache import SpeculationCache

class Forgetful(SpeculationCache):
    def begin(self, key, run_id, make):
        return make(), True
    def void(self, scope):
        return self.take()

class TestCache(CacheContract):
    @pytest.fixture
    def make_cache(self):
        return Forgetful

class Changing(FunctionSearch):
    def complete(self, arguments):
        return {**arguments, "asked": len(arguments)}
    def prepare(self, arguments, caller):
        work = super().prepare(arguments, caller)
        return type(work)(context=work.context)

class TestSearch(SearchToolContract):
    @pytest.fixture
    def tool(self):
        return Changing(lambda query, asked: query)
    @pytest.fixture
    def arguments(self):
        return {"query": "q"}

class TestSink(EventSinkContract):
    @pytest.fixture
    def sink(self):
        def raises(event):
            if hasattr(event, "reason"):
                raise ValueError("no")
        return raises
    def test_events_out_of_order_are_taken(self, sink):
        pass

class TestAbilities(SearchToolContract):
    guesses = copyable = False
"""


@pytest.fixture(autouse=True)
def _settings(request: pytest.FixtureRequest) -> None:
    if "pytester" in request.fixturenames:
        request.getfixturevalue("pytester").makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")


def test_broken_implementations_fail(pytester: pytest.Pytester) -> None:
    """Each suite names the promise that is broken."""
    pytester.makepyfile(BROKEN)
    outcome = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q")
    failed = {line.split(" - ")[0] for line in outcome.outlines if line.startswith("FAILED")}
    for name in (
        "TestCache::test_one_begins_and_the_next_joins",
        "TestCache::test_void_keeps_to_its_scope",
        "TestCache::test_twenty_threads_begin_once",
        "TestCache::test_twenty_tasks_begin_once",
        "TestSearch::test_completing_twice_changes_nothing",
        "TestSearch::test_work_has_one_form",
        "TestSink::test_every_kind_of_event_is_taken",
        "TestSink::test_many_threads_at_once",
        "TestSink::test_no_contract_test_is_overridden",
    ):
        assert any(each.endswith(name) for each in failed), name
    assert not any("TestCache::test_put_gives_way_to_a_newer_entry" in each for each in failed)
    outcome.stdout.fnmatch_lines(["E*assert*True, True*"])  # with the values, as in any other test


def test_abilities_not_offered_are_named(pytester: pytest.Pytester) -> None:
    """A skipped promise is a line that says whose and which."""
    pytester.makepyfile(
        """
        import pytest
        from langgraph_prefetch.testing.search import FunctionSearch
        from langgraph_prefetch.testing.search_contract import SearchToolContract

        class TestMine(SearchToolContract):
            copyable = False

            @pytest.fixture
            def tool(self):
                return FunctionSearch(lambda query: query)

            @pytest.fixture
            def arguments(self):
                return {"query": "q"}
        """
    )
    outcome = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs")
    outcome.assert_outcomes(passed=11, skipped=2)
    outcome.stdout.fnmatch_lines(["*TestMine: copyable not offered*"])
