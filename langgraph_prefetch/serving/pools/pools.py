"""The pools of a flow: requests with deadlines, what they teach, and sizes that follow the load."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, PoolClosedError, did_you_mean
from langgraph_prefetch.events import Event, StagePressure, Trouble
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.pools.pool import Pool
from langgraph_prefetch.serving.pools.pressure import Processes
from langgraph_prefetch.serving.pools.replicas import Place, Serve
from langgraph_prefetch.serving.pools.request import Request, current
from langgraph_prefetch.serving.queueing.desk import MAX_WAITING
from langgraph_prefetch.serving.queueing.estimates import Estimates
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.queueing.policies import DEFAULT_POLICY
from langgraph_prefetch.serving.queueing.sizing import PoolSizing
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy
from langgraph_prefetch.speculative import is_speculative


class Pools:
    """A pool for each stage of a flow.

    Args:
        flow: stages, with concurrency, statefulness and times, which are the first predictions.
        stages: stage -> what serves it; all stages of the flow.
        replicas: pool -> how many; those left out get the stage's ``min_replicas``. A plan's ``replicas`` fit.
        places: stage -> where it runs (``loop``, ``threads``, ``process``); those left out run on the loop.
        shared: pool -> stages that its replicas serve together.
        policy: who is next.
        estimates: predict and learn; new ones from the flow if None.
        sizing: resizes the pools.
        every_seconds: how often pressure is told, and sizing asked.
        max_waiting: of each queue.
        demand_reserve: places of each pool that speculation never takes.
        clock: seconds that never go back.
        events: is given `StageVisited` and `StagePressure`.

    Raises:
        ConfigurationError: a stage that nothing serves, or a value out of its range.
    """

    def __init__(
        self,
        flow: FlowValues,
        stages: Mapping[str, Serve],
        *,
        replicas: Mapping[str, int] | None = None,
        places: Mapping[str, Place] | None = None,
        shared: Mapping[str, Sequence[str]] | None = None,
        policy: QueuePolicy = DEFAULT_POLICY,
        estimates: Estimates | None = None,
        sizing: PoolSizing | None = None,
        every_seconds: float = 10.0,
        max_waiting: int = MAX_WAITING,
        demand_reserve: int = 0,
        clock: Callable[[], float] = time.monotonic,
        events: Callable[[Event], None] | None = None,
    ) -> None:
        if not every_seconds > 0:
            raise ConfigurationError(f"every_seconds must be above 0, not {every_seconds}")
        self._stages = {each.name: each for each in flow.stages}
        for name in (*stages, *(places or {})):
            self._known(name, self._stages)
        missing = self._stages.keys() - stages.keys()
        if missing:
            raise ConfigurationError(f"flow {flow.name!r}: nothing serves {', '.join(sorted(missing))}")
        self.estimates = estimates or Estimates(flow)
        self._clock, self._events = clock, events
        self._sizing, self._every = sizing, every_seconds
        self._numbers = itertools.count(1)
        self._requests = 0
        self._left = asyncio.Event()
        self._draining = False
        self._exit = AsyncExitStack()
        self._monitor: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="langgraph-prefetch-sizing")
        self._processes = Processes(clock)
        returns = expected(flow).returns
        pools = {**(shared or {})}
        alone = self._stages.keys() - {stage for members in pools.values() for stage in members}
        pools.update({name: (name,) for name in self._stages if name in alone})
        self._pools: dict[str, Pool] = {}
        for name, members in pools.items():
            first = self._stages[self._known(members[0], self._stages)]
            self._pools[name] = Pool(
                name,
                {stage: stages[self._known(stage, self._stages)] for stage in members},
                place=(places or {}).get(members[0], "loop"),
                replicas=(replicas or {}).get(name, max(1, first.min_replicas)),
                concurrency=first.concurrency,
                policy=policy,
                stateful=first.stateful,
                returns=max(returns[stage] for stage in members),
                estimates=self.estimates,
                max_waiting=max_waiting,
                demand_reserve=demand_reserve,
                clock=clock,
                events=events,
            )
        for name in replicas or {}:
            self._known(name, self._pools)
        self._pool_of = {stage: pool for pool in self._pools.values() for stage in pool.stages}

    def __getitem__(self, name: str) -> Pool:
        """The pool with this name."""
        return self._pools[self._known(name, self._pools)]

    async def __aenter__(self) -> Pools:
        for pool in self._pools.values():
            await self._exit.enter_async_context(pool)
        self._monitor = asyncio.get_running_loop().create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._monitor is not None:
            self._monitor.cancel()
        await self._exit.aclose()
        self._thread.shutdown(wait=False, cancel_futures=True)

    @asynccontextmanager
    async def request(
        self,
        *,
        deadline_seconds: float | None = None,
        features: tuple[float, ...] = (),
        speculative: bool | None = None,
    ) -> AsyncGenerator[Request, None]:
        """Around all that one request does: its visits know its deadline and their place in it.

        Args:
            deadline_seconds: from now on; None for no deadline.
            features: as many as ``estimates`` was told of.
            speculative: nobody asked for it yet; None: it is, inside a search that prefetch started early.

        Raises:
            ConfigurationError: a deadline that is over before it begins.
            PoolClosedError: the pools are being drained.
        """
        if deadline_seconds is not None and not deadline_seconds > 0:
            raise ConfigurationError(f"a deadline lies ahead: deadline_seconds must be above 0, not {deadline_seconds}")
        if self._draining:
            raise PoolClosedError(", ".join(self._pools))
        now = self._clock()
        request = Request(
            id=f"r{next(self._numbers)}",
            arrived_at=now,
            deadline=None if deadline_seconds is None else now + deadline_seconds,
            features=features,
            speculative=is_speculative() if speculative is None else speculative,
        )
        self._requests += 1
        token = current.set(request)
        try:
            yield request
            self.estimates.learn(request.visits, features)  # not of one that failed: it did not need all it would
        finally:
            current.reset(token)
            for pool in self._pools.values():
                pool.forget(request.id)
            self._requests -= 1
            self._left.set()

    async def visit(self, stage: str, /, *args: Any, **kwargs: Any) -> Any:
        """Serve one visit of ``stage``, whichever pool serves it."""
        return await self._pool_of[self._known(stage, self._pool_of)].visit(stage, *args, **kwargs)

    async def drain(self) -> None:
        """Take no more requests; return when those that have begun are through."""
        self._draining = True
        while self._requests:
            self._left.clear()
            await self._left.wait()
        for pool in self._pools.values():
            await pool.drain()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._every)
            try:
                pids = {name: pool.pids for name, pool in self._pools.items()}
                used = await loop.run_in_executor(self._thread, self._processes.used, pids)
                pressures = [used[name](pool.pressure()) for name, pool in self._pools.items()]
                self._tell(pressures)
                if self._sizing is not None:
                    sizes = await loop.run_in_executor(self._thread, self._sizing.sizes, pressures, self._clock())
                    await asyncio.gather(*(self._pools[n].resize(r) for n, r in sizes.items() if n in self._pools))
            except Exception as error:  # noqa: BLE001 - a sizing that fails leaves the pools as they are
                if self._events is not None:
                    self._events(Trouble(at=self._clock(), where="pool sizing", error=type(error).__name__))

    def _tell(self, pressures: Sequence[StagePressure]) -> None:
        if self._events is not None:
            for pressure in pressures:
                self._events(pressure)

    def _known(self, name: str, names: Mapping[str, Any]) -> str:
        if name not in names:
            raise ConfigurationError(
                f"no stage or pool {name!r}: there are {', '.join(names)}.{did_you_mean(name, names)}"
            )
        return name
