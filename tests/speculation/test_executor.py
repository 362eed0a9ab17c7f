"""The executor: bounded, real calls first, everything cancellable, and nothing blocks its caller."""

import asyncio
import contextvars
import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.errors import SpeculationRejectedError
from langgraph_prefetch.ports import Work
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.loops import BackgroundLoop, GivenLoop
from langgraph_prefetch.testing.clock import FakeClock, HandDrivenLoop
from langgraph_prefetch.values import Output

FOUND = Output("found")
SEARCH = ToolPolicy(name="search")
mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="nobody")


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.002)


def blocking(function: Callable[[], Any]) -> Work:
    return Work(context=contextvars.copy_context(), blocking=function)


def coroutine(function: Callable[[], Any], loop: asyncio.AbstractEventLoop | None = None) -> Work:
    return Work(context=contextvars.copy_context(), coroutine=function, loop=loop)


class Kit:
    """An executor on a loop of its own, and the flights handed to it."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def start(self, work: Work, policy: ToolPolicy = SEARCH) -> Flight:
        flight = Flight(time.monotonic)
        self.executor.submit(flight, work, policy.name, policy)
        return flight

    def hold(self, policy: ToolPolicy = SEARCH) -> tuple[Flight, threading.Event]:
        """A blocking search that ends when its event is set."""
        go = threading.Event()
        return self.start(blocking(lambda: go.wait(30) and FOUND), policy), go


@pytest.fixture
def make() -> Iterator[Callable[..., Kit]]:
    made: list[Executor] = []

    def build(**limits: int) -> Kit:
        executor = Executor(BackgroundLoop(), ExecutorLimits(**limits), time.monotonic)
        made.append(executor)
        return Kit(executor)

    yield build
    for executor in made:
        executor.close()


# ---- what runs where


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


# ---- limits


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


# ---- giving up


def test_cancelling_reaches_a_running_coroutine(make: Callable[..., Kit]) -> None:
    """The work itself stops, so that it costs no more."""
    stopped = threading.Event()

    async def search() -> Output:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return FOUND

    kit = make()
    flight = kit.start(coroutine(search))
    time.sleep(0.02)
    flight.cancel()
    assert stopped.wait(10)
    until(lambda: kit.executor.running == 0)


async def test_cancelling_reaches_a_coroutine_on_the_callers_loop(make: Callable[..., Kit]) -> None:
    """Also where it runs on another loop."""
    began, stopped = asyncio.Event(), asyncio.Event()

    async def search() -> Output:
        began.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()
        return FOUND

    kit = make()
    flight = kit.start(coroutine(search, asyncio.get_running_loop()))
    await asyncio.wait_for(began.wait(), 10)
    flight.cancel()
    await asyncio.wait_for(stopped.wait(), 10)


def test_an_abandoned_thread_counts_until_it_ends(make: Callable[..., Kit]) -> None:
    """Its place is not given away, or hung searches would pile up without bound."""
    kit = make(max_running=1)
    began, go = threading.Event(), threading.Event()

    def search() -> Output:
        began.set()
        go.wait(30)
        return FOUND

    flight = kit.start(blocking(search))
    began.wait(10)
    flight.cancel()
    waiting = kit.start(blocking(lambda: FOUND))
    time.sleep(0.05)
    assert (kit.executor.running, waiting.state) == (1, FlightState.QUEUED)
    go.set()
    assert waiting.wait(10) == FOUND


def test_a_cancelled_one_in_the_queue_never_runs(make: Callable[..., Kit]) -> None:
    """And it makes room for another."""
    ran: list[str] = []
    kit = make(max_running=1, max_queued=1)
    held, go = kit.hold()

    def run(name: str) -> Output:
        ran.append(name)
        return FOUND

    queued = kit.start(blocking(lambda: run("cancelled")))
    queued.cancel()
    until(lambda: not kit.executor._queue)
    after = kit.start(blocking(lambda: run("after")))
    go.set()
    assert held.wait(10) == after.wait(10) == FOUND
    assert ran == ["after"]


def test_cancelled_before_its_first_step() -> None:
    """At every moment between being handed over and running, a cancellation gives the place back."""

    async def search() -> Output:
        return await asyncio.sleep(30, FOUND)

    for rounds in range(4):
        for work in (coroutine(search), blocking(lambda: FOUND)):
            clock = FakeClock()
            loop = HandDrivenLoop(clock)
            executor = Executor(GivenLoop(loop), ExecutorLimits(max_running=1), clock)
            flight = Flight(clock)
            executor.submit(flight, work, "search", SEARCH)
            loop.settle(rounds)
            flight.cancel()
            until(lambda loop=loop, executor=executor: loop.settle() or executor.running == 0)  # type: ignore[misc]
            loop.close()


def test_cancelled_in_the_round_that_starts_it() -> None:
    """A task that is cancelled before any of its code has run gives its place back too."""
    clock = FakeClock()
    loop = HandDrivenLoop(clock)
    executor = Executor(GivenLoop(loop), ExecutorLimits(max_running=1), clock)
    flight = Flight(clock)

    async def search() -> Output:
        return FOUND

    executor.submit(flight, coroutine(search), "search", SEARCH)
    loop.call_soon(flight.cancel)  # after the task was made
    loop.call_soon(executor._sweep)  # and before its first step
    loop.settle()
    assert executor.running == 0
    loop.close()


def test_a_search_that_takes_too_long_fails(make: Callable[..., Kit]) -> None:
    """After the tool's timeout it is given up; a coroutine stops, a thread is left behind."""
    quick = ToolPolicy(name="search", timeout_seconds=0.05)
    kit = make()

    async def search() -> Output:
        return await asyncio.sleep(30, FOUND)

    in_thread, go = kit.hold(quick)
    in_loop = kit.start(coroutine(search), quick)
    for flight in (in_thread, in_loop):
        flight.wait(10)
        assert isinstance(flight.error, TimeoutError)
    until(lambda: kit.executor.running == 1)
    go.set()
    until(lambda: kit.executor.running == 0)


