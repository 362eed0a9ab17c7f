"""A pool that serves live."""

import asyncio
import contextvars
import os
import threading
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, PoolClosedError, QueueFullError, ReplicaLostError
from langgraph_prefetch.events import Event, StageVisited
from langgraph_prefetch.serving.pools import Pool
from langgraph_prefetch.serving.queueing.policies import FirstCome
from langgraph_prefetch.speculative import speculating
from tests.serving.pools.stages import Counter, broken, pid


class Gate:
    """A stage that says who is in it, and lets each go when it is told to."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.entered = asyncio.Event()
        self.gates: dict[str, asyncio.Event] = {}

    async def __call__(self, name: str) -> str:
        self.inside.append(name)
        self.entered.set()
        await self.gates.setdefault(name, asyncio.Event()).wait()
        return name.upper()

    def let(self, name: str) -> None:
        self.gates.setdefault(name, asyncio.Event()).set()


async def turn() -> None:
    """All that can go on without waiting for anything has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_calls_wait_for_a_replica_and_get_what_the_stage_returns() -> None:
    """No more at once than there are places."""
    gate = Gate()
    async with Pool("p", gate, replicas=2) as pool:
        calls = [asyncio.create_task(pool(name)) for name in "abc"]
        await turn()
        assert gate.inside == ["a", "b"]
        gate.let("b")
        await turn()
        assert gate.inside == ["a", "b", "c"]
        gate.let("a")
        gate.let("c")
        assert await asyncio.gather(*calls) == ["A", "B", "C"]


async def test_speculation_waits_behind_demand() -> None:
    """What runs early is known by its context, without a word from the caller."""
    gate = Gate()
    early = contextvars.copy_context()
    early.run(speculating.set, True)
    async with Pool("p", gate) as pool:
        calls = [asyncio.create_task(pool("a"))]
        await turn()
        calls.append(asyncio.create_task(pool("early"), context=early))
        await turn()
        calls.append(asyncio.create_task(pool("b")))
        await turn()
        for name in ("a", "b", "early"):
            gate.let(name)
            await turn()
        assert gate.inside == ["a", "b", "early"]
        await asyncio.gather(*calls)


async def test_a_cancelled_caller_leaves_the_queue_or_ends_its_visit() -> None:
    """And nobody behind it waits for it."""
    gate = Gate()
    async with Pool("p", gate) as pool:
        first, second, third = (asyncio.create_task(pool(name)) for name in "abc")
        await turn()
        second.cancel()
        await turn()
        first.cancel()
        await turn()
        assert gate.inside == ["a", "c"]
        gate.let("c")
        assert await third == "C"
        assert pool.pressure().busy == 0


