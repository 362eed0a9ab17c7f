"""Keeps warm what the requests of the coming hour will need."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from math import isfinite
from types import TracebackType
from typing import Self

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, RunStarted
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.warmup.keeping import WarmRule, WarmStage, keep_warm
from langgraph_prefetch.serving.warmup.rates import WeeklyRates
from langgraph_prefetch.serving.warmup.warmer import Warmer

HOUR = "hour"
"""The cause of what is started for the requests that are to be expected."""


class ExpectedWarmth:
    """Counts requests by hour of the week, and starts what those that are to be expected will need. Safe for threads.

    ::

        expected = ExpectedWarmth(warmer, stages_of(flow), WeeklyRates())
        agent.prefetch.subscribe(expected)               # counts its runs
        sizing = ComponentScaling(stages, keep=expected.replicas)   # and pools keep as many replicas
        with expected:                                   # looks ahead every minute
            ...

    Args:
        warmer: starts components; those that a stage is named after.
        stages: what they need.
        rates: what is known of the week so far; belongs to this object from now on, but may be read.
        rule: how careful.
        every_seconds: between two looks.
        clock: seconds since 1970.

    Raises:
        ConfigurationError: a value out of its range.
    """

    def __init__(
        self,
        warmer: Warmer,
        stages: Iterable[WarmStage],
        rates: WeeklyRates,
        *,
        rule: WarmRule | None = None,
        every_seconds: float = 60.0,
        clock: Clock = time.time,
    ) -> None:
        if not (isfinite(every_seconds) and every_seconds > 0):
            raise ConfigurationError(f"every_seconds must be above 0, not {every_seconds}")
        self._warmer, self._stages, self._rates = warmer, tuple(stages), rates
        self._rule, self._every_seconds, self._clock = rule, every_seconds, clock
        self._lock = ForkSafeLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, event: Event) -> None:
        """Take one event of an agent: a run is a request."""
        if isinstance(event, RunStarted):
            self.arrived()

    def arrived(self, requests: float = 1.0) -> None:
        """So many came just now."""
        with self._lock:
            self._rates.arrived(self._clock(), requests)

    def replicas(self) -> Mapping[str, int]:
        """Stage -> replicas that are to be warm now."""
        with self._lock:
            return keep_warm(self._stages, self._rates, self._clock(), self._rule)

    def look(self) -> Mapping[str, int]:
        """Start what is to be warm without waiting for it, and stop what nothing needs. Returns as `replicas` does."""
        wanted = self.replicas()
        self._warmer.warm([name for name, many in wanted.items() if many and name in self._warmer.names], cause=HOUR)
        self._warmer.cool_idle()
        return wanted

    def __enter__(self) -> Self:
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, name="langgraph_prefetch-expected", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while True:
            self.look()
            if self._stop.wait(self._every_seconds):
                return
