"""How retrievals end before their time: given up, too slow, or left behind by a loop or a process that ends."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.errors import SpeculationRejectedError
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.loops import GivenLoop
from langgraph_prefetch.testing.clock import FakeClock, HandDrivenLoop
from langgraph_prefetch.values import Output
from tests.speculation.kit import FOUND, SEARCH, Kit, blocking, coroutine, until


def test_cancelling_reaches_a_running_coroutine(make: Callable[..., Kit]) -> None:
    """The work itself stops, so that it costs no more."""
    began, stopped = threading.Event(), threading.Event()

    async def search() -> Output:
        began.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return FOUND

    kit = make()
    flight = kit.start(coroutine(search))
    assert began.wait(10)
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


async def test_what_is_not_wanted_any_more_is_not_begun_on_its_loop(make: Callable[..., Kit]) -> None:
    """The loop of a run that is over may close next, and a task begun there would be pending for ever."""
    here, began, asked = asyncio.get_running_loop(), list[str](), asyncio.Event()

    async def search() -> Output:
        began.append("search")
        return FOUND

    def wanted() -> bool:
        assert asyncio.get_running_loop() is here
        asked.set()
        return False

    kit = make()
    flight = kit.start(replace(coroutine(search, here), wanted=wanted))
    await asyncio.wait_for(asked.wait(), 10)
    assert await flight.await_(10) is None
    assert (flight.state, began) == (FlightState.CANCELLED, [])
    until(lambda: kit.executor.running == 0)


def _on_its_way(kit: Kit, loop: asyncio.AbstractEventLoop) -> bool:
    load = kit.executor._loads._loads.get(loop)
    return load is not None and bool(load.under_way)


async def test_what_was_given_up_on_its_way_is_not_begun_on_its_loop(make: Callable[..., Kit]) -> None:
    """Its end is looked at where it would begin, not only where it was sent off."""
    here, began = asyncio.get_running_loop(), list[str]()

    async def search() -> Output:
        began.append("search")
        return FOUND

    kit = make()
    flight = kit.start(coroutine(search, here))
    until(lambda: _on_its_way(kit, here))  # on its way, and this very wait holds its loop up
    flight.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert began == []


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


def test_closing_does_not_wait_for_work(make: Callable[..., Kit]) -> None:
    """With 30 seconds of work in flight and in the queue it closes long before, and nobody is left waiting."""
    kit = make(max_running=4)

    async def search() -> Output:
        return await asyncio.sleep(30, FOUND)

    flights = [kit.start(coroutine(search)) for _ in range(2)]
    held = [kit.hold() for _ in range(4)]
    time.sleep(0.02)
    began = time.monotonic()
    kit.executor.close()
    kit.executor.close()
    assert time.monotonic() - began < 15
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
    assert time.monotonic() - began < 15
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
