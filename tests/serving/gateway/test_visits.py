"""What one call of one component teaches, costs and tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.tools import ToolException

from langgraph_prefetch.live_variants import pin, pinned
from langgraph_prefetch.serving.gateway import (
    Call,
    Fruit,
    LimitRule,
    SpillRule,
    VariantSplit,
    degraded_by,
    gateway,
    pipeline,
)
from tests.serving.gateway.parts import Clock, Component, Log, speculation

ONE_BY_ONE = LimitRule(initial=1)
"""Each call is a step of the limit: what it taught shows at once."""


class Streaming(Runnable[Any, Any]):
    """Takes 2 s to its first part and 10 s more to its second, which has the last word."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.closed = clock, 0

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        raise NotImplementedError

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        try:
            for seconds, word in ((2.0, "one"), (10.0, "two")):
                self.clock.now += seconds
                yield AIMessageChunk(content=word)
        finally:
            self.closed += 1

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        for part in self.stream(input):
            yield part


class Warmth:
    """Takes 7 s to become warm."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def ready(self) -> None:
        self.clock.now += 7.0

    async def aready(self) -> None:
        self.ready()


def usual(gated: Any) -> float | None:
    seconds: float | None = gated.gateway._only.places._limit.usual_seconds
    return seconds


async def test_what_is_learned_of_a_stream_is_the_time_to_its_first_part() -> None:
    """How long its reader takes for the rest says nothing of the component."""
    for streamed in (False, True):
        clock, log = Clock(), Log()
        gated: Any = gateway(Streaming(clock), name="s", limit=ONE_BY_ONE, clock=clock, events=log)
        found = [part async for part in gated.astream("?")] if streamed else list(gated.stream("?"))
        assert len(found) == 2
        assert usual(gated) == 2.0
        assert [(each.seconds, each.first_token_seconds) for each in log.calls] == [(12.0, 2.0)]


async def test_time_to_become_warm_is_waited_and_teaches_nothing() -> None:
    """Nor is it billed: the component was not asked yet."""
    for awaited in (False, True):
        clock, log = Clock(), Log()

        def answer(given: str, clock: Clock = clock) -> str:
            clock.now += 3.0
            return given

        async def later(given: str, clock: Clock = clock) -> str:
            return answer(given, clock)

        gated: Any = gateway(
            RunnableLambda(answer, later), name="x", limit=ONE_BY_ONE, warm=Warmth(clock), clock=clock, events=log
        )
        assert (await gated.ainvoke("?") if awaited else gated.invoke("?")) == "?"
        assert usual(gated) == 3.0
        assert [(each.seconds, each.waited_seconds) for each in log.calls] == [(10.0, 7.0)]


def test_an_outage_shrinks_the_limit_and_a_components_own_word_does_not() -> None:
    """At once."""
    component = Component("x", ToolException("no such page"))
    gated: Any = gateway(component, limit=LimitRule(initial=10))
    with pytest.raises(ToolException):
        gated.invoke("?")
    assert gated.gateway.components()[0].limit == 10
    component.error = ConnectionError("down")
    with pytest.raises(ConnectionError):
        gated.invoke("?")
    assert gated.gateway.components()[0].limit == 9


def held(count: int) -> tuple[Runnable[Any, Any], list[asyncio.Event], list[asyncio.Event]]:
    """A component whose calls begin and end by events of their own."""
    begun, let = ([asyncio.Event() for _ in range(count)] for _ in range(2))

    async def answer(number: int) -> str:
        begun[number].set()
        await let[number].wait()
        return "dedicated"

    return RunnableLambda(answer), begun, let


async def waits(gated: Any) -> None:
    for _ in range(100):  # turns of the loop: all of it happens in this thread
        await asyncio.sleep(0)
    assert gated.gateway.components()[0].waiting == 1


async def test_waiting_counts_for_spilling() -> None:
    """A call that took 6 s after 6 s in the queue is one of 12 s to whoever made it."""
    clock, (component, begun, let) = Clock(), held(3)
    rule = SpillRule(waiting=100, seconds=10.0, pace=1.0, busy_share=0.0)
    gated: Any = gateway(
        component, name="dedicated", limit=1, spill_to=RunnableLambda(lambda given: "other"), spill=rule, clock=clock
    )
    first = asyncio.ensure_future(gated.ainvoke(0))
    await begun[0].wait()
    second = asyncio.ensure_future(gated.ainvoke(1))
    await waits(gated)
    for number, task in enumerate((first, second)):
        await begun[number].wait()
        clock.now += 6.0
        let[number].set()
        assert await task == "dedicated"
    let[2].set()
    assert await gated.ainvoke(2) == "other"


async def test_who_goes_away_while_waiting_has_asked_for_nothing() -> None:
    """It is told as cancelled, costs nothing, and is no call of its pipeline."""
    log, (component, begun, let) = Log(), held(2)
    gated: Any = gateway(component, name="x", limit=1, price=1, events=log)
    first = asyncio.ensure_future(gated.ainvoke(0))
    await begun[0].wait()
    with pipeline("answer") as request:
        second = asyncio.ensure_future(gated.ainvoke(1))
        await waits(gated)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
    let[0].set()
    await first
    assert [(each.outcome, each.cost) for each in log.calls] == [("cancelled", None), ("answered", "1")]
    assert gated.gateway.account.statement().total == 1
    assert request.calls == 0


def test_a_stand_in_that_fails_has_given_no_degraded_answer() -> None:
    """Both failed, once each: only the component itself is tried again."""
    stand_in = Component("small", ConnectionError("down"))
    gated = gateway(Component("large", ToolException("no")), fallback=stand_in, attempts=2)
    with pipeline("answer") as request, pytest.raises(ToolException):
        gated.invoke("?")
    assert (request.calls, request.degraded, request.failed) == (2, 0, 2)
    assert stand_in.calls == 1


def test_an_error_costs_nothing_and_an_early_call_is_open() -> None:
    """Providers do not bill what they did not begin; of an early call nobody knows yet what it was good for."""
    component = Component("x", ConnectionError("down"))
    gated: Any = gateway(component, price=Decimal("0.5"))
    with pytest.raises(ConnectionError):
        gated.invoke("?")
    assert gated.gateway.account.statement().total == 0
    component.error = None
    with speculation():
        gated.invoke("?")
    gated.invoke("?")
    lines = gated.gateway.account.statement().lines
    assert {line.fruit: line.amount for line in lines} == {Fruit.OPEN: Decimal("0.5"), Fruit.USED: Decimal("0.5")}


async def test_a_stand_ins_stream_has_its_mark_once() -> None:
    """On its first part, so that parts that are added up have it, and have it right."""
    for streamed in (False, True):
        down: Runnable[Any, Any] = Component("large", ConnectionError("down"))
        gated: Any = gateway(down, fallback=Streaming(Clock()))
        found = [part async for part in gated.astream("?")] if streamed else list(gated.stream("?"))
        assert [degraded_by(part) for part in found] == ["fallback", None]
        assert degraded_by(found[0] + found[1]) == "fallback"


async def test_hooks_hear_of_a_stream_when_it_is_over() -> None:
    """Once, with who answered; and not of one that its reader left."""
    for streamed in (False, True):
        clock, heard = Clock(), list[Call]()

        def hear(call: Call, answer: Any, heard: list[Call] = heard) -> None:
            heard.append(call)

        gated: Any = gateway(Streaming(clock), name="s", after=[hear], clock=clock)
        found = [part async for part in gated.astream("?")] if streamed else list(gated.stream("?"))
        assert len(found) == 2
        left = gated.stream("?")
        next(left)
        left.close()
        assert [(each.component, each.seconds) for each in heard] == [("s", 12.0)]


def test_a_run_keeps_the_variant_that_it_began_with() -> None:
    """Also where the weights were swapped meanwhile: what was searched early is what the real call asks."""
    gated: Any = gateway(
        Component("old"), variants=VariantSplit(name="size", variants={"new": Component("new")}, key="user_id")
    )
    gated.gateway.swap(weights={"default": 1, "new": 0})
    begun = pin({"user_id": "anybody"})
    gated.gateway.swap(weights={"default": 0, "new": 1})
    someone = {"configurable": {"user_id": "anybody"}}
    token = pinned.set(begun)
    try:
        assert gated.invoke("?", someone) == "old"
    finally:
        pinned.reset(token)
    assert gated.invoke("?", someone) == "new"
