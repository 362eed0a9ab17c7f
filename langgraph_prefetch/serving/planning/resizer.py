"""Plans anew while requests are served, and resizes where that pays. No clock: the time is passed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, StagePressure, StageVisited
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.serving.flow.values import FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.planning.plan import plan
from langgraph_prefetch.serving.planning.rerouting import Counted, rerouted
from langgraph_prefetch.serving.planning.rivals import shared_out
from langgraph_prefetch.serving.planning.values import Plan

PERIOD_SECONDS = 10.0
MIN_GAIN = 0.05
MIN_SERVED = 30
"""Visits of one stage below which a period says too little of where they go next; it is counted with the following."""


class Resizer:
    """The plan of a flow, kept up to date: a `PoolSizing` for live pools and for simulations.

    Each time it is asked it works out from the counts of the pools where requests go now, plans anew, and changes sizes
    only where the new plan serves at least ``min_gain`` more than the present sizes would: small changes of traffic
    leave the pools alone. It sizes the pools that are named like a stage; others, and pools that several stages share,
    are left as they are. Subscribed to events, it learns the service times too.

    While pools change, replicas that finish what they have begun are there beside the new ones: for that long more
    than the budget may be in use.

    Args:
        flow: as it was measured before.
        budget: as for `plan`.
        replicas: the sizes at the start; those of the first plan if None.
        min_gain: of throughput, as a share.
        min_served: visits of a stage that its routing is worked out from; fewer are kept for the next time.

    Raises:
        FlowError, InfeasibleBudgetError, ConfigurationError: as for `plan`, or a value out of its range.
    """

    def __init__(
        self,
        flow: FlowValues,
        budget: Mapping[str, float],
        *,
        replicas: Mapping[str, int] | None = None,
        min_gain: float = MIN_GAIN,
        min_served: int = MIN_SERVED,
    ) -> None:
        require_at_least("min_gain", min_gain, 0)
        require_at_least("min_served", min_served, 1)
        self._budget, self._min_gain, self._min_served = dict(budget), min_gain, min_served
        self._flow, self._plan = flow, plan(flow, budget)
        self._now = dict(self._plan.replicas if replicas is None else replicas)
        self._at: float | None = None
        self._counted: dict[str, Counted] = {}
        self._lock = ForkSafeLock()
        self._seconds: dict[str, tuple[int, float]] = {}

    @property
    def plan(self) -> Plan:
        """The latest, adopted or not."""
        return self._plan

    @property
    def replicas(self) -> Mapping[str, int]:
        """The sizes that were last asked for."""
        return dict(self._now)

    def __call__(self, event: Event) -> None:
        """Take one event; the service times of `StageVisited` count. From any thread."""
        if isinstance(event, StageVisited) and event.service_seconds >= 0:
            with self._lock:
                count, seconds = self._seconds.get(event.stage, (0, 0.0))
                self._seconds[event.stage] = (count + 1, seconds + event.service_seconds)

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        """Stage -> replicas from now on, where they change.

        Args:
            pressures: of the pools, since the last time.
            now: seconds; a clock that went back leaves the sizes as they are, once.
        """
        back = self._at is not None and now < self._at
        self._at = now
        self._count(pressures)
        if back:
            return {}
        flow = self._timed(self._rerouted())
        try:
            self._plan = plan(flow, self._budget)
        except ConfigurationError:  # counts or times that make no flow, as from a clock that stood still
            return {}
        self._flow = flow
        present = shared_out(self._flow, self._budget, self._now).throughput
        if self._plan.throughput < present * (1 + self._min_gain):
            return {}
        changed = {name: count for name, count in self._plan.replicas.items() if count != self._now.get(name)}
        self._now.update(changed)
        return changed

    def _count(self, pressures: Sequence[StagePressure]) -> None:
        names = {each.name for each in self._flow.stages}
        for each in pressures:
            if each.pool in names:
                before = self._counted.get(each.pool, Counted(arrived=0, served=0))
                self._counted[each.pool] = Counted(
                    arrived=before.arrived + each.arrived, served=before.served + each.served
                )

    def _rerouted(self) -> FlowValues:
        decided = {edge.source for edge in self._flow.edges if 0 < edge.probability < 1}
        busiest = max((self._counted[name].served for name in decided if name in self._counted), default=0)
        if busiest < self._min_served:
            return self._flow
        counted, self._counted = self._counted, {}
        return rerouted(self._flow, counted)

    def _timed(self, flow: FlowValues) -> FlowValues:
        with self._lock:
            heard, self._seconds = self._seconds, {}
        return replace(
            flow, stages=tuple(self._with_time(each, *heard.get(each.name, (0, 0.0))) for each in flow.stages)
        )

    def _with_time(self, stage: Stage, count: int, seconds: float) -> Stage:
        if not count:
            return stage
        known = stage.service
        weight = 1.0 if known is None else min(1.0, count / self._min_served)
        mean = weight * seconds / count + (1 - weight) * (known.mean if known else 0.0)
        variation = known.variation if known else 0.0
        return replace(stage, service=ServiceTime(mean=mean, variation=variation))
