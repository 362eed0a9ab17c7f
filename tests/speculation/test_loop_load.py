"""A caller's loop that is busy is given no more speculation, and is given some again soon after it is not."""

import asyncio
import contextvars
import gc
import time
from itertools import pairwise

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.errors import SpeculationRejectedError
from langgraph_prefetch.ports import Work
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.speculation.loop_load import (
    BUSY_SECONDS,
    SHED_SECONDS,
    LoopLoad,
    LoopLoads,
    arrived,
    hopped,
    is_busy,
    withdrawn,
)
from langgraph_prefetch.speculation.loops import BackgroundLoop
from langgraph_prefetch.testing.clock import FakeClock
from langgraph_prefetch.values import Output


def test_quick_hops_tell_nothing() -> None:
    """However many come and go in time."""
    load = LoopLoad()
    for now in range(100):
        load = arrived(hopped(load, now), now, now + BUSY_SECONDS / 2)
        assert not is_busy(load, now + BUSY_SECONDS / 2)
    assert load == LoopLoad()


def test_a_slow_hop_sheds_for_a_moment() -> None:
    """And no longer: the next speculation is the next measurement."""
    load = arrived(hopped(LoopLoad(), 5.0), 5.0, 5.0 + 2 * BUSY_SECONDS)
    late = 5.0 + 2 * BUSY_SECONDS
    assert is_busy(load, late)
    assert is_busy(load, late + SHED_SECONDS * 0.9)
    assert not is_busy(load, late + SHED_SECONDS)


def test_a_hop_that_is_late_already_sheds() -> None:
    """A blocked loop is known before it is free again; one of several hops is enough."""
    load = hopped(hopped(LoopLoad(), 5.0), 5.0 + BUSY_SECONDS / 2)
    assert not is_busy(load, 5.0 + BUSY_SECONDS * 0.9)
    assert is_busy(load, 5.0 + BUSY_SECONDS * 1.1)
    assert not is_busy(withdrawn(load, 5.0), 5.0 + BUSY_SECONDS * 1.1)


def test_withdrawn_twice_is_withdrawn_once() -> None:
    """A hop that arrived is not there any more; another made at the same moment is."""
    load = hopped(hopped(LoopLoad(), 5.0), 5.0)
    assert withdrawn(load, 5.0).under_way == (5.0,)
    assert withdrawn(withdrawn(withdrawn(load, 5.0), 5.0), 5.0) == LoopLoad()


def test_loops_are_told_apart_and_not_kept() -> None:
    """One loop's load is not another's, and a loop that is gone leaves nothing."""
    clock = FakeClock()
    loads = LoopLoads(clock)
    busy, idle = asyncio.new_event_loop(), asyncio.new_event_loop()
    loads.hop(busy)
    clock.pass_(1)
    assert (loads.is_busy(busy), loads.is_busy(idle)) == (True, False)
    for loop in (busy, idle):
        loop.close()
    del busy, idle, loop
    gc.collect()
    assert len(loads) == 0


FOUND = Output("found")


async def test_a_blocked_loop_is_given_nothing_more_and_gets_some_again_later() -> None:
    """Rejected while it is blocked and for a moment after; work that needs no turn of that loop is taken."""
    here = asyncio.get_running_loop()
    executor = Executor(BackgroundLoop(), ExecutorLimits(), time.monotonic)
    policy = ToolPolicy(name="search")

    async def search() -> Output:
        return FOUND

    def submit(work: Work) -> Flight:
        flight = Flight(time.monotonic)
        executor.submit(flight, work, "search", policy)
        return flight

    def on_this_loop() -> Work:
        return Work(context=contextvars.copy_context(), coroutine=search, loop=here)

    try:
        first = submit(on_this_loop())
        time.sleep(2 * BUSY_SECONDS + 0.2)  # noqa: ASYNC251 - the caller's own code blocks it
        with pytest.raises(SpeculationRejectedError, match="loop busy"):
            submit(on_this_loop())
        assert submit(Work(context=contextvars.copy_context(), blocking=lambda: FOUND)).wait(10) == FOUND
        assert await first.await_(10) == FOUND  # what was started before is not taken back
        with pytest.raises(SpeculationRejectedError, match="loop busy"):
            submit(on_this_loop())
        await asyncio.sleep(SHED_SECONDS + 0.1)
        assert await submit(on_this_loop()).await_(10) == FOUND
    finally:
        executor.close()


def test_constants_leave_room_for_taking_turns() -> None:
    """Shedding lasts longer than what causes it, or a blocked loop would be filled again at once."""
    assert all(low < high for low, high in pairwise((0.05, BUSY_SECONDS, SHED_SECONDS, 2.0)))
