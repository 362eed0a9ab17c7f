"""Starts what will be needed as soon as something says so: at once, each only once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from math import isfinite
from typing import Protocol

from langgraph_prefetch.errors import ColdError, ConfigurationError, did_you_mean
from langgraph_prefetch.events import ComponentWarmed, Event, EventHub, EventSink, RunStarted, SpeculationStarted
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.warmup.turns import Turns

REQUEST = "request"
"""The need of every run of an agent, from its first moment on."""
MAX_COMPONENTS = 64
_CLOSED = "its warmer is closed"


class Warmable(Protocol):
    """Something that takes time to start. Its methods are called from threads, `warm` never twice at once."""

    def is_warm(self) -> bool:
        """Whether it would answer at once."""
        ...

    def warm(self) -> None:
        """Start it, and return when it would answer. What it raises says that it did not start."""
        ...

    def cool(self) -> None:
        """Stop it."""
        ...


class Warmer:
    """The components that can be started, and what says that they will be needed. Safe for threads and event loops.

    ::

        warmer = Warmer({"embedder": …, "reranker": …}, needs={"request": ["embedder"], "search": ["reranker"]})
        agent.prefetch.subscribe(warmer)          # a run, and each speculation, warms what it will need
        reranker = gateway(reranker, warm=warmer.of("reranker"))

    Args:
        components: by name, at most 64.
        needs: what says so -> components: ``request`` for every run, a tool's name for a speculation of it, or names
            of your own for `need`.
        computing: components whose start computes on this machine, and hardly waits -> seconds of processor time that
            it takes. Of more of them than processors the longest begin first, if all are warm sooner that way
            (`begin_after`); the rest begins at once.
        baseline: components that are never cooled, and started by `open`.
        keep_seconds: others are cooled by `cool_idle` when nothing has needed them for so long; None: never.
        processors: for starts that compute; those this process may use if None.
        events: takes `ComponentWarmed`.
        clock: seconds.

    Raises:
        ConfigurationError: names without a component, too many, or a number out of its range.
    """

    def __init__(
        self,
        components: Mapping[str, Warmable],
        *,
        needs: Mapping[str, Collection[str]] | None = None,
        computing: Mapping[str, float] | None = None,
        baseline: Collection[str] = (),
        keep_seconds: float | None = None,
        processors: int | None = None,
        events: EventSink | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        if not components or len(components) > MAX_COMPONENTS:
            raise ConfigurationError(f"a warmer has 1 to {MAX_COMPONENTS} components, not {len(components)}")
        self._components, self._needs = dict(components), {name: tuple(each) for name, each in (needs or {}).items()}
        self._baseline, self._keep_seconds, self._clock = frozenset(baseline), keep_seconds, clock
        self._computing, self._processors = dict(computing or {}), _processors() if processors is None else processors
        for name in (*self._baseline, *self._computing, *(each for names in self._needs.values() for each in names)):
            self._require(name)
        if not all(isfinite(each) and each >= 0 for each in self._computing.values()) or self._processors < 1:
            raise ConfigurationError("seconds that a start computes are finite and from 0 on, processors from 1 on")
        self._hub = EventHub()
        if events is not None:
            self._hub.subscribe(events)
        self._lock = ForkSafeLock()
        self._under_way: dict[str, Future[None]] = {}
        self._needed_at: dict[str, float] = {}
        self._closed = False
        # One thread each: none has to wait until another has started.
        self._threads = ThreadPoolExecutor(len(self._components), thread_name_prefix="langgraph_prefetch_warm")

    def __enter__(self) -> Warmer:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, event: Event) -> None:
        """Take one event of an agent: a run or a speculation begins. Never waits."""
        if isinstance(event, RunStarted):
            self.need(REQUEST)
        elif isinstance(event, SpeculationStarted):
            self.need(event.tool, cause="intent")

    @property
    def names(self) -> frozenset[str]:
        """Of its components."""
        return frozenset(self._components)

    def open(self) -> None:
        """Start the baseline. Never waits."""
        self.warm(self._baseline, cause="baseline")

    def need(self, signal: str, *, cause: str | None = None) -> Mapping[str, Future[None]]:
        """Start what this signal needs; a signal that is not known needs nothing. Never waits."""
        return self.warm(self._needs.get(signal, ()), cause=cause or signal)

    def warm(self, names: Iterable[str], *, cause: str = REQUEST) -> Mapping[str, Future[None]]:
        """Start these and return without waiting: name -> what is done when it is warm.

        All at once, those that compute in turn where that is sooner.

        Raises:
            ConfigurationError: no component of that name.
        """
        names = tuple(names)
        turns = Turns({each: self._computing[each] for each in names if each in self._computing}, self._processors)
        return {name: self._warm(name, cause, turns) for name in names}

    def of(self, name: str) -> WarmComponent:
        """One component, for ``gateway(…, warm=…)`` or to be waited for.

        Raises:
            ConfigurationError: no component of that name.
        """
        self._require(name)
        return WarmComponent(self, name)

    def cool_idle(self, now: float | None = None) -> tuple[str, ...]:
        """Stop what nothing has needed for ``keep_seconds``, the baseline excepted; returns their names."""
        if self._keep_seconds is None:
            return ()
        now = self._clock() if now is None else now
        with self._lock:
            idle = [
                name
                for name, at in self._needed_at.items()
                if name not in self._baseline and self._starting(name) is None and now - at >= self._keep_seconds
            ]
            for name in idle:
                del self._needed_at[name]
        for name in idle:
            self._components[name].cool()
        return tuple(idle)

    def close(self) -> None:
        """Stop everything; waits for what is just starting. Idempotent."""
        self._closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)
        for component in self._components.values():
            component.cool()

    def _warm(self, name: str, cause: str, turns: Turns) -> Future[None]:
        self._require(name)
        with self._lock:
            self._needed_at[name] = self._clock()
            if (held := self._starting(name)) is not None:
                return held
            try:
                made = self._threads.submit(self._start, name, cause, turns)
            except RuntimeError:  # closed meanwhile
                made = Future()
                made.set_exception(ColdError(name, _CLOSED))
                return made
            self._under_way[name] = made
        made.add_done_callback(lambda _: self._forget(name, made))
        return made

    def _starting(self, name: str) -> Future[None] | None:
        """A start that has not ended; whoever waits for one hears of its end before it is forgotten here."""
        held = self._under_way.get(name)
        return None if held is None or held.done() else held

    def _start(self, name: str, cause: str, turns: Turns) -> None:
        try:
            if not self._components[name].is_warm():
                turns.wait(name)
                if self._closed:
                    raise ColdError(name, _CLOSED)
                self._begin(name, cause)
        finally:
            turns.ended(name)

    def _begin(self, name: str, cause: str) -> None:
        began = self._clock()
        try:
            self._components[name].warm()
        except Exception as error:
            self._hub(self._told(name, cause, began, failed=True))
            if isinstance(error, ColdError):
                raise
            raise ColdError(name, f"{type(error).__name__}: {error}") from error
        self._hub(self._told(name, cause, began, failed=False))

    def _told(self, name: str, cause: str, began: float, *, failed: bool) -> ComponentWarmed:
        now = self._clock()
        return ComponentWarmed(at=now, component=name, cause=cause, seconds=max(0.0, now - began), failed=failed)

    def _forget(self, name: str, made: Future[None]) -> None:
        with self._lock:
            if self._under_way.get(name) is made:
                del self._under_way[name]

    def _require(self, name: str) -> None:
        if name not in self._components:
            raise ConfigurationError(
                f"no component {name!r} to warm; there are: {', '.join(sorted(self._components))}."
                f"{did_you_mean(name, self._components)}"
            )


def _processors() -> int:
    able = getattr(os, "sched_getaffinity", None)
    return len(able(0)) if able is not None else os.cpu_count() or 1


class WarmComponent:
    """One component of a `Warmer`: started when it is needed, and waited for."""

    def __init__(self, warmer: Warmer, name: str) -> None:
        self._warmer, self._name = warmer, name

    def ready(self) -> None:
        """Return when it is warm; starts it if need be.

        Raises:
            ColdError: it did not start.
        """
        self._warmer.warm((self._name,))[self._name].result()

    async def aready(self) -> None:
        """As `ready`, without blocking the event loop. Whoever goes away while it starts does not stop it."""
        future = self._warmer.warm((self._name,))[self._name]
        await asyncio.shield(asyncio.wrap_future(future))
