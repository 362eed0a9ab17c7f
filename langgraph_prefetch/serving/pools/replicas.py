"""Replicas: what serves the visits of a pool, on the loop, on threads or in a process of its own."""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Literal, Protocol

from langgraph_prefetch.errors import ConfigurationError

Place = Literal["loop", "threads", "process"]
Serve = Callable[..., Any]
Stages = Mapping[str, Serve]
"""Stage -> what serves it. A class is made once for each replica, and its instance called."""


class Replica(Protocol):
    """One replica."""

    @property
    def pid(self) -> int:
        """Of the process it runs in."""
        ...

    async def start(self) -> None:
        """Returns when it can serve."""
        ...

    def begin(self, stage: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
        """Begin a visit. A Future goes on whatever becomes of its caller; a coroutine ends with it."""
        ...

    def close(self) -> None:
        """Let go of what it holds; called when no visit is under way, or when nobody waits for those that are."""
        ...


def replica(stages: Stages, place: Place, concurrency: int) -> Replica:
    """A replica that serves ``stages``.

    Raises:
        ConfigurationError: functions that cannot run there.
    """
    if place == "loop":
        return LoopReplica(stages)
    if place == "threads":
        return ThreadReplica(stages, concurrency)
    return ProcessReplica(stages)


def check_place(name: str, stages: Stages, place: Place, concurrency: int) -> None:
    """Nothing, where replicas can be made of these.

    Raises:
        ConfigurationError: they cannot; the message says why.
    """
    for stage, serve in stages.items():
        called = serve.__call__ if inspect.isclass(serve) else serve
        awaits = inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004
        if place == "loop" and not awaits:
            raise ConfigurationError(
                f"pool {name!r}: {stage!r} is no coroutine function and would block the event loop: place='threads', "
                "or place='process' where it computes"
            )
        if place != "loop" and awaits:
            raise ConfigurationError(f"pool {name!r}: {stage!r} is a coroutine function: place='loop'")
        if place == "process" and "<" in getattr(serve, "__qualname__", "<"):
            raise ConfigurationError(
                f"pool {name!r}: another process cannot import {stage!r}: define it at the top of a module"
            )
    if place == "process" and concurrency != 1:
        raise ConfigurationError(f"pool {name!r}: a process serves one visit at a time: concurrency=1, more replicas")


class LoopReplica:
    """Coroutine functions, on the event loop."""

    def __init__(self, stages: Stages) -> None:
        self._serve = made(stages)
        self.pid = os.getpid()

    async def start(self) -> None:
        """It is there."""

    def begin(self, stage: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
        """The coroutine, which ends with its caller."""
        awaitable: Awaitable[Any] = self._serve[stage](*args, **kwargs)
        return awaitable

    def close(self) -> None:
        """Holds nothing."""


class ThreadReplica:
    """Plain functions that wait for something else, on threads of its own, in the caller's context."""

    def __init__(self, stages: Stages, concurrency: int) -> None:
        self._serve = made(stages)
        self._executor = ThreadPoolExecutor(concurrency, thread_name_prefix="langgraph-prefetch-pool")
        self.pid = os.getpid()

    async def start(self) -> None:
        """Threads start with their first visit."""

    def begin(self, stage: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
        """A Future: a thread cannot be stopped."""
        return _begin(self._executor, partial(copy_context().run, self._serve[stage], *args, **kwargs))

    def close(self) -> None:
        """No thread waits for more."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class ProcessReplica:
    """Plain functions that compute, in a process of its own; arguments and results must be plain data."""

    def __init__(self, stages: Stages) -> None:
        self._stages = dict(stages)
        # Starting a process, and writing to its pipe, would block the loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="langgraph-prefetch-process")
        self._executor: ProcessPoolExecutor | None = None
        self.pid = 0

    async def start(self) -> None:
        """Returns once the process runs and has made what it serves with.

        Raises:
            BrokenProcessPool: it cannot.
        """
        self.pid = await _begin(self._thread, self._start)

    def begin(self, stage: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
        """A Future: what a process has begun it ends."""
        return _begin(self._thread, partial(self._call, _visit, stage, args, kwargs))

    def close(self) -> None:
        """The process ends after what it has begun."""
        self._thread.submit(self._stop)
        self._thread.shutdown(wait=False)

    def _start(self) -> int:
        spawn = multiprocessing.get_context("spawn")  # a fork would inherit the locks of whatever thread holds them
        self._executor = ProcessPoolExecutor(1, mp_context=spawn, initializer=_in_process, initargs=(self._stages,))
        return int(self._call(os.getpid))

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        assert self._executor is not None
        return self._executor.submit(function, *args).result()

    def _stop(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


def made(stages: Stages) -> dict[str, Serve]:
    """Stage -> what is called; of a class an instance."""
    served: dict[str, Serve] = {}
    for stage, serve in stages.items():
        instance: Any = serve() if inspect.isclass(serve) else serve
        served[stage] = instance
    return served


def _begin(executor: ThreadPoolExecutor, call: Callable[[], Any]) -> asyncio.Future[Any]:
    return asyncio.get_running_loop().run_in_executor(executor, call)


_served: dict[str, Serve] = {}


def _in_process(stages: Stages) -> None:
    _served.update(made(stages))


def _visit(stage: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _served[stage](*args, **kwargs)
