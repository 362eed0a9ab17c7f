"""Slowness as a wrapper: any LangChain tool, taking as long as stated."""

from __future__ import annotations

import asyncio
import functools
import math
import random
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.tools import BaseTool

Sampler = Callable[[random.Random], float]
"""Draws one duration, in seconds, from a seeded generator."""

AnyTool = TypeVar("AnyTool", bound=BaseTool)

_P90 = 1.2815515655446004
"""Standard deviations from the median of a normal distribution to its 90th percentile."""


def lognormal(*, median: float, p90: float) -> Sampler:
    """Durations as networks have them: a log-normal distribution by its median and 90th percentile, in seconds.

    Raises:
        ValueError: unless ``0 < median <= p90``.
    """
    if not 0 < median <= p90:
        raise ValueError(f"needs 0 < median <= p90, not median={median!r}, p90={p90!r}")
    sigma = math.log(p90 / median) / _P90
    return lambda generator: generator.lognormvariate(math.log(median), sigma)


def with_latency(tool: AnyTool, seconds: float | Sampler, *, seed: int = 0) -> AnyTool:
    """A copy of ``tool`` that sleeps before it runs; the sync form blocks its thread, the async form awaits.

    Name, description, schema and injected arguments stay as they are, and so does whether the tool has an async form.

    Args:
        tool: any LangChain tool.
        seconds: a fixed duration, or a sampler such as :func:`lognormal`.
        seed: of the sampler's generator; the same seed gives the same durations in the same order.

    Raises:
        ValueError: a negative fixed duration.
    """
    draw = _drawn(seconds, seed)
    functions = {name: getattr(tool, name, None) for name in ("func", "coroutine")}
    if any(functions.values()):
        slow_functions = {
            name: slow(function, draw)
            for (name, function), slow in zip(functions.items(), (_slow, _slow_async), strict=True)
            if function is not None
        }
        return tool.model_copy(update=slow_functions)
    kind = type(tool)
    methods: dict[str, Any] = {"_run": _slow(kind._run, draw)}
    if kind._arun is not BaseTool._arun:
        methods["_arun"] = _slow_async(kind._arun, draw)
    copied = tool.model_copy()
    copied.__class__ = type(f"Slow{kind.__name__}", (kind,), {"__module__": __name__, **methods})
    return copied


def _drawn(seconds: float | Sampler, seed: int) -> Callable[[], float]:
    if not callable(seconds):
        fixed = seconds
        if not fixed >= 0:
            raise ValueError(f"seconds must not be negative, not {fixed!r}")
        return lambda: fixed
    sampler, generator, lock = seconds, random.Random(seed), threading.Lock()  # noqa: S311 - not for secrets

    def draw() -> float:
        with lock:
            return max(0.0, sampler(generator))

    return draw


def _slow(function: Callable[..., Any], draw: Callable[[], float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        time.sleep(draw())
        return function(*args, **kwargs)

    return run


def _slow_async(function: Callable[..., Awaitable[Any]], draw: Callable[[], float]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(draw())
        return await function(*args, **kwargs)

    return run
