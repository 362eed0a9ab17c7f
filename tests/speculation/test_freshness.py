"""A tool that knows its epoch: what it read earlier answers only while nothing was written since."""

import asyncio
import threading
from collections.abc import Hashable
from typing import Any

import pytest

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.ports import Caller
from langgraph_prefetch.speculation import freshness
from langgraph_prefetch.speculation.freshness import OUTDATED
from langgraph_prefetch.testing.search import HandDrivenSearch, PlainCaller
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig


class EpochSearch(HandDrivenSearch):
    """Its epoch is moved by the test; an exception in its place is raised."""

    def __init__(self, *, policy: ToolPolicy | None = None, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(policy=policy, loop=loop)
        self.now: Hashable | Exception | None = 1
        self.asked_on: list[str] = []
        self.gate: threading.Event | None = None

    def epoch(self, caller: Caller) -> Hashable | None:
        self.asked_on.append(threading.current_thread().name)
        if self.gate is not None:
            self.gate.wait()
        if isinstance(self.now, Exception):
            raise self.now
        return self.now

    async def aepoch(self, caller: Caller) -> Hashable | None:
        self.asked_on.append(threading.current_thread().name)
        if self.gate is not None:
            await asyncio.get_running_loop().create_future()
        if isinstance(self.now, Exception):
            raise self.now
        return self.now


def dated(rig: Rig) -> EpochSearch:
    search = EpochSearch()
    rig.search = rig.engine.tools["search"] = search
    return search


def landed(rig: Rig, epoch: Hashable | None) -> Any:
    """A run for whom "a" was found early, in that epoch."""
    run = rig.run()
    rig.seal(run, "a")
    rig.land(Output("found", epoch=epoch))
    return run


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("then", [1, 2, None, RuntimeError("down")], ids=["same", "written", "unknown", "down"])
def test_served_only_in_the_same_epoch(rig: Rig, is_async: bool, then: Hashable | Exception | None) -> None:
    """Equal epochs serve; a write since, an epoch that cannot be told or a store that is down: the call runs."""
    search = dated(rig)
    run = landed(rig, 1)
    search.now = then
    made = rig.call(run, "a")
    if is_async:
        task = rig.loop.create_task(made.aanswer())
        rig.loop.settle()
        answer = task.result()
    else:
        answer = made.answer()
    served = then == 1
    assert (answer is not None) is served
    if not served:
        made.ran(Output("anew"))
        assert rig.answered()[-1].reason == OUTDATED
        assert rig.fates() == [("wasted", OUTDATED)]
    assert rig.engine.report().troubles == int(isinstance(then, Exception))


def test_an_undated_result_answers_nothing(rig: Rig) -> None:
    """Where the epoch was not known when the search began, nobody can say that the result still stands."""
    dated(rig)
    assert rig.answer(landed(rig, None), "a") is None


def test_nothing_found_asks_nobody(rig: Rig) -> None:
    """A call that nothing could answer does not pay for a lookup."""
    search = dated(rig)
    assert rig.answer(rig.run(), "a") is None
    assert search.asked_on == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_hanging_store_costs_a_bounded_wait(rig: Rig, is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lookup ends after its deadline, whether the store answers or not."""
    monkeypatch.setattr(freshness, "LOOKUP_SECONDS", 0.01)
    search = dated(rig)
    run = landed(rig, 1)
    search.gate = threading.Event()
    try:
        made = rig.call(run, "a")
        assert (asyncio.run(made.aanswer()) if is_async else made.answer()) is None
    finally:
        search.gate.set()


def test_a_loops_own_thread_is_not_held(rig: Rig) -> None:
    """A synchronous call on an event loop's thread does not wait for a store: it runs."""
    search = dated(rig)
    assert rig.call(landed(rig, 1), "a").answer(may_wait=False) is None
    assert search.asked_on == []


def test_a_kept_result_is_dated_before_it_was_read(reusing: Rig) -> None:
    """Under reuse a real call's own result answers later calls, until something is written."""
    search = dated(reusing)
    run = reusing.run()
    first = reusing.call(run, "a")
    assert first.answer() is None
    search.now = 2  # written while the first call's search was under way
    first.ran(Output("first"))
    second = reusing.call(run, "a")
    assert second.answer() is None
    second.ran(Output("second"))
    assert reusing.answer(run, "a") == "second"


def test_a_cancelled_lookup_leaves_nothing_behind(reusing: Rig) -> None:
    """A call that is cancelled while it asks for the epoch leads no other into waiting for it."""
    search = dated(reusing)
    search.gate = threading.Event()
    run = reusing.run()
    task = reusing.loop.create_task(reusing.call(run, "a").aanswer())
    reusing.loop.settle()
    task.cancel()
    reusing.loop.settle()
    assert task.cancelled()
    assert len(reusing.shared.cache) == 0


def test_a_resumed_call_is_the_same_call(rig: Rig) -> None:
    """After an interrupt the same call id gets what it got, whatever was written meanwhile."""
    search = dated(rig)
    caller = PlainCaller({"thread_id": "t"})
    run = rig.run(thread_id="t")
    made = run.call(search, {"query": "a"}, "call_1", caller)
    assert made is not None
    made.answer()
    made.ran(Output("found"))
    run.answered(made, Output("found"))
    run.node_ended(interrupted=True)
    search.now = 2
    again = rig.run(thread_id="t").call(search, {"query": "a"}, "call_1", caller)
    assert again is not None
    assert again.answer() == Output("found")
