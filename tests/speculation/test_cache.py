"""The cache of speculations keeps its contract, and its entries theirs."""

import threading

import pytest

from langgraph_prefetch.events import Fate
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.speculation.cache import SpeculationCache, is_empty, snapshot
from langgraph_prefetch.testing.cache_contract import CacheContract, Entries, MakeCache, key_of
from langgraph_prefetch.testing.clock import FakeClock
from langgraph_prefetch.values import Output


class TestSpeculationCache(CacheContract):
    @pytest.fixture
    def make_cache(self) -> MakeCache:
        return SpeculationCache


class TestWithCollidingKeys(CacheContract):
    """Equality decides, not the hash: the contract holds when every key has the same one."""

    @pytest.fixture(autouse=True)
    def _all_hashes_equal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SearchKey, "__hash__", lambda _: 7)

    @pytest.fixture
    def make_cache(self) -> MakeCache:
        return SpeculationCache


@pytest.fixture
def entries() -> Entries:
    return Entries(FakeClock())


def test_a_speculation_has_one_fate(entries: Entries) -> None:
    """Whatever is told later, the first end counts."""
    entry = entries(key_of("a"))
    entry.flight.land(Output("found"))
    entry.settle(Fate.SERVED, "ready")
    entry.abandon("run ended")
    entry.settle(Fate.FAILED, "late")
    assert entries.fates == [(entry, Fate.SERVED, "ready")]


def test_abandoned_entries_are_told_apart(entries: Entries) -> None:
    """Given up while under way is cancelled, after its end wasted, after a failure failed."""
    running, queued = entries(key_of("a")), entries(key_of("b"), running=False)
    ready, failed = entries(key_of("c")), entries(key_of("d"))
    ready.flight.land(Output("found"))
    failed.flight.fail(ConnectionError("503"))
    for entry in (running, queued, ready, failed):
        entry.abandon("run ended")
    assert [(fate, reason) for _, fate, reason in entries.fates] == [
        (Fate.CANCELLED, "run ended"),
        (Fate.CANCELLED, "run ended"),
        (Fate.WASTED, "run ended"),
        (Fate.FAILED, "ConnectionError"),
    ]
    assert running.flight.state == queued.flight.state == "cancelled"


def test_giving_up_twice_is_cancelled_once(entries: Entries) -> None:
    """A retrieval that was cancelled elsewhere is cancelled, not wasted."""
    entry = entries(key_of("a"))
    entry.flight.cancel()
    entry.abandon("too late")
    assert [fate for _, fate, _ in entries.fates] == [Fate.CANCELLED]


def test_a_discarded_entry_has_no_fate(entries: Entries) -> None:
    """What was never started is not counted."""
    entry = entries(key_of("a"), running=False)
    entry.discard()
    entry.abandon("later")
    assert entries.fates == []
    assert entry.flight.state == "cancelled"


def test_snapshots_are_out_of_reach() -> None:
    """Who changes what it was given does not change what is kept (nor the other way round)."""
    original = Output([{"title": "a", "tags": ["x"]}], {"raw": [1]})
    kept = snapshot(original)
    assert kept is not None
    original.content[0]["tags"].append("y")
    original.artifact["raw"].append(2)
    assert kept == Output([{"title": "a", "tags": ["x"]}], {"raw": [1]})
    text = Output("plain")
    assert snapshot(text) is text  # nothing can change it, so nothing is copied


def test_what_cannot_be_copied_is_not_kept() -> None:
    """A lock, a generator or a class that refuses: no snapshot, and no exception."""

    class Refuses:
        def __deepcopy__(self, memo: object) -> None:
            raise ValueError("no")

    assert snapshot(Output("x", threading.Lock())) is None
    assert snapshot(Output([Refuses()])) is None


@pytest.mark.parametrize("content", ["", "  \n", "[]", "{}", "null", [], None])
def test_empty(content: object) -> None:
    """Answers without passages are known in each form tools give them."""
    assert is_empty(Output(content))


@pytest.mark.parametrize("content", ["0", "no results", [{"text": ""}], ["a"]])
def test_not_empty(content: object) -> None:
    """Words are an answer, whatever they say."""
    assert not is_empty(Output(content))