async def test_a_caller_cancelled_as_its_turn_comes_gives_it_on() -> None:
    """Its place is not lost."""
    gate = Gate()
    async with Pool("p", gate) as pool:
        first, second, third = (asyncio.create_task(pool(name)) for name in "abc")
        await turn()
        gate.let("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        await turn()
        gate.let("b")
        gate.let("c")
        assert await first == "A"
        assert await third == "C"
        await asyncio.gather(second, return_exceptions=True)
        assert pool.pressure().busy == 0


async def test_what_a_stage_raises_is_raised_and_told() -> None:
    """The pool serves on."""
    events: list[Event] = []

    async def stage(fail: bool) -> str:
        if fail:
            raise ValueError("its own")
        return "well"

    async with Pool("p", stage, events=events.append) as pool:
        with pytest.raises(ValueError, match="its own"):
            await pool(True)
        assert await pool(False) == "well"
    told = [event for event in events if isinstance(event, StageVisited)]
    assert [(each.stage, each.failed) for each in told] == [("p", True), ("p", False)]


async def test_a_full_queue_refuses_at_once() -> None:
    """Bounded, whatever comes."""
    gate = Gate()
    async with Pool("p", gate, max_waiting=1) as pool:
        calls = [asyncio.create_task(pool("a"))]
        await turn()
        calls.append(asyncio.create_task(pool("b")))
        await turn()
        with pytest.raises(QueueFullError):
            await pool("c")
        gate.let("a")
        gate.let("b")
        await asyncio.gather(*calls)


async def test_growing_serves_who_waits_and_shrinking_waits_for_nobody() -> None:
    """Replicas too many end what they have begun."""
    gate = Gate()
    async with Pool("p", gate) as pool:
        calls = [asyncio.create_task(pool(name)) for name in "abcd"]
        await turn()
        await pool.resize(3)
        await turn()
        assert gate.inside == ["a", "b", "c"]
        await pool.resize(1)
        assert pool.replicas == 1
        gate.let("a")
        await turn()
        gate.let("b")
        await turn()
        assert gate.inside == ["a", "b", "c"], "the two that ended were two too many"
        for name in "cd":
            gate.let(name)
        assert await asyncio.gather(*calls) == list("ABCD")
        with pytest.raises(ConfigurationError):
            await pool.resize(-1)


async def test_draining_ends_what_was_begun_and_takes_no_more() -> None:
    """Who waits already is served."""
    gate = Gate()
    async with Pool("p", gate) as pool:
        calls = [asyncio.create_task(pool(name)) for name in "ab"]
        await turn()
        draining = asyncio.create_task(pool.drain())
        await turn()
        with pytest.raises(PoolClosedError):
            await pool("c")
        assert not draining.done()
        gate.let("a")
        gate.let("b")
        await draining
        assert await asyncio.gather(*calls) == ["A", "B"]


async def test_closing_tells_those_who_wait() -> None:
    """Nobody waits for a pool that is gone."""
    gate = Gate()
    async with Pool("p", gate) as pool:
        first, second = (asyncio.create_task(pool(name)) for name in "ab")
        await turn()
    with pytest.raises(PoolClosedError):
        await second
    gate.let("a")
    assert await first == "A"


async def test_plain_functions_run_on_threads_in_the_callers_context() -> None:
    """Many at once, none on the loop; a cancelled caller's visit keeps its place until it has ended."""
    variable = contextvars.ContextVar("variable", default="")
    variable.set("the caller's")
    release, began = threading.Event(), threading.Event()

    def stage(wait: bool) -> tuple[str, int]:
        if wait:
            began.set()
            release.wait(10)
        return variable.get(), threading.get_ident()

    async with Pool("p", stage, place="threads", policy=FirstCome()) as pool:
        value, thread = await pool(False)
        assert value == "the caller's"
        assert thread != threading.get_ident()
        slow = asyncio.create_task(pool(True))
        await asyncio.to_thread(began.wait, 10)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        assert pool.pressure().busy == 1, "the thread works on"
        after = asyncio.create_task(pool(False))
        await turn()
        assert not after.done()
        release.set()
        assert (await after)[0] == "the caller's"


@pytest.mark.slow
async def test_processes_serve_and_one_that_dies_is_replaced() -> None:
    """Each replica is a process with an instance of its own."""
    async with Pool("p", {"pid": pid, "count": Counter, "broken": broken}, place="process", replicas=1) as pool:
        (process,) = pool.pids
        assert process not in (0, os.getpid())
        assert await pool.visit("pid") == process
        assert [await pool.visit("count") for _ in range(2)] == [(process, 1), (process, 2)]
        with pytest.raises(ValueError, match="the stage's own"):
            await pool.visit("broken")
        with pytest.raises(ReplicaLostError, match="pool 'p'"):
            await pool.visit("pid", die=True)
        other = await pool.visit("pid")
        assert other != process
        assert await pool.visit("count") == (other, 1)


async def test_functions_that_cannot_run_there_are_refused() -> None:
    """With what to do instead."""

    async def awaits() -> None: ...

    def plain() -> None: ...

    cases: list[tuple[Any, dict[str, Any], str]] = [
        (plain, {}, "would block the event loop"),
        (awaits, {"place": "threads"}, "is a coroutine function"),
        (plain, {"place": "process"}, "at the top of a module"),
        (pid, {"place": "process", "concurrency": 2}, "one visit at a time"),
        (awaits, {"replicas": -1}, "-1 replicas"),
    ]
    for serve, options, message in cases:
        with pytest.raises(ConfigurationError, match=message):
            Pool("p", serve, **options)
    async with Pool("p", {"a": awaits, "b": awaits}) as pool:
        with pytest.raises(ConfigurationError, match=r"name one with visit\(\)"):
            await pool()
    with pytest.raises(PoolClosedError):
        await pool.visit("a")
