"""Gateways, pipelines, warm-up and pools of replicas as OpenTelemetry metrics."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.metrics import Meter
from opentelemetry.util.types import AttributeValue

from langgraph_prefetch.events import (
    BreakerMoved,
    ComponentCalled,
    ComponentWarmed,
    Event,
    PipelineEnded,
    StagePressure,
    StageVisited,
)
from langgraph_prefetch.observe.labels import Labels
from langgraph_prefetch.observe.otel import names

MAX_NAMES = 100

COUNTERS = {
    names.GATEWAY_CALLS: ("{call}", "Components that a gateway asked, or would have and was not let, by outcome."),
    names.GATEWAY_COST: ("{cost}", "What calls cost, in the currency of the prices; rounded, unlike the account."),
    names.BREAKER_MOVES: ("{change}", "How often the breaker of a component opened, let one call try, or closed."),
    names.PIPELINES_ENDED: ("{pipeline}", "Requests through all their components; failed: with an error."),
    names.COMPONENTS_WARMED: ("{start}", "Components made ready ahead of their calls, by what said so."),
    names.STAGE_VISITS: ("{visit}", "Requests that have been through a stage, or runs through a node."),
    names.POOL_REQUESTS: ("{request}", "Requests that came to a pool, were served, or were refused."),
}
HISTOGRAMS = {
    names.GATEWAY_CALL: "From a call of a component to its end, waiting included.",
    names.GATEWAY_WAITED: "How long a call waited for a place.",
    names.GATEWAY_FIRST_TOKEN: "From a call to the first part of its stream.",
    names.PIPELINE_SECONDS: "From a request's beginning to its end, through all its components.",
    names.WARM_UP: "How long a component took to be ready.",
    names.STAGE_WAITED: "How long a request waited in a stage's queue.",
    names.STAGE_SERVICE: "How long a replica took for a request.",
}
GAUGES = {
    names.POOL_REPLICAS: ("1", "Replicas that take new requests."),
    names.POOL_BUSY: ("1", "Visits under way."),
    names.POOL_WAITING: ("1", "Requests in a pool's queue."),
    names.POOL_OLDEST: ("s", "How long the first of them has waited."),
    names.POOL_CORES: ("1", "Processor time per second of the processes behind the replicas."),
    names.POOL_MEMORY: ("By", "Resident memory of the same processes."),
}

Attributes = dict[str, AttributeValue]
Telling = Callable[[str, float, Attributes], None]
"""Adds a number to the metric of a name, with attributes."""


class ServingMetrics:
    """The part of a `MetricSink` that is about serving. Safe for threads; its label values are few.

    Args:
        meter: makes the gauges.
        add: adds to a counter.
        record: records in a histogram.
    """

    def __init__(self, meter: Meter, add: Telling, record: Telling) -> None:
        self._add, self._record = add, record
        self._gauges = {name: meter.create_gauge(name, unit, about) for name, (unit, about) in GAUGES.items()}
        # One for each kind of name, so that many of one kind do not take the places of another.
        self._labels = {kind: Labels(MAX_NAMES) for kind in _NAMED}

    def __call__(self, event: Event) -> None:
        """Count one event, if it is about serving."""
        match event:
            case ComponentCalled():
                self._called(event)
            case BreakerMoved():
                about = self._about({names.GATEWAY: event.gateway, names.COMPONENT: event.component})
                self._add(names.BREAKER_MOVES, 1, {**about, names.STATE: event.state})
            case PipelineEnded():
                about = self._about({names.PIPELINE: event.pipeline})
                failed = event.error is not None
                self._add(names.PIPELINES_ENDED, 1, {**about, names.FAILED: failed})
                self._record(names.PIPELINE_SECONDS, event.seconds, {**about, names.FAILED: failed})
            case ComponentWarmed():
                about = self._about({names.COMPONENT: event.component, names.CAUSE: event.cause})
                self._add(names.COMPONENTS_WARMED, 1, {**about, names.FAILED: event.failed})
                self._record(names.WARM_UP, event.seconds, {**about, names.FAILED: event.failed})
            case StageVisited():
                about = self._about({names.STAGE: event.stage})
                self._add(
                    names.STAGE_VISITS, 1, {**about, names.SPECULATIVE: event.speculative, names.FAILED: event.failed}
                )
                self._record(names.STAGE_WAITED, event.waited_seconds, about)
                self._record(names.STAGE_SERVICE, event.service_seconds, about)
            case StagePressure():
                self._pressed(event)
            case _:
                pass

    def _called(self, event: ComponentCalled) -> None:
        about = self._about({names.GATEWAY: event.gateway, names.COMPONENT: event.component})
        how: Attributes = {
            names.OUTCOME: event.outcome,
            names.SPILLED: event.spilled,
            names.SPECULATIVE: event.speculative,
        }
        self._add(names.GATEWAY_CALLS, 1, {**about, **how})
        if event.cost is not None:
            self._add(names.GATEWAY_COST, float(event.cost), about)
        if event.outcome == names.REFUSED:
            return
        self._record(names.GATEWAY_CALL, event.seconds, {**about, names.OUTCOME: event.outcome})
        self._record(names.GATEWAY_WAITED, event.waited_seconds, about)
        if event.first_token_seconds is not None:
            self._record(names.GATEWAY_FIRST_TOKEN, event.first_token_seconds, about)

    def _pressed(self, event: StagePressure) -> None:
        about = self._about({names.POOL: event.pool})
        for what, number in (("arrived", event.arrived), ("served", event.served), ("refused", event.refused)):
            if number:
                self._add(names.POOL_REQUESTS, number, {**about, names.OUTCOME: what})
        stands: tuple[tuple[str, float | None], ...] = (
            (names.POOL_REPLICAS, event.replicas),
            (names.POOL_BUSY, event.busy),
            (names.POOL_WAITING, event.waiting),
            (names.POOL_OLDEST, event.oldest_seconds),
            (names.POOL_CORES, event.cpu_share),
            (names.POOL_MEMORY, event.memory_bytes),
        )
        for name, value in stands:
            if value is not None:
                self._gauges[name].set(value, about)

    def _about(self, named: dict[str, str]) -> Attributes:
        return {kind: self._labels[kind].of(value) for kind, value in named.items()}


_NAMED = (names.GATEWAY, names.COMPONENT, names.PIPELINE, names.CAUSE, names.STAGE, names.POOL)