# ---- the end


def test_closing_does_not_wait_for_work(make: Callable[..., Kit]) -> None:
    """With 30 seconds of work in flight and in the queue it closes within one, and nobody is left waiting."""
    kit = make(max_running=4)

    async def search() -> Output:
        return await asyncio.sleep(30, FOUND)

    flights = [kit.start(coroutine(search)) for _ in range(2)]
    held = [kit.hold() for _ in range(4)]
    time.sleep(0.02)
    began = time.monotonic()
    kit.executor.close()
    kit.executor.close()
    assert time.monotonic() - began < 1
    assert {flight.state for flight in (*flights, *(flight for flight, _ in held))} == {FlightState.CANCELLED}
    with pytest.raises(SpeculationRejectedError, match="closed"):
        kit.start(blocking(lambda: FOUND))
    for _, go in held:
        go.set()


def test_closing_while_a_coroutine_blocks_the_loop(make: Callable[..., Kit]) -> None:
    """Even a coroutine that never yields does not keep the process waiting."""
    go = threading.Event()

    async def blocks() -> Output:
        go.wait(30)
        return FOUND

    kit = make()
    kit.start(coroutine(blocks))
    time.sleep(0.02)
    began = time.monotonic()
    kit.executor.close()
    assert time.monotonic() - began < 1
    go.set()


def test_a_callers_loop_that_is_closed(make: Callable[..., Kit]) -> None:
    """Work for a loop that is gone fails, and frees its place."""
    gone = asyncio.new_event_loop()
    gone.close()

    async def search() -> Output:
        return FOUND

    kit = make()
    flight = kit.start(coroutine(search, gone))
    flight.wait(10)
    assert flight.state is FlightState.FAILED
    until(lambda: kit.executor.running == 0)


def test_an_own_loop_that_is_closed() -> None:
    """An executor whose loop was closed under it refuses, instead of raising something unknown."""
    loop = asyncio.new_event_loop()
    executor = Executor(GivenLoop(loop), ExecutorLimits(), time.monotonic)
    loop.close()
    flight = Flight(time.monotonic)
    with pytest.raises(SpeculationRejectedError, match="loop is closed"):
        executor.submit(flight, blocking(lambda: FOUND), "search", SEARCH)
    assert executor.running == 0
    flight.cancel()
    executor.close()


def test_a_caller_that_leaves_without_waiting(make: Callable[..., Kit], caplog: pytest.LogCaptureFixture) -> None:
    """asyncio.run() ends with a speculation under way on its loop: cancelled, and no noise."""
    flights: list[Flight] = []
    kit = make()

    async def search() -> Output:
        return await asyncio.sleep(30, FOUND)

    async def agent() -> None:
        flights.append(kit.start(coroutine(search, asyncio.get_running_loop())))
        await asyncio.sleep(0.05)

    asyncio.run(agent())
    flights[0].wait(10)
    assert flights[0].state is FlightState.CANCELLED
    until(lambda: kit.executor.running == 0)
    gc.collect()
    assert caplog.records == []


def test_fifty_threads_submit_at_once(make: Callable[..., Kit]) -> None:
    """Every flight ends, whatever the order; no place is lost."""
    kit = make(max_running=4, max_queued=1_000)
    flights: list[Flight] = []

    async def search() -> Output:
        await asyncio.sleep(0)
        return FOUND

    def submit(number: int) -> None:
        for each in range(10):
            flight = kit.start(coroutine(search) if each % 2 else blocking(lambda: FOUND))
            flights.append(flight)
            if (number + each) % 3 == 0:
                flight.cancel()

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for flight in flights:
        flight.wait(20)
    assert {flight.state for flight in flights} <= {FlightState.READY, FlightState.CANCELLED}
    until(lambda: kit.executor.running == 0)
