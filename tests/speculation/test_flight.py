"""A handle on one retrieval: one end, and waits from anywhere that never hang."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.testing.clock import FakeClock
from langgraph_prefetch.values import Output

FOUND = Output("found")
ENDS: list[Callable[[Flight], bool]] = [
    lambda flight: flight.land(FOUND),
    lambda flight: flight.fail(ValueError("no")),
    lambda flight: flight.cancel(),
]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(0.0)


@pytest.fixture
def flight(clock: FakeClock) -> Flight:
    return Flight(clock)


def test_its_states(clock: FakeClock) -> None:
    """Queued, running, then one of three ends, with the time between."""
    for end, state in zip(ENDS, (FlightState.READY, FlightState.FAILED, FlightState.CANCELLED), strict=True):
        flight = Flight(clock)
        assert (flight.state, flight.seconds) == (FlightState.QUEUED, None)
        flight.start()
        assert (flight.state, flight.seconds) == (FlightState.RUNNING, None)
        clock.pass_(0.5)
        assert end(flight)
        clock.pass_(0.5)
        assert (flight.state, flight.seconds) == (state, 0.5)


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", ENDS)
def test_the_first_end_counts(
    flight: Flight, clock: FakeClock, first: Callable[[Flight], bool], second: Callable[[Flight], bool]
) -> None:
    """Later ends change neither state nor time, even those of a clock that began at zero."""
    flight.start()
    assert first(flight)
    state = flight.state
    clock.pass_(1)
    assert not second(flight)
    assert (flight.state, flight.seconds) == (state, 0.0)


def test_output_and_error(flight: Flight, clock: FakeClock) -> None:
    """Each is there after its own end alone."""
    assert (flight.output, flight.error) == (None, None)
    flight.fail(error := ValueError("no"))
    assert (flight.output, flight.error) == (None, error)
    landed = Flight(clock)
    landed.land(FOUND)
    assert (landed.output, landed.error) == (FOUND, None)


def test_its_end_is_told_once(flight: Flight) -> None:
    """Whether asked before or after."""
    told: list[FlightState] = []
    flight.on_end(lambda each: told.append(each.state))
    flight.land(FOUND)
    flight.cancel()
    flight.on_end(lambda each: told.append(each.state))
    assert told == [FlightState.READY, FlightState.READY]


@pytest.mark.parametrize("end", ENDS)
def test_a_waiting_thread_is_woken_by_every_end(flight: Flight, end: Callable[[Flight], bool]) -> None:
    """A result, a failure and a cancellation each end the wait; only the result gives an output."""
    threading.Timer(0.02, lambda: end(flight)).start()
    began = time.monotonic()
    output = flight.wait(20)
    assert time.monotonic() - began < 5
    assert output == (FOUND if flight.state is FlightState.READY else None)


@pytest.mark.parametrize("end", ENDS)
async def test_a_waiting_task_is_woken_by_every_end(flight: Flight, end: Callable[[Flight], bool]) -> None:
    """So it is with tasks, told from another thread."""
    threading.Timer(0.02, lambda: end(flight)).start()
    began = time.monotonic()
    output = await flight.await_(20)
    assert time.monotonic() - began < 5
    assert output == (FOUND if flight.state is FlightState.READY else None)


async def test_waits_are_bounded(flight: Flight) -> None:
    """A retrieval that hangs costs its waiters what they allowed, and no exception."""
    assert flight.wait(0.01) is None
    assert flight.wait(0) is None
    assert flight.wait(-1) is None
    assert await flight.await_(0.01) is None
    assert await flight.await_(0) is None
    assert flight.state is FlightState.QUEUED


async def test_a_cancelled_waiter_leaves_the_retrieval(flight: Flight) -> None:
    """Who stops waiting takes nothing from the others."""
    leaving, staying = (asyncio.create_task(flight.await_(20)) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    assert leaving.cancelled()
    flight.land(FOUND)
    assert await staying == FOUND


def test_a_waiter_whose_loop_is_gone(flight: Flight, caplog: pytest.LogCaptureFixture) -> None:
    """A loop closed in the middle of a wait makes no noise when the retrieval ends."""
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(flight.await_(20))
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.wait([waiting]))
    loop.close()
    assert flight.land(FOUND)
    assert caplog.records == []


def test_many_waiters_from_threads_and_loops(flight: Flight) -> None:
    """Twenty threads and twenty tasks wait for one retrieval; all get its result."""
    got: list[Output | None] = []

    def wait_in_loop() -> None:
        async def wait_often() -> None:
            got.extend(await asyncio.gather(*(flight.await_(20) for _ in range(10))))

        asyncio.run(wait_often())

    threads = [threading.Thread(target=lambda: got.append(flight.wait(20))) for _ in range(20)]
    threads += [threading.Thread(target=wait_in_loop) for _ in range(2)]
    for thread in threads:
        thread.start()
    flight.land(FOUND)
    for thread in threads:
        thread.join()
    assert got == [FOUND] * 40


def test_its_state_can_be_asked_while_it_ends(clock: FakeClock) -> None:
    """No moment of an end makes the state raise."""
    for _ in range(300):
        flight = Flight(clock)
        ending = threading.Thread(target=flight.cancel)
        ending.start()
        while flight.state is not FlightState.CANCELLED:
            assert flight.output is None
        ending.join()


def test_after_a_fork(flight: Flight) -> None:
    """It is cancelled without asking for a lock that nobody may be there to give back."""
    flight._future._condition.acquire()  # as a thread of the parent may have had at the moment of the fork
    flight.cancel_after_fork()
    assert flight.state is FlightState.CANCELLED
    assert flight.wait(20) is None
