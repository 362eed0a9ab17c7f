"""Clocks, pauses, threads, the breaker, marks of scopes: each by itself."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.aws.latency import (
    FIRST_POLL_SECONDS,
    LEAST_LOOKUP_SECONDS,
    LEAST_POLL_SECONDS,
    MOST_LOOKUP_SECONDS,
    MOST_POLL_SECONDS,
    Latency,
    pause_before_next_look,
)
from langgraph_prefetch.aws.server_time import ServerTime
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.aws.voids import MOST_SCOPES, Voids
from langgraph_prefetch.breaker import BreakerRule
from langgraph_prefetch.errors import BreakerOpenError
from tests.aws.parts import until

SERVER = "Sun, 29 Nov 2026 22:40:00 GMT"
AT = 1_795_992_000.0


@given(st.lists(st.floats(1e-5, 5)))
def test_waits_follow_what_was_measured_within_bounds(seconds: list[float]) -> None:
    latency = Latency()
    assert (latency.lookup_seconds, latency.poll_seconds) == (MOST_LOOKUP_SECONDS, FIRST_POLL_SECONDS)
    for each in seconds:
        latency.add(each)
        assert LEAST_LOOKUP_SECONDS <= latency.lookup_seconds <= MOST_LOOKUP_SECONDS
        assert LEAST_POLL_SECONDS <= latency.poll_seconds <= MOST_POLL_SECONDS


def test_a_quick_service_is_asked_often_and_waited_for_briefly() -> None:
    quick, slow = Latency(), Latency()
    for _ in range(50):
        quick.add(0.0015)
        slow.add(0.02)
    assert quick.poll_seconds == pytest.approx(0.003)
    assert slow.poll_seconds == pytest.approx(0.04)
    assert quick.lookup_seconds < slow.lookup_seconds + 1e-9


def test_looks_become_rarer_for_what_is_late() -> None:
    """While a result is due the pause is the shortest; ten seconds late, half a second."""
    assert pause_before_next_look(0.5, None, 0.004) == 0.004
    assert pause_before_next_look(1.9, 1.0, 0.004) == 0.004
    assert pause_before_next_look(12.0, 1.0, 0.004) == pytest.approx(0.5)


@pytest.mark.parametrize("ahead", [-7_200.0, -3.0, 3.0, 7_200.0])
def test_a_wrong_clock_takes_the_services_time(ahead: float) -> None:
    clock = ServerTime(lambda: AT + ahead)
    clock.heard(SERVER)
    assert abs(clock() - AT) < 1


@pytest.mark.parametrize("ahead", [-1.4, 0.0, 1.0])
def test_a_right_clock_is_left_alone(ahead: float) -> None:
    """The header has whole seconds: within them nothing jumps."""
    clock = ServerTime(lambda: AT + ahead)
    for date in (SERVER, None, "no date", SERVER):
        clock.heard(date)
    assert clock() == AT + ahead


def test_a_clock_that_was_set_right_goes_by_itself_again() -> None:
    now = AT + 3_600
    clock = ServerTime(lambda: now)
    clock.heard(SERVER)
    now = AT
    clock.heard(SERVER)
    assert clock() == AT


def fail(breaker: Guard, harmless: tuple[type[Exception], ...] = ()) -> None:
    with pytest.raises(KeyError), breaker.calling(harmless):
        raise KeyError


def test_the_breaker_opens_and_closes(caplog: pytest.LogCaptureFixture) -> None:
    """Three failures in a row open it, with one line in the log; after its time one call tries, the others wait."""
    now = [0.0]
    breaker = Guard("dynamodb", BreakerRule(failures=3, open_seconds=5), lambda: now[0])
    fail(breaker)
    fail(breaker)
    with breaker.calling():
        pass
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            fail(breaker)
    assert [each.getMessage().partition(" (")[0] for each in caplog.records] == ["dynamodb does not work"]
    assert breaker.is_open
    with pytest.raises(BreakerOpenError), breaker.calling():
        pass
    now[0] += 5
    assert not breaker.is_open
    with breaker.calling(), pytest.raises(BreakerOpenError), breaker.calling():
        pass
    with breaker.calling():
        pass


def test_what_is_harmless_opens_nothing() -> None:
    breaker = Guard("dynamodb", BreakerRule(failures=1))
    for _ in range(5):
        fail(breaker, (KeyError,))
    assert not breaker.is_open


def test_a_caller_that_goes_away_opens_nothing() -> None:
    """Interrupted calls say nothing of the service; the one that tries after an outage makes room for another."""
    now = [0.0]
    breaker = Guard("dynamodb", BreakerRule(failures=1, open_seconds=5), lambda: now[0])
    with pytest.raises(KeyboardInterrupt), breaker.calling():
        raise KeyboardInterrupt
    assert not breaker.is_open
    fail(breaker)
    now[0] += 5
    with pytest.raises(KeyboardInterrupt), breaker.calling():
        raise KeyboardInterrupt
    with breaker.calling():
        pass
    assert not breaker.is_open


def test_many_threads_through_one_breaker() -> None:
    """Its bookkeeping never raises of itself."""
    breaker, odd = Guard("dynamodb", BreakerRule(failures=2, open_seconds=0.001)), list[BaseException]()

    def work(number: int) -> None:
        for step in range(300):
            try:
                with breaker.calling():
                    if (step + number) % 3 == 0:
                        raise KeyError
            except (KeyError, BreakerOpenError):
                pass
            except BaseException as error:  # noqa: BLE001 - reported below
                odd.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert odd == []


def test_threads_are_bounded_and_daemons() -> None:
    """No more than were allowed run at once; too many calls that wait are refused; raised errors come back."""
    threads, gate, running = Threads("test", 3, most_waiting=5), threading.Event(), list[bool]()

    def hold() -> None:
        running.append(threading.current_thread().daemon)
        gate.wait(60)

    held = [threads.submit(hold) for _ in range(3)]
    until(lambda: len(running) == 3)
    waiting = [threads.submit(hold) for _ in range(5)]
    with pytest.raises(RuntimeError, match="too many"):
        threads.submit(hold)
    waiting[0].cancel()
    gate.set()
    for each in held + waiting[1:]:
        each.result(60)
    with pytest.raises(CancelledError):
        waiting[0].result(0)
    assert running == [True] * 7
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(60)
    threads.close()
    threads.close()
    assert threads.submit(lambda: 7).result(60) == 7


async def test_awaiting_a_thread_blocks_no_loop() -> None:
    threads = Threads("test", 2)

    def sleep() -> str:
        time.sleep(0.05)
        return "slept"

    assert await threads.run(sleep) == "slept"


class Marks:
    """Renews marks as far as it may."""

    def __init__(self) -> None:
        self.renewed: list[str] = []
        self.works = True
        self.gate = threading.Event()
        self.gate.set()

    def renew(self, scope_id: str) -> None:
        self.gate.wait(60)
        if not self.works:
            raise OSError
        self.renewed.append(scope_id)


MakeVoids = Callable[[Marks], Voids]


def voids_of(marks: Marks, now: Callable[[], float] = time.monotonic) -> Voids:
    return Voids(marks.renew, Threads("test", 1, most_waiting=100_000), 100.0, now)


async def test_looks_wait_for_the_mark_of_their_scope() -> None:
    marks = Marks()
    voids = voids_of(marks)
    assert await voids.settled("a")
    marks.gate.clear()
    voids.void("a")
    looking = asyncio.create_task(voids.settled("a"))
    await asyncio.sleep(0.02)
    assert not looking.done()
    marks.gate.set()
    assert await looking
    assert marks.renewed == ["a"]


async def test_a_mark_that_failed_is_tried_again_before_the_next_look() -> None:
    marks = Marks()
    marks.works = False
    voids = voids_of(marks)
    voids.void("a")
    assert not await voids.settled("a")
    assert not await voids.settled("a")
    marks.works = True
    assert not await voids.settled("a") or marks.renewed
    assert await voids.settled("a")


async def test_too_many_scopes_in_doubt_put_all_in_doubt() -> None:
    marks, now = Marks(), 0.0
    marks.gate.clear()
    voids = voids_of(marks, lambda: now)
    for number in range(MOST_SCOPES + 1):
        voids.void(str(number))
    assert not await voids.settled("quite another")
    marks.gate.set()
    now = 101.0
    assert await voids.settled("quite another")
