"""Limits and spilling of live calls, in threads and in event loops."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException

from langgraph_prefetch.errors import BreakerOpenError, OverLimitError, SpeculationDeclinedError
from langgraph_prefetch.serving.gateway import BreakerRule, LimitRule, SpillRule, gateway
from tests.serving.gateway.parts import Component, Log, in_threads, speculation


class Held(Component):
    """Answers when it is let; tells how many calls it had at most at once."""

    def __init__(self, name: str = "held") -> None:
        super().__init__(name, wait=self._hold)
        self.entered, self.let = threading.Semaphore(0), threading.Semaphore(0)
        self.now = self.most = 0
        self._lock = threading.Lock()

    def _hold(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.entered.release()
        assert self.let.acquire(timeout=30)
        with self._lock:
            self.now -= 1


def waiting_of(gated: Any) -> int:
    return int(gated.gateway.components()[0].waiting)


def until(holds: Any) -> None:
    """Returns as soon as ``holds()``; a test that waits in vain ends by its own limit of time."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.002)


def test_calls_beyond_the_limit_wait_their_turn_in_threads() -> None:
    """No more than the limit at once, and all are answered."""
    held = Held()
    gated = gateway(held, limit=2)
    with in_threads(5, gated.invoke) as found:
        for _ in range(2):
            assert held.entered.acquire(timeout=30)
        until(lambda: waiting_of(gated) == 3)
        held.let.release(5)
    assert found == ["held"] * 5
    assert held.most == 2


async def test_calls_beyond_the_limit_wait_their_turn_in_a_loop() -> None:
    """Without blocking it; one that gives up while it waits takes no place with it."""
    let = asyncio.Event()
    now = most = 0

    async def held(given: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await let.wait()
        now -= 1
        return given

    gated = gateway(RunnableLambda(held), name="held", limit=2)
    tasks = [asyncio.ensure_future(gated.ainvoke(number)) for number in range(6)]
    for _ in range(100):
        await asyncio.sleep(0)
    assert waiting_of(gated) == 4
    tasks[3].cancel()
    await asyncio.sleep(0)
    let.set()
    assert await asyncio.gather(*(task for task in tasks if task is not tasks[3])) == [0, 1, 2, 4, 5]
    assert most == 2
    state = gated.gateway.components()[0]  # type: ignore[attr-defined]
    assert (state.in_flight, state.waiting) == (0, 0)


def test_who_waits_too_long_is_told_so_or_stood_in_for() -> None:
    """The place is not lost."""
    held = Held()
    rule = LimitRule(initial=1, least=1, most=1, wait_seconds=0.0)
    gated = gateway(held, limit=rule)
    with in_threads(1, gated.invoke) as found:
        assert held.entered.acquire(timeout=30)
        with pytest.raises(OverLimitError, match="serves 1 calls at once"):
            gated.invoke(0)
        assert gateway(gated, fallback=lambda given: "small").invoke(0) == "small"
        held.let.release(2)
    assert found == ["held"]
    assert gated.invoke(0) == "held"


def test_early_calls_are_shed_first() -> None:
    """With one of two places taken there is none for them; a call that was asked for gets it."""
    held = Held()
    gated = gateway(held, limit=2)
    with in_threads(1, gated.invoke) as found:
        assert held.entered.acquire(timeout=30)
        with speculation(), pytest.raises(SpeculationDeclinedError):
            gated.invoke(0)
        held.let.release(2)
        assert gated.invoke(0) == "held"
    assert found == ["held"]


def test_calls_that_find_no_place_are_spilled() -> None:
    """Dedicated first; the one that waits when the threshold is crossed goes to the serverless component at once."""
    held, serverless, log = Held(), Component("serverless"), Log()
    gated = gateway(held, name="dedicated", limit=2, spill_to=serverless, spill=SpillRule(waiting=2), events=log)
    with in_threads(3, gated.invoke) as found:
        for _ in range(2):
            assert held.entered.acquire(timeout=30)
        until(lambda: waiting_of(gated) == 1)
        assert gated.invoke(0) == "serverless"
        assert gated.gateway.components()[0].spilling  # type: ignore[attr-defined]
        held.let.release(3)
    assert found == ["held"] * 3
    spilled = [each for each in log.calls if each.spilled]
    assert [(each.component, each.outcome) for each in spilled] == [("spill", "answered")]
    assert [each.reason for each in log.calls if each.outcome == "refused"] == ["spilled"]


def test_what_may_spill_has_a_limit() -> None:
    """Without one no call would ever find no place: the rule's defaults, if nothing is said."""
    serverless = Component("serverless")
    assert gateway(Component("x"), spill_to=serverless).gateway.components()[0].limit == LimitRule().initial  # type: ignore[attr-defined]
    assert gateway(Component("x"), spill_to=serverless, limit=3).gateway.components()[0].limit == 3  # type: ignore[attr-defined]
    assert gateway(Component("x")).gateway.components()[0].limit is None  # type: ignore[attr-defined]


def test_an_outage_of_the_dedicated_component_is_spilled_too() -> None:
    """Its answer is as good as the dedicated one's, and so not marked; the stand-in comes last."""
    log = Log()
    down = ConnectionError("down")
    serverless = Component("serverless")
    gated = gateway(Component("dedicated", down), spill_to=serverless, fallback=lambda given: "small", events=log)
    assert gated.invoke("?") == "serverless"
    serverless.error = down
    assert gated.invoke("?") == "small"
    assert [outcome for _, outcome in log.outcomes] == ["failed", "answered", "failed", "failed", "degraded"]


def test_nothing_is_lost_when_many_threads_call_at_once() -> None:
    """Every call is answered once, and every place is given back."""
    component = Component("quick")
    gated = gateway(component, limit=LimitRule(initial=2, most=4))
    with in_threads(8, lambda number: [gated.invoke(number) for _ in range(50)]) as found:
        pass
    assert found == [["quick"] * 50] * 8
    state = gated.gateway.components()[0]  # type: ignore[attr-defined]
    assert (state.in_flight, state.waiting) == (0, 0)


def test_nobody_waits_for_a_place_at_a_component_that_is_left_alone() -> None:
    """An open breaker is told at once, before the queue: the wait would be for nothing."""
    held, log = Held(), Log()
    rule = LimitRule(initial=3, most=3, backoff=0.1, max_waiting=0)
    gated = gateway(held, name="held", limit=rule, breaker=BreakerRule(failures=1, open_seconds=600), events=log)
    with in_threads(2, gated.invoke):
        for _ in range(2):
            assert held.entered.acquire(timeout=30)
        held.error = ConnectionError("down")
        held.let.release(1)
        until(lambda: log.moves == ["opened"])  # and one place is left, which the other one has
        with pytest.raises(BreakerOpenError):
            gated.invoke("?")
        held.let.release(1)
    assert log.calls[-1].reason is not None
    assert [each.reason for each in log.calls if each.outcome == "refused"] == ["BreakerOpenError"]


def test_the_time_of_a_refusal_is_not_the_time_of_a_call() -> None:
    """A request that the component finds wrong is answered quickly, which says nothing of how long calls take."""
    component = Component("search", ToolException("no such page"))
    gated: Any = gateway(component, limit=LimitRule(initial=1))
    for _ in range(3):
        with pytest.raises(ToolException):
            gated.invoke("?")
    limit = gated.gateway._only.places._limit
    assert limit.usual_seconds is None
    component.error = None
    gated.invoke("?")
    assert limit.usual_seconds is not None
