"""What will be needed is started at once, all of it together, each once."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.errors import ColdError, ConfigurationError
from langgraph_prefetch.events import ComponentWarmed, SpeculationStarted
from langgraph_prefetch.serving.gateway import BreakerRule, Fruit, gateway
from langgraph_prefetch.serving.gateway.engines import engine
from langgraph_prefetch.serving.warmup import WarmedByCall, Warmer
from langgraph_prefetch.testing.wire import OpenAIWire, Request, ScriptedCall, Turn, words
from langgraph_prefetch.values import Source
from tests.serving.gateway.parts import Clock, Component, Log
from tests.serving.warmup.parts import Startable

NEEDS = {"request": ["embedder", "grader"], "search": ["reranker"]}


def three(barrier: threading.Barrier | None = None) -> dict[str, Startable]:
    return {name: Startable(barrier) for name in ("embedder", "grader", "reranker")}


def test_all_start_at_once() -> None:
    """None of three gets past the barrier before all have begun: the slowest is waited for, not the sum."""
    parts = three(threading.Barrier(3))
    with Warmer(parts) as warmer:
        for each in warmer.warm(parts).values():
            each.result(30)
    assert [each.started for each in parts.values()] == [1, 1, 1]
    assert [each.stopped for each in parts.values()] == [1, 1, 1]


async def test_each_starts_once_however_many_need_it() -> None:
    """Those who come while it starts wait for the same start; who goes away does not stop it."""
    let = threading.Barrier(2)
    part = Startable(let)
    with Warmer({"grader": part}) as warmer:
        grader = warmer.of("grader")
        tasks = [asyncio.ensure_future(grader.aready()) for _ in range(5)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.to_thread(let.wait, 30)
        await asyncio.gather(*tasks[1:])
        await grader.aready()
        await asyncio.to_thread(grader.ready)
    assert part.started == 1


def test_a_start_under_way_is_the_one_that_others_wait_for() -> None:
    """Whichever thread is free: what starts is never started beside itself."""
    let = threading.Barrier(2)
    with Warmer({"grader": Startable(let), "other": Startable()}) as warmer:
        first = warmer.warm(["grader"])["grader"]
        assert warmer.warm(["grader"])["grader"] is first
        let.wait(30)
        first.result(30)


def test_signals_start_what_they_need() -> None:
    """A speculation of a tool starts what the tool will ask, before it is called; others start nothing."""
    parts, log = three(), Log()
    with Warmer(parts, needs=NEEDS, events=log) as warmer:
        for name in ("search", "calculator"):
            warmer(
                SpeculationStarted(
                    run_id="r",
                    step=1,
                    at=0.0,
                    speculation_id="1",
                    tool=name,
                    source=Source.REASONING,
                    probability=0.9,
                    cue="",
                )
            )
        warmer.of("reranker").ready()
    assert [name for name, each in parts.items() if each.started] == ["reranker"]
    assert [(each.component, each.cause, each.failed) for each in log if isinstance(each, ComponentWarmed)] == [
        ("reranker", "intent", False)
    ]


def test_the_baseline_stays_warm_and_the_rest_is_cooled_when_idle() -> None:
    """After ``keep_seconds`` without a need."""
    clock, parts = Clock(), three()
    with Warmer(parts, baseline=["embedder"], keep_seconds=60.0, clock=clock) as warmer:
        for each in (*warmer.warm(parts).values(), *warmer.warm(["embedder"]).values()):
            each.result(30)
        clock.now += 59
        warmer.of("grader").ready()
        clock.now += 1
        assert warmer.cool_idle() == ("reranker",)
        clock.now += 1_000
        assert warmer.cool_idle() == ("grader",)
        assert parts["embedder"].warm_now


def test_what_just_starts_is_not_cooled() -> None:
    """However long its start takes: whoever needed it waits for it."""
    clock, let = Clock(), threading.Barrier(2)
    part = Startable(let)
    with Warmer({"grader": part}, keep_seconds=60.0, clock=clock) as warmer:
        started = warmer.warm(["grader"])["grader"]
        clock.now += 1_000
        assert warmer.cool_idle() == ()
        let.wait(30)
        started.result(30)
        assert part.stopped == 0


def test_a_start_that_has_ended_is_not_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for it may go on before the warmer's own thread does: it is cooled, and started anew."""
    monkeypatch.setattr(Warmer, "_forget", lambda *_: None)  # as late as can be
    clock, part = Clock(), Startable()
    with Warmer({"grader": part}, keep_seconds=60.0, clock=clock) as warmer:
        warmer.of("grader").ready()
        clock.now += 1_000
        assert warmer.cool_idle() == ("grader",)
        warmer.of("grader").ready()
        assert (part.started, part.warm_now) == (2, True)


