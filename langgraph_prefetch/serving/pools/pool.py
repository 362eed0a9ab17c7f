"""A pool of replicas with a queue: a thin shell around the `Desk`, which decides."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, PoolClosedError, ReplicaLostError
from langgraph_prefetch.events import Event, StagePressure, StageVisited
from langgraph_prefetch.serving.pools.replicas import Place, Replica, Serve, Stages, check_place, replica
from langgraph_prefetch.serving.pools.request import Request, current
from langgraph_prefetch.serving.queueing.desk import MAX_WAITING, Desk, Serving
from langgraph_prefetch.serving.queueing.estimates import Estimates, Visit
from langgraph_prefetch.serving.queueing.policies import DEFAULT_POLICY
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting
from langgraph_prefetch.speculative import is_speculative

_numbers = itertools.count(1)


class Pool:
    """Replicas of one stage, or of several that share them. Belongs to the event loop that opens it.

    Calling it waits for a replica, in the order of the policy, and gives what the stage returns. A caller that is
    cancelled leaves the queue; what it had begun on a thread or in a process goes on, and occupies its place until it
    ends. No lock is held while a stage runs.

    Args:
        name: of the pool, in events and errors.
        serve: what serves a visit, or stage -> what serves it, for stages that share the replicas. A class is made
            once for each replica, and its instance called.
        place: ``loop`` for coroutine functions, ``threads`` for functions that wait, ``process`` for functions that
            compute.
        replicas: to begin with.
        concurrency: visits that a replica serves at once.
        policy: who is next; the very object that a simulation takes.
        stateful: a request returns to the replica that served it first.
        returns: how likely a request comes back, which counts as load of the replica that it would return to.
        estimates: predict what a request still needs; None predicts nothing.
        max_waiting: requests beyond are refused.
        demand_reserve: places that speculation never takes.
        clock: seconds that never go back.
        events: is given `StageVisited` after each visit.

    Raises:
        ConfigurationError: a value out of its range, or a function that cannot run at that place.
    """

    def __init__(
        self,
        name: str,
        serve: Serve | Stages,
        *,
        place: Place = "loop",
        replicas: int = 1,
        concurrency: int = 1,
        policy: QueuePolicy = DEFAULT_POLICY,
        stateful: bool = False,
        returns: float = 0.0,
        estimates: Estimates | None = None,
        max_waiting: int = MAX_WAITING,
        demand_reserve: int = 0,
        clock: Callable[[], float] = time.monotonic,
        events: Callable[[Event], None] | None = None,
    ) -> None:
        self.name = name
        self._stages: Stages = {name: serve} if callable(serve) else dict(serve)
        check_place(name, self._stages, place, concurrency)
        self._place: Place = place
        self._concurrency, self._wanted = concurrency, replicas
        self._desk = Desk(
            name,
            policy=policy,
            replicas=0,
            concurrency=concurrency,
            stateful=stateful,
            returns=returns,
            max_waiting=max_waiting,
            demand_reserve=demand_reserve,
        )
        if replicas < 0:
            raise ConfigurationError(f"pool {name!r}: {replicas} replicas; there are 0 or more")
        self._estimates, self._clock, self._events = estimates, clock, events
        self._replicas: dict[int, Replica] = {}
        self._turns: dict[int, asyncio.Future[Serving]] = {}
        self._resizing = asyncio.Lock()
        self._restarts: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._open = False

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages it serves."""
        return tuple(self._stages)

    @property
    def replicas(self) -> int:
        """That take new requests."""
        return len(self._desk.replicas)

    @property
    def load(self) -> float:
        """Visits under way and waiting, for each place; 1 and above where all are taken."""
        wanted = self._desk.busy + len(self._desk.waiting)
        return wanted / self._desk.places if self._desk.places else float(wanted > 0)

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes its replicas run in, each once."""
        return tuple(dict.fromkeys(each.pid for each in self._replicas.values()))

    async def __aenter__(self) -> Pool:
        self._open = True
        await self.resize(self._wanted)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Serve one visit of the pool's only stage.

        Raises:
            ConfigurationError: it has several: `visit` names one.
            QueueFullError, PoolClosedError, ReplicaLostError: it could not be served.
        """
        if len(self._stages) != 1:
            raise ConfigurationError(f"pool {self.name!r} serves {', '.join(self._stages)}: name one with visit()")
        return await self.visit(next(iter(self._stages)), *args, **kwargs)

    async def visit(self, stage: str, /, *args: Any, **kwargs: Any) -> Any:
        """Serve one visit of ``stage``. What the stage raises is raised.

        Raises:
            QueueFullError, PoolClosedError, ReplicaLostError: it could not be served.
        """
        if not self._open:
            raise PoolClosedError(self.name)
        now = self._clock()
        request = current.get() or Request(id=f"r{next(_numbers)}", arrived_at=now, speculative=is_speculative())
        waiting = self._waiting(stage, request, now)
        serving = await self._turn(waiting)
        began, work, failed = self._clock(), None, True
        try:
            work = self._replicas[serving.replica].begin(stage, args, kwargs)
            result = await (asyncio.shield(work) if isinstance(work, asyncio.Future) else work)
            failed = False
            return result
        except BrokenProcessPool as error:
            self._lost(serving.replica)
            raise ReplicaLostError(self.name) from error
        finally:
            if isinstance(work, asyncio.Future) and not work.done():
                work.add_done_callback(lambda done: self._end(serving, None if done.cancelled() else done.exception()))
            else:
                self._end(serving)
            self._tell(request, waiting, began, failed=failed)

    async def resize(self, replicas: int) -> None:
        """So many replicas from now on. Returns when the new ones can serve; the old ones end what they have begun.

        Raises:
            ConfigurationError: fewer than 0.
        """
        if replicas < 0:
            raise ConfigurationError(f"pool {self.name!r}: {replicas} replicas; there are 0 or more")
        self._wanted = replicas
        async with self._resizing:
            new = [replica(self._stages, self._place, self._concurrency) for _ in range(replicas - self.replicas)]
            try:
                await asyncio.gather(*(each.start() for each in new))
            except BaseException:
                for each in new:
                    each.close()
                raise
            self._desk.resize(replicas if self._open else 0)
            for number in set(self._desk.numbers) - self._replicas.keys():
                self._replicas[number] = new.pop()
            for each in new:  # one that was on its way out stayed
                each.close()
            self._let_go()
            self._serve()

    async def drain(self) -> None:
        """Take no more requests, and return when those that wait or are served have ended."""
        self._open = False
        while self._desk.busy or self._desk.waiting:
            self._empty.clear()
            await self._empty.wait()

    async def aclose(self) -> None:
        """Close at once: who waits gets `PoolClosedError`; what is under way goes on where it cannot be stopped."""
        self._open = False
        for task in self._restarts:
            task.cancel()
        for turn in list(self._turns.values()):
            if not turn.done():
                turn.set_exception(PoolClosedError(self.name))
        for each in self._replicas.values():
            each.close()

    def pressure(self) -> StagePressure:
        """How hard pressed it is; what is counted is counted from the last time this was asked."""
        return self._desk.pressure(self._clock())

    def forget(self, request_id: str) -> None:
        """The request has left the flow: no replica need be kept for it."""
        self._desk.forget(request_id)
        self._let_go()

    def _waiting(self, stage: str, request: Request, now: float) -> Waiting:
        visits, estimates = len(request.visits), self._estimates
        return Waiting(
            request_id=request.id,
            stage=stage,
            arrived_at=request.arrived_at,
            queued_at=now,
            deadline=request.deadline,
            remaining_seconds=estimates.remaining(stage, visits, request.features) if estimates else 0.0,
            likely_seconds=estimates.likely(stage, visits, request.features) if estimates else None,
            service_seconds=estimates.service(stage, visits, request.features) if estimates else 0.0,
            visits=visits,
            speculative=request.speculative,
        )

    async def _turn(self, waiting: Waiting) -> Serving:
        self._desk.join(waiting)
        turn: asyncio.Future[Serving] = asyncio.get_running_loop().create_future()
        self._turns[id(waiting)] = turn
        self._serve()
        try:
            return turn.result() if turn.done() else await turn
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._end(turn.result())  # its turn had come when its caller went away
            else:
                self._desk.leave(waiting)
                self._check_empty()
            raise
        finally:
            self._turns.pop(id(waiting), None)

    def _serve(self) -> None:
        while (serving := self._desk.serve(self._clock())) is not None:
            turn = self._turns.get(id(serving.waiting))
            if turn is None or turn.done():  # cancelled, and not yet woken to leave the queue
                self._desk.done(serving)
            else:
                turn.set_result(serving)

    def _end(self, serving: Serving, error: BaseException | None = None) -> None:
        if isinstance(error, BrokenProcessPool):
            self._lost(serving.replica)
        self._desk.done(serving)
        self._let_go()
        self._serve()
        self._check_empty()

    def _lost(self, number: int) -> None:
        gone = self._replicas.pop(number, None)
        if gone is None:
            return
        self._desk.lost(number)
        gone.close()
        if self._open:
            task = asyncio.get_running_loop().create_task(self.resize(self._wanted))
            self._restarts.add(task)
            task.add_done_callback(self._restarted)

    def _restarted(self, task: asyncio.Task[None]) -> None:
        self._restarts.discard(task)
        if not task.cancelled():
            task.exception()  # a process that cannot start: the pool stays smaller, and the next resize tries again

    def _let_go(self) -> None:
        for number in self._replicas.keys() - set(self._desk.numbers):
            self._replicas.pop(number).close()

    def _check_empty(self) -> None:
        if not self._desk.busy and not self._desk.waiting:
            self._empty.set()

    def _tell(self, request: Request, waiting: Waiting, began: float, *, failed: bool) -> None:
        ended = self._clock()
        waited, served = max(0.0, began - waiting.queued_at), max(0.0, ended - began)
        request.waited_seconds += waited
        request.visits.append(Visit(stage=waiting.stage, visits=waiting.visits, service_seconds=served))
        if self._events is not None:
            self._events(
                StageVisited(
                    at=ended,
                    request_id=request.id,
                    stage=waiting.stage,
                    visit=len(request.visits),
                    waited_seconds=waited,
                    service_seconds=served,
                    speculative=request.speculative,
                    failed=failed,
                )
            )
