"""A pool in simulated time: the same desk as live, and replicas that are busy for as long as was drawn."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.serving.queueing.desk import Desk, Serving
from langgraph_prefetch.serving.queueing.waiting import Waiting
from langgraph_prefetch.serving.simulator.results import PoolFigures, percentile

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error


class SimulatedPool:
    """One pool.

    Args:
        env: whose time passes.
        desk: decides.
        cold_start_seconds: from asking for a replica to its first visit.
    """

    def __init__(self, env: simpy.Environment, desk: Desk, cold_start_seconds: float) -> None:
        self.desk = desk
        self._env, self._cold_start = env, cold_start_seconds
        self._begun: dict[int, simpy.Event] = {}
        self._waits: list[float] = []
        self._wanted = len(desk.replicas)
        self._busy_seconds = self._place_seconds = self._told_at = 0.0

    def visit(self, waiting: Waiting, seconds: float) -> Generator[simpy.Event, Any, float]:
        """Wait for a replica and be served for ``seconds``. Returns the seconds waited.

        Raises:
            QueueFullError: too many wait.
        """
        self.desk.join(waiting)
        begins = self._begun[id(waiting)] = self._env.event()
        self._serve()
        serving: Serving = yield begins
        yield self._env.timeout(seconds)
        self._account()
        self.desk.done(serving)
        self._serve()
        waited = serving.began_at - waiting.queued_at
        self._waits.append(waited)
        return waited

    def resize(self, replicas: int) -> None:
        """So many replicas: fewer at once, more after their cold start."""
        more, there = replicas > self._wanted, len(self.desk.replicas)
        self._wanted = replicas
        if more and self._cold_start:
            self._env.process(self._start(replicas))
        else:  # those that are still starting come no sooner because fewer of them are wanted
            self._grow(min(replicas, there) if self._cold_start else replicas)

    def figures(self) -> PoolFigures:
        """What it came to."""
        self._account()
        waits = sorted(self._waits)
        return PoolFigures(
            name=self.desk.name,
            replicas=len(self.desk.replicas),
            visits=len(waits),
            utilisation=self._busy_seconds / self._place_seconds if self._place_seconds else 0.0,
            mean_waited_seconds=sum(waits) / len(waits) if waits else 0.0,
            p95_waited_seconds=percentile(waits, 0.95) if waits else 0.0,
        )

    def _serve(self) -> None:
        now = float(self._env.now)
        self._account()
        while (serving := self.desk.serve(now)) is not None:
            self._begun.pop(id(serving.waiting)).succeed(serving)

    def _start(self, replicas: int) -> Generator[simpy.Event, Any, None]:
        yield self._env.timeout(self._cold_start)
        self._grow(min(replicas, self._wanted))

    def _grow(self, replicas: int) -> None:
        self._account()
        self.desk.resize(replicas)
        self._serve()

    def _account(self) -> None:
        now = float(self._env.now)
        passed, self._told_at = now - self._told_at, now
        self._busy_seconds += passed * self.desk.busy
        self._place_seconds += passed * max(self.desk.places, self.desk.busy)
