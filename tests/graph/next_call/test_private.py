"""A private call keeps what it gives in order, stops when it is not wanted, and is taken over whole or not at all."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from contextvars import Context
from typing import Any

import pytest

from langgraph_prefetch.graph.next_call import private
from langgraph_prefetch.graph.next_call.pieces import Given, Piece, Raised
from langgraph_prefetch.graph.next_call.private import PrivateCall, TaskCall, ThreadCall
from tests.graph.cases.rigs import held, until

WANTED: Any = {"around": nullcontext, "whole": False, "clock": time.monotonic, "wanted": lambda: True}


class Stops:
    """Counts how often a call said that it has stopped."""

    def __init__(self) -> None:
        self.calls: list[PrivateCall] = []
        self.event = threading.Event()

    def __call__(self, call: PrivateCall) -> None:
        self.calls.append(call)
        self.event.set()


def threaded(begin: Any, **changes: Any) -> tuple[ThreadCall, Stops]:
    stops = Stops()
    call = ThreadCall(begin, Context(), on_stop=stops, **{**WANTED, **changes})
    call.start()
    return call, stops


def values(pieces: list[Piece]) -> list[Any]:
    return [piece.value for piece in pieces if isinstance(piece, Given)]


def test_in_order_and_live() -> None:
    """What was given before it is taken over comes first, what comes later is handed through."""
    with held() as gate:

        def begin(put: Any) -> Iterator[int]:
            yield from (1, 2)
            gate.wait(30)
            yield 3

        call, stops = threaded(begin)
        until(lambda: len(call.given) == 2)
        assert call.adopt()
        pieces = call.pieces()
        assert values([next(pieces), next(pieces)]) == [1, 2]
        gate.set()
        assert values(list(pieces)) == [3]
    assert stops.event.wait(30)
    assert (call.complete, call.failed, stops.calls) == (True, False, [call])


class NoClose:
    """An iterator that is no generator."""

    def __init__(self) -> None:
        self._left = [1, 2]

    def __iter__(self) -> NoClose:
        return self

    def __next__(self) -> int:
        if not self._left:
            raise StopIteration
        return self._left.pop(0)


def test_iterators_that_cannot_be_closed() -> None:
    """Not every model's stream is a generator."""
    call, stops = threaded(lambda put: NoClose())
    assert stops.event.wait(30)
    assert call.adopt()
    assert values(list(call.pieces())) == [1, 2]


def test_a_whole_message() -> None:
    """A model that does not stream gives one piece."""
    call, stops = threaded(lambda put: "all of it", whole=True)
    assert stops.event.wait(30)
    assert call.adopt()
    assert values(list(call.pieces())) == ["all of it"]


def test_a_failed_call_is_not_taken_over() -> None:
    """One that has failed before anybody asked is none."""

    def begin(put: Any) -> Iterator[int]:
        yield 1
        raise ValueError("cut off")

    call, stops = threaded(begin)
    assert stops.event.wait(30)
    assert (call.failed, call.adopt(), str(call.error)) == (True, False, "cut off")


def test_one_that_was_cut_off_is_not_taken_over() -> None:
    """A stream that was given up in the middle would be a message without its end."""
    closed = threading.Event()

    def begin(put: Any) -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    call, stops = threaded(begin, wanted=lambda: False)
    assert stops.event.wait(30)
    assert closed.wait(30)
    assert (call.adopt(), call.complete, call.given) == (False, False, [1])
    call, stops = threaded(begin)
    call.cancel()
    assert stops.event.wait(30)
    assert not call.adopt()


def test_a_forked_child_takes_nothing_over() -> None:
    """The call's thread is not there; waiting for it would be for ever."""
    with held() as gate:

        def begin(put: Any) -> Iterator[int]:
            yield 1
            gate.wait(30)

        call, stops = threaded(begin)
        until(lambda: call.given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads are running: that is the point
            child = os.fork()
        if child == 0:
            refused = not call.adopt()
            call.cancel()
            os._exit(0 if refused else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert stops.event.wait(30)


def test_one_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that nobody asked for is kept without bound."""
    monkeypatch.setattr(private, "MAX_PIECES", 10)

    def begin(put: Any) -> Iterator[int]:
        while True:
            yield 1

    call, stops = threaded(begin)
    assert stops.event.wait(30)
    assert (len(call.given), call.adopt()) == (10, False)


def task(begin: Any, **changes: Any) -> tuple[TaskCall, Stops]:
    stops = Stops()
    call = TaskCall(begin, Context(), on_stop=stops, loop=asyncio.get_running_loop(), **{**WANTED, **changes})
    call.start()
    return call, stops


async def test_a_task_in_order_and_live() -> None:
    """The same on an event loop."""
    gate = asyncio.Event()

    async def begin(put: Any) -> AsyncIterator[int]:
        yield 1
        await gate.wait()
        yield 2

    call, stops = task(begin)
    await asyncio.sleep(0.01)
    assert call.adopt()
    asyncio.get_running_loop().call_later(0.01, gate.set)
    assert values([piece async for piece in call.pieces()]) == [1, 2]
    assert stops.calls == [call]


async def test_a_task_is_cancelled_at_once() -> None:
    """Also from another thread, and in the middle of its waiting."""
    ended = asyncio.Event()

    async def begin(put: Any) -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.sleep(60)
        finally:
            ended.set()

    call, stops = task(begin)
    await asyncio.sleep(0.01)
    thread = threading.Thread(target=call.cancel)
    thread.start()
    async with asyncio.timeout(30):
        await ended.wait()
        while not stops.calls:  # noqa: ASYNC110 - it is told by a callback of the task
            await asyncio.sleep(0.001)
    thread.join()
    assert (call.failed, call.complete, call.adopt()) == (False, False, False)


async def test_a_task_that_was_given_up_before_it_began() -> None:
    """It never asks the model."""
    asked: list[int] = []

    async def begin(put: Any) -> AsyncIterator[int]:
        asked.append(1)
        yield 1

    stops = Stops()
    call = TaskCall(begin, Context(), on_stop=stops, loop=asyncio.get_running_loop(), **WANTED)
    call.cancel()
    call.start()
    await asyncio.sleep(0.01)
    assert (asked, stops.calls) == ([], [call])


def test_a_loop_that_is_closed() -> None:
    """A guess that is told when the agent's loop has gone starts nothing, and does not fail."""

    async def begin(put: Any) -> AsyncIterator[int]:
        yield 1

    loop = asyncio.new_event_loop()
    loop.close()
    stops = Stops()
    call = TaskCall(begin, Context(), on_stop=stops, loop=loop, **WANTED)
    call.start()
    call.cancel()
    assert (stops.calls, call.adopt()) == ([call], False)


async def test_somebody_elses_cancellation_is_a_failure() -> None:
    """A loop that ends, say: the call is made as usual if anybody still asks for it."""

    async def begin(put: Any) -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(60)

    call, stops = task(begin)
    await asyncio.sleep(0.01)
    assert call._task is not None
    call._task.cancel()
    async with asyncio.timeout(30):
        while not stops.calls:  # noqa: ASYNC110 - it is told by a callback of the task
            await asyncio.sleep(0.001)
    assert call.failed
    assert not call.adopt()
    assert isinstance([piece async for piece in call.pieces()][-1], Raised)
