"""One call through a gateway, and the pipeline that it is part of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from langgraph_prefetch.events import EventHub, EventSink, PipelineEnded
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.money import shown, total
from langgraph_prefetch.ports import Clock


@dataclass(slots=True, kw_only=True)
class Call:
    """One call, as hooks see it.

    Attributes:
        gateway: its name.
        began_at: time.
        speculative: nobody has asked for it yet.
        pipeline: the name of the one it is part of.
        variant: the one that was chosen; None where there are none.
        component: who answered; None before somebody did.
        degraded: the answer is the fallback's.
        seconds: from its beginning to the answer; None before.
    """

    gateway: str
    began_at: float
    speculative: bool = False
    pipeline: str | None = None
    variant: str | None = None
    component: str | None = None
    degraded: bool = False
    seconds: float | None = None


Before = Callable[[Call, Any], Any]
"""Given a call and its input; returns the input to go on with, None for the same. What it raises reaches the caller."""
After = Callable[[Call, Any], Any]
"""Given a call and its answer (None of a stream); returns the answer to hand out, None for the same."""


class Pipeline:
    """What the calls of one request came to, together. Safe for threads.

    Attributes:
        name: as events show it.
        calls, degraded, failed: counted.
        seconds: from beginning to end; None before the end.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = self.degraded = self.failed = 0
        self.seconds: float | None = None
        self._costs: list[Decimal] = []
        self._lock = ForkSafeLock()

    @property
    def cost(self) -> Decimal | None:
        """Exact, in the currency of the prices; None where no component has a price."""
        with self._lock:
            return total(self._costs) if self._costs else None

    def add(self, *, degraded: bool, failed: bool, cost: Decimal | None) -> None:
        """One component was asked."""
        with self._lock:
            self.calls += 1
            self.degraded += degraded
            self.failed += failed
            if cost is not None:
                self._costs = [total((*self._costs, cost))]


current_pipeline: ContextVar[Pipeline | None] = ContextVar("langgraph_prefetch_pipeline", default=None)
"""The innermost pipeline around the present code."""


@contextmanager
def pipeline(name: str, events: EventSink | None = None, clock: Clock = time.perf_counter) -> Iterator[Pipeline]:
    """Around all calls of one request: its end-to-end time, calls and cost, as a value and as `PipelineEnded`.

    ::

        with pipeline("answer", sink) as request:
            agent.invoke(...)
        print(request.seconds, request.cost)

    A call that a speculation makes belongs to the pipeline in which it was begun.

    Args:
        name: what kind of request it is.
        events: where the event goes.
        clock: seconds.
    """
    began, made = clock(), Pipeline(name)
    token = current_pipeline.set(made)
    error: BaseException | None = None
    try:
        yield made
    except BaseException as raised:
        error = raised
        raise
    finally:
        current_pipeline.reset(token)
        made.seconds = clock() - began
        if events is not None:
            hub = EventHub()  # so that a sink that raises harms nobody
            hub.subscribe(events)
            cost = made.cost
            hub(
                PipelineEnded(
                    at=clock(),
                    pipeline=name,
                    seconds=made.seconds,
                    calls=made.calls,
                    degraded=made.degraded,
                    failed=made.failed,
                    cost=None if cost is None else shown(cost),
                    error=None if error is None else type(error).__name__,
                )
            )
