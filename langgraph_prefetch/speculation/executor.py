"""Bounded background runs of search tools. Real calls go first and keep a reserve; nothing here blocks its caller."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.errors import NotDispatchedError, SpeculationRejectedError
from langgraph_prefetch.ports import Clock, Work
from langgraph_prefetch.speculation import lanes
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.lanes import Lane
from langgraph_prefetch.speculation.loop_load import LoopLoads
from langgraph_prefetch.speculation.loops import LoopHost
from langgraph_prefetch.values import Output

RATE_CHECK_SECONDS = 0.02
"""How soon a speculation that only the rate limit holds back is looked at again."""


class _Job:
    """One retrieval. ``in_thread``: a thread of its own runs it, and only that thread's end frees its place.

    ``elsewhere``: it takes a place among those that run on other machines, not one of this process.
    """

    __slots__ = ("elsewhere", "flight", "in_thread", "lane", "policy", "task", "work")

    def __init__(self, work: Work, lane: Hashable, policy: ToolPolicy, flight: Flight) -> None:
        self.work, self.lane, self.policy, self.flight = work, lane, policy, flight
        self.task: asyncio.Task[None] | None = None
        self.in_thread = False
        self.elsewhere = work.elsewhere is not None


class Executor:
    """Runs speculations in the background.

    Coroutines run on the caller's loop or on ``host``'s; blocking work runs on daemon threads, so that neither the
    loop's default pool (which the host's own calls share) nor the end of the process waits for it.
    """

    def __init__(self, host: LoopHost, limits: ExecutorLimits, clock: Clock) -> None:
        self._host, self._limits, self._clock = host, limits, clock
        self._lock = threading.Lock()
        self._queue: deque[_Job] = deque()
        self._lanes: dict[Hashable, Lane] = {}
        self._loads = LoopLoads(clock)
        self._jobs: set[_Job] = set()
        self._running = self._elsewhere = 0
        self._closed = False
        self._looking_again = False
        _executors.add(self)

    @property
    def running(self) -> int:
        """How many speculations occupy a place now, abandoned threads that have not ended included."""
        return self._running

    def submit(self, flight: Flight, work: Work, lane: Hashable, policy: ToolPolicy) -> None:
        """Start one retrieval, or queue it where there is no room, and return at once; ``flight`` tells its end.

        Raises:
            SpeculationRejectedError: the queue is full, the caller's event loop busy, or the executor closed.
        """
        if work.loop is not None and self._loads.is_busy(work.loop):
            raise SpeculationRejectedError("loop busy")
        job = _Job(work, lane, policy, flight)
        with self._lock:
            if self._closed:
                raise SpeculationRejectedError("closed")
            started = (job.elsewhere or not self._queue) and self._takes(job)
            if not started:
                if job.elsewhere:
                    raise SpeculationRejectedError("too many elsewhere")
                if len(self._queue) >= self._limits.max_queued:
                    raise SpeculationRejectedError("queue full")
                self._queue.append(job)
        # A cancelled flight may end its coroutine and free its place; a thread can only be abandoned.
        flight.on_end(self._ended)
        if not self._on_host((lambda: self._launch(job)) if started else self._pump):
            self._forget(job)
            raise SpeculationRejectedError("its event loop is closed")

    @contextmanager
    def real_call(self, lane: Hashable, policy: ToolPolicy) -> Iterator[None]:
        """Count a real call of the tool while the block runs; speculation makes room for it."""
        if not lanes.is_limited(policy):
            yield
            return
        with self._lock:
            self._lanes[lane] = lanes.real_call_started(self._lane(lane, policy))
        try:
            yield
        finally:
            with self._lock:
                self._put(lane, lanes.real_call_ended(self._lane(lane, policy)), policy)
                waiting = bool(self._queue) and not self._closed
            if waiting:
                self._on_host(self._pump)

    def close(self) -> None:
        """Cancel everything and take nothing more. Idempotent; waits half a second at most."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            jobs = [*self._jobs, *self._queue]
            self._queue.clear()
        for job in jobs:
            job.flight.cancel()
        if jobs:
            self._on_host(self._sweep)
        self._host.close()

    def after_fork(self) -> None:
        """In a forked child neither the loop's thread nor the running retrievals exist: forget them."""
        self._lock = threading.Lock()
        for job in [*self._jobs, *self._queue]:
            job.flight.cancel_after_fork()
        self._queue, self._jobs, self._lanes = deque(), set(), {}
        self._loads = LoopLoads(self._clock)
        self._running = self._elsewhere = 0
        self._looking_again = False
        self._host.after_fork()

    def _on_host(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` on the host's loop soon; False if it is closed, so that nothing runs there any more."""
        try:
            self._host.call(callback)
        except RuntimeError:
            return False
        return True

    def _forget(self, job: _Job) -> None:
        with self._lock:
            if job in self._queue:
                self._queue.remove(job)
        self._free(job)

    def _ended(self, flight: Flight) -> None:
        if flight.state is FlightState.CANCELLED and not self._closed:
            self._on_host(self._sweep)

    def _lane(self, lane: Hashable, policy: ToolPolicy) -> Lane:
        return lanes.refilled(self._lanes.get(lane, Lane()), policy, self._clock())

    def _put(self, key: Hashable, lane: Lane, policy: ToolPolicy) -> None:
        # An idle lane without a rate to remember is forgotten, so that tools made per request leave nothing behind.
        if lane.real == lane.speculative == 0 and policy.max_per_second is None:
            self._lanes.pop(key, None)
        else:
            self._lanes[key] = lane

    def _pump(self) -> None:
        """Start what may start of the queue. Runs on the loop."""
        with self._lock:
            queued = [job for job in self._queue if job.flight.state is FlightState.QUEUED]
            taken = [job for job in queued if self._takes(job)]
            self._queue = deque(job for job in queued if job not in self._jobs)
            look_again = not self._looking_again and any(job.policy.max_per_second is not None for job in self._queue)
            self._looking_again |= look_again
        for job in taken:
            self._launch(job)
        if look_again:
            self._host.loop.call_later(RATE_CHECK_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._looking_again = False
        self._pump()

    def _takes(self, job: _Job) -> bool:
        """Give the job a place if there is one. The lock is held."""
        if job.elsewhere:
            if self._elsewhere >= self._limits.max_elsewhere:
                return False
            self._elsewhere += 1
            self._jobs.add(job)
            job.flight.grant(job.work.grace_seconds)
            return True
        if self._running >= self._limits.max_running:
            return False
        if lanes.is_limited(job.policy):
            lane = self._lane(job.lane, job.policy)
            if not lanes.may_speculate(lane, job.policy):
                return False
            self._lanes[job.lane] = lanes.speculation_started(lane)
        self._running += 1
        self._jobs.add(job)
        job.flight.start()
        return True

    def _launch(self, job: _Job) -> None:
        """Let a job that has a place run. Runs on the loop."""
        if job.flight.state in (FlightState.QUEUED, FlightState.RUNNING):
            job.task = self._host.loop.create_task(self._fly(job))
            # Not in _fly itself: a task cancelled before its first step runs none of its code.
            job.task.add_done_callback(lambda _: None if job.in_thread else self._free(job))
        else:  # given up in the meantime
            self._free(job)

    def _sweep(self) -> None:
        """Cancel the tasks of cancelled flights and forget queued ones. Runs on the loop."""
        with self._lock:
            running = [job for job in self._jobs if job.flight.state is FlightState.CANCELLED]
        for job in running:
            if job.task is not None:
                job.task.cancel()
        if not self._closed:
            self._pump()

    async def _fly(self, job: _Job) -> None:
        try:
            async with asyncio.timeout(job.policy.timeout_seconds):
                output = await self._output(job, job.work)
            if not isinstance(output, Output):
                raise TypeError(f"a search tool's work must give an Output, not {type(output).__name__}")
            job.flight.land(output)
        except asyncio.CancelledError:
            job.flight.cancel()
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is a miss, control-flow signals included
            job.flight.fail(error)

    async def _output(self, job: _Job, work: Work) -> Output:
        if work.elsewhere is not None:
            try:
                return await asyncio.create_task(work.elsewhere(job.flight), context=work.context)
            except NotDispatchedError:
                if work.otherwise is None or not self._moved_here(job):
                    raise
            return await self._output(job, work.otherwise)
        return await (self._in_loop(job, work) if work.blocking is None else self._in_thread(job, work.blocking))

    def _moved_here(self, job: _Job) -> bool:
        """Give a job that was to run elsewhere a place of this process; False if there is none."""
        with self._lock:
            if self._closed or job not in self._jobs:
                return False
            self._jobs.discard(job)
            self._elsewhere -= 1
            job.elsewhere = False
            return self._takes(job)

    async def _in_loop(self, job: _Job, work: Work) -> Output:
        if work.coroutine is None:
            raise TypeError("work has neither a blocking function nor a coroutine")
        coroutine = _contained(work.coroutine)
        if work.loop is None or work.loop is self._host.loop:
            return await asyncio.create_task(coroutine(), context=work.context)
        return await _on_loop(
            work.loop,
            coroutine,
            work.context,
            self._loads,
            lambda: job.flight.state is FlightState.RUNNING and work.wanted(),
        )

    async def _in_thread(self, job: _Job, blocking: Callable[[], Output]) -> Output:
        loop = self._host.loop
        ended: asyncio.Future[Output | _Raised] = loop.create_future()

        def settle(outcome: Output | _Raised) -> None:
            self._free(job)
            if not ended.done():
                ended.set_result(outcome)

        def run() -> None:
            outcome: Output | _Raised
            try:
                outcome = job.work.context.run(blocking)
            except BaseException as error:  # noqa: BLE001 - handed to the loop, which tells the flight
                outcome = _Raised(error)
            if not _soon(loop, lambda: settle(outcome)):
                self._free(job)

        threading.Thread(target=run, name=f"langgraph-prefetch-{job.policy.name}", daemon=True).start()
        job.in_thread = True
        outcome = await ended
        if isinstance(outcome, _Raised):
            raise outcome.error
        return outcome

    def _free(self, job: _Job) -> None:
        with self._lock:
            if job not in self._jobs:
                return
            self._jobs.discard(job)
            if job.elsewhere:
                self._elsewhere -= 1
                return
            self._running -= 1
            if lanes.is_limited(job.policy):
                self._put(job.lane, lanes.speculation_ended(self._lane(job.lane, job.policy)), job.policy)
            waiting = bool(self._queue) and not self._closed
        if waiting:
            self._on_host(self._pump)


class _Raised:
    """What a thread raised. A value, because a future takes no StopIteration."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _contained(coroutine: Callable[[], Coroutine[Any, Any, Output]]) -> Callable[[], Coroutine[Any, Any, Output]]:
    """The same, but a tool that asks for the end of the process does not end the loop it speculates on."""

    async def run() -> Output:
        try:
            return await coroutine()
        except SystemExit as error:
            raise RuntimeError("the tool asked to end the process") from error

    return run


async def _on_loop(
    loop: asyncio.AbstractEventLoop,
    coroutine: Callable[[], Coroutine[Any, Any, Output]],
    context: Context,
    loads: LoopLoads,
    wanted: Callable[[], bool],
) -> Output:
    """Run ``coroutine()`` on another loop in ``context`` and await its end here; cancelling this cancels it there."""
    here = asyncio.get_running_loop()
    ended: asyncio.Future[Output] = here.create_future()
    tasks: list[asyncio.Task[Output]] = []

    def settle(task: asyncio.Task[Output]) -> None:
        error = None if task.cancelled() else task.exception()  # always asked for, or asyncio would log it
        if ended.done():
            return
        if task.cancelled():
            ended.cancel()
        elif error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(task.result())

    def begin() -> None:
        if ended.done():
            return
        loads.arrived(loop, since)
        if not wanted():  # its run is over, and the loop may be about to close with the task pending
            _soon(here, ended.cancel)
            return
        task = loop.create_task(coroutine(), context=context)
        tasks.append(task)
        task.add_done_callback(lambda done: _soon(here, lambda: settle(done)))

    since = loads.hop(loop)
    try:
        loop.call_soon_threadsafe(begin)
        return await ended
    finally:
        loads.withdrawn(loop, since)
        _soon(loop, lambda: [task.cancel() for task in tasks])


def _soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> bool:
    """Run ``callback`` on ``loop`` soon; False if that loop is closed, so that nothing runs on it any more."""
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        return False
    return True


_executors: weakref.WeakSet[Executor] = weakref.WeakSet()


def _close_all() -> None:
    for executor in list(_executors):
        executor.close()


def _after_fork_all() -> None:
    for executor in list(_executors):
        executor.after_fork()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork_all)
