"""The executor: bounded, real calls first, and nothing blocks its caller."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.errors import SpeculationRejectedError
from langgraph_prefetch.ports import Work
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.loops import GivenLoop
from langgraph_prefetch.testing.clock import FakeClock, HandDrivenLoop
from langgraph_prefetch.values import Output
from tests.speculation.kit import FOUND, Kit, blocking, coroutine, mark, until


def test_blocking_work_runs_on_a_thread_of_its_own(make: Callable[..., Kit]) -> None:
    """In the context that was captured for it, on neither the caller's thread nor the loop's."""
    mark.set("u1")
    work = blocking(lambda: Output((threading.current_thread().name, mark.get())))
    mark.set("u2")
    assert make().start(work).wait(10) == Output(("langgraph-prefetch-search", "u1"))


def test_a_coroutine_runs_on_the_executors_loop(make: Callable[..., Kit]) -> None:
    """An async tool works for a caller without a loop."""
    mark.set("u1")

    async def search() -> Output:
        await asyncio.sleep(0)
        return Output((threading.current_thread().name, mark.get()))

    work = coroutine(search)
    mark.set("u2")
    assert make().start(work).wait(10) == Output(("langgraph-prefetch-loop", "u1"))


async def test_a_coroutine_runs_on_its_callers_loop(make: Callable[..., Kit]) -> None:
    """An async client belongs to the loop it was made in."""

    async def search() -> Output:
        return Output(asyncio.get_running_loop())

    here = asyncio.get_running_loop()
    assert await make().start(coroutine(search, here)).await_(10) == Output(here)


@pytest.mark.parametrize("error", [ValueError("no"), StopIteration("odd"), SystemExit(3), GeneratorExit()])
def test_whatever_a_search_raises_is_a_failure(make: Callable[..., Kit], error: BaseException) -> None:
    """Sync or async, of any kind: the flight fails, the executor goes on."""
    kit = make()

    def fails() -> Output:
        raise error

    async def fails_async() -> Output:
        raise error

    for work in (blocking(fails), coroutine(fails_async)):
        flight = kit.start(work)
        flight.wait(10)
        assert flight.state is FlightState.FAILED
    assert kit.start(blocking(lambda: FOUND)).wait(10) == FOUND
    until(lambda: kit.executor.running == 0)


def test_work_that_gives_no_output_fails(make: Callable[..., Kit]) -> None:
    """A search tool that breaks its port is told, not served."""

    async def wrong() -> Any:
        return "found"

    kit = make()
    for work in (blocking(lambda: "found"), coroutine(wrong), Work(context=contextvars.copy_context())):
        flight = kit.start(work)
        flight.wait(10)
        assert isinstance(flight.error, TypeError)


def test_a_search_that_cancels_itself_is_cancelled(make: Callable[..., Kit]) -> None:
    """Neither a result nor a failure, and its place is free again."""

    async def cancels() -> Output:
        raise asyncio.CancelledError

    kit = make()
    flight = kit.start(coroutine(cancels))
    flight.wait(10)
    assert flight.state is FlightState.CANCELLED
    until(lambda: kit.executor.running == 0)


def test_a_thread_that_cannot_start_frees_its_place(make: Callable[..., Kit], monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of threads is a failure of this one search."""
    kit = make()
    kit.start(blocking(lambda: FOUND)).wait(10)
    until(lambda: kit.executor.running == 0)

    class NoThread:
        def __init__(self, **_: Any) -> None: ...

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, "Thread", NoThread)
    flight = kit.start(blocking(lambda: FOUND))
    flight.wait(10)
    assert flight.state is FlightState.FAILED
    until(lambda: kit.executor.running == 0)


def test_places_and_queue_are_bounded(make: Callable[..., Kit]) -> None:
    """Two run, three wait, the next is refused; a free place takes the one that waited longest."""
    kit = make(max_running=2, max_queued=3)
    held = [kit.hold() for _ in range(5)]
    assert [flight.state for flight, _ in held] == ["running", "running", "queued", "queued", "queued"]
    with pytest.raises(SpeculationRejectedError, match="queue full"):
        kit.hold()
    held[0][1].set()
    until(lambda: held[2][0].state == "running")
    assert held[3][0].state == "queued"
    for _, go in held:
        go.set()
    assert [flight.wait(10) for flight, _ in held] == [FOUND] * 5


def test_a_real_call_takes_the_place_of_speculation(make: Callable[..., Kit]) -> None:
    """While real calls run, speculation on the same tool waits; on other tools it goes on."""
    policy = ToolPolicy(name="search", max_concurrency=2, reserve=1)
    kit = make()
    with kit.executor.real_call("search", policy), kit.executor.real_call("search", policy):
        waiting = kit.start(blocking(lambda: FOUND), policy)
        assert kit.start(blocking(lambda: FOUND), ToolPolicy(name="other", max_concurrency=2)).wait(10) == FOUND
        assert waiting.state is FlightState.QUEUED
    assert waiting.wait(10) == FOUND


def test_a_real_call_that_raises_gives_its_place_back(make: Callable[..., Kit]) -> None:
    """The failure passes through, and the place is free."""
    policy = ToolPolicy(name="search", max_concurrency=2, reserve=0)
    kit = make()
    with pytest.raises(ValueError, match="no"), kit.executor.real_call("search", policy):
        raise ValueError("no")
    assert [kit.start(blocking(lambda: FOUND), policy).wait(10) for _ in range(2)] == [FOUND] * 2


def test_speculation_keeps_to_its_share_of_the_rate() -> None:
    """At ten calls a second, five guesses start at once and the others as the rate allows, by one timer alone."""
    clock = FakeClock()
    loop = HandDrivenLoop(clock)
    executor = Executor(GivenLoop(loop), ExecutorLimits(max_running=100), clock)
    policy = ToolPolicy(name="search", max_per_second=10)

    async def search() -> Output:
        return FOUND

    flights = [Flight(clock) for _ in range(20)]
    for flight in flights:
        executor.submit(flight, coroutine(search), "search", policy)

    def ready() -> int:
        loop.settle()
        return sum(flight.state is FlightState.READY for flight in flights)

    assert ready() == 5
    seen = []
    for _ in range(10):
        clock.pass_(0.1)
        seen.append(ready())
        assert sum(not timer.cancelled() for timer in loop._scheduled) <= 1  # type: ignore[attr-defined]
    assert seen == list(range(6, 16))
    executor.close()
    loop.settle()
    loop.close()


def test_idle_lanes_are_forgotten(make: Callable[..., Kit]) -> None:
    """Tools made anew for each request leave nothing behind."""
    kit = make()
    for number in range(50):
        policy = ToolPolicy(name=f"search-{number}", max_concurrency=4)
        kit.start(blocking(lambda: FOUND), policy).wait(10)
        with kit.executor.real_call(policy.name, policy):
            pass
    until(lambda: kit.executor.running == 0)
    assert kit.executor._lanes == {}