def test_what_is_cooled_is_not_warm() -> None:
    """Also where its provider stops it, and nothing of ours does."""
    part = WarmedByCall(lambda: None, keep_seconds=300.0)
    part.warm()
    assert part.is_warm()
    part.cool()
    assert not part.is_warm()


def test_a_start_that_fails_is_an_outage_and_is_tried_again() -> None:
    """The gateway's fallback stands in; the next call starts it anew."""
    part, log = Startable(), Log()
    part.failing = True
    with Warmer({"grader": part}, events=log) as warmer:
        with pytest.raises(ColdError, match="'grader' did not become warm: RuntimeError: no room"):
            warmer.of("grader").ready()
        gated = gateway(
            Component("grader"),
            fallback=lambda given: "ungraded",
            warm=warmer.of("grader"),
            breaker=BreakerRule(failures=5),
        )
        assert gated.invoke("?") == "ungraded"
        part.failing = False
        assert gated.invoke("?") == "grader"
    assert [each.failed for each in log if isinstance(each, ComponentWarmed)] == [True, True, False]
    with pytest.raises(ColdError, match="its warmer is closed"):
        warmer.of("grader").ready()


async def test_a_call_in_a_loop_waits_for_warmth_without_blocking_it() -> None:
    """Through the gateway."""
    part = Startable()
    with Warmer({"grader": part}) as warmer:
        gated = gateway(Component("grader"), warm=warmer.of("grader"))
        assert await gated.ainvoke("?") == "grader"
    assert part.started == 1


def test_names_without_a_component_are_refused() -> None:
    """With the one that was meant."""
    with pytest.raises(ConfigurationError, match="Did you mean 'grader'"):
        Warmer(three(), needs={"request": ["gradr"]})
    with pytest.raises(ConfigurationError, match="1 to 64"):
        Warmer({})


def test_a_call_keeps_warm_for_a_while() -> None:
    """By the word of the provider; a clock that goes back makes it cold."""
    clock, calls = Clock(), list[int]()
    part = WarmedByCall(lambda: calls.append(1), keep_seconds=10.0, clock=clock)
    with Warmer({"endpoint": part}) as warmer:
        for step in (0.0, 9.0, 1.0, -5.0):
            clock.now += step
            warmer.of("endpoint").ready()
    assert len(calls) == 3
    with pytest.raises(ConfigurationError):
        WarmedByCall(list, keep_seconds=-1)


def test_an_agents_own_signals_warm_and_settle() -> None:
    """A wrapped agent: its run and its speculation start what they need, and the search it made early is no waste."""
    parts = three()

    def script(request: Request) -> Turn:
        if request.turn:
            return Turn(text=words("it holds"))
        call = ScriptedCall.of("search", {"query": "grid load"})
        return Turn(reasoning=words('I need to search for "grid load" first. '), calls=(call,))

    @tool
    def search(query: str) -> str:
        """Search."""
        return f"about {query}"

    gated = gateway(search, price=0.5)
    account = gated.gateway.account  # type: ignore[attr-defined]
    with Warmer(parts, needs=NEEDS) as warmer, OpenAIWire(script, 0.005) as server:
        model = engine(f"{server.url}/v1", "large", streaming=True)
        agent: Any = with_prefetch(create_agent(model, [gated]), tools=["search"], force_streaming=True)
        agent.prefetch.subscribe(warmer)
        agent.prefetch.subscribe(account)
        agent.invoke({"messages": [HumanMessage("Does the grid hold?")]})
        report = agent.prefetch.report()
    assert [each.started for each in parts.values()] == [1, 1, 1]
    lines = account.statement().lines
    assert {line.fruit for line in lines} <= {Fruit.USED, Fruit.WASTED}
    assert sum(line.quantity for line in lines if line.fruit is Fruit.USED) == 1
    assert report.served == 1
