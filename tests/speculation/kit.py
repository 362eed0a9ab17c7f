"""An executor on a loop of its own, and work to hand to it."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.ports import Work
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.values import Output

FOUND = Output("found")
SEARCH = ToolPolicy(name="search")
mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="nobody")


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.002)


def blocking(function: Callable[[], Any]) -> Work:
    return Work(context=contextvars.copy_context(), blocking=function)


def coroutine(function: Callable[[], Any], loop: asyncio.AbstractEventLoop | None = None) -> Work:
    return Work(context=contextvars.copy_context(), coroutine=function, loop=loop)


class Kit:
    """An executor on a loop of its own, and the flights handed to it."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def start(self, work: Work, policy: ToolPolicy = SEARCH) -> Flight:
        flight = Flight(time.monotonic)
        self.executor.submit(flight, work, policy.name, policy)
        return flight

    def hold(self, policy: ToolPolicy = SEARCH) -> tuple[Flight, threading.Event]:
        """A blocking search that ends when its event is set."""
        go = threading.Event()
        return self.start(blocking(lambda: go.wait(30) and FOUND), policy), go
