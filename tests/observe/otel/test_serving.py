"""Gateways, warm-up and pools in metrics and spans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from langgraph_prefetch.events import (
    BreakerMoved,
    ComponentCalled,
    ComponentWarmed,
    PipelineEnded,
    StagePressure,
    StageVisited,
)
from langgraph_prefetch.observe.labels import OTHER
from langgraph_prefetch.observe.otel import MetricSink, SpanSink, names
from langgraph_prefetch.observe.otel.serving import COUNTERS, GAUGES, HISTOGRAMS, MAX_NAMES
from langgraph_prefetch.serving.gateway import BreakerRule, gateway, pipeline
from tests.observe.otel.telemetry import telemetry
from tests.serving.gateway.parts import Component

CALLED = ComponentCalled(
    at=12.0,
    gateway="writer",
    component="large",
    outcome="answered",
    seconds=2.0,
    waited_seconds=0.5,
    first_token_seconds=1.0,
    pipeline="answer",
    variant="new",
    cost="0.25",
)
PRESSED = StagePressure(
    at=1.0,
    pool="grade",
    replicas=3,
    places=6,
    busy=4,
    waiting=2,
    speculative=1,
    oldest_seconds=0.75,
    arrived=9,
    served=7,
    refused=1,
    cpu_share=1.5,
    memory_bytes=2**20,
)
ABOUT = {
    names.GATEWAY_CALLS: ["component", "gateway", "outcome", "speculative", "spilled"],
    names.GATEWAY_COST: ["component", "gateway"],
    names.GATEWAY_CALL: ["component", "gateway", "outcome"],
    names.GATEWAY_WAITED: ["component", "gateway"],
    names.GATEWAY_FIRST_TOKEN: ["component", "gateway"],
    names.BREAKER_MOVES: ["component", "gateway", "state"],
    **{key: ["failed", "pipeline"] for key in (names.PIPELINES_ENDED, names.PIPELINE_SECONDS)},
    **{key: ["cause", "component", "failed"] for key in (names.COMPONENTS_WARMED, names.WARM_UP)},
    names.STAGE_VISITS: ["failed", "speculative", "stage"],
    **{key: ["stage"] for key in (names.STAGE_WAITED, names.STAGE_SERVICE)},
    names.POOL_REQUESTS: ["outcome", "pool"],
    **{key: ["pool"] for key in GAUGES},
}
"""Labels by metric, without what stands before each."""


def test_numbers_are_those_of_the_events() -> None:
    """Each under its own name, and a refusal took no time."""
    with telemetry() as made:
        sink = MetricSink(made.meters)
        for event in (
            CALLED,
            replace(CALLED, outcome="refused", seconds=9.0, cost=None, first_token_seconds=None),
            replace(CALLED, component="small", spilled=True, speculative=True, cost="0.5"),
            BreakerMoved(at=1.0, gateway="writer", component="large", state="opened"),
            PipelineEnded(at=1.0, pipeline="answer", seconds=3.0, calls=2, degraded=0, failed=0),
            PipelineEnded(at=1.0, pipeline="answer", seconds=1.0, calls=2, degraded=0, failed=2, error="OSError"),
            ComponentWarmed(at=1.0, component="large", cause="intent", seconds=4.0),
            StageVisited(at=1.0, request_id="r", stage="grade", visit=1, waited_seconds=0.5, service_seconds=2.0),
            PRESSED,
            replace(PRESSED, arrived=1, served=0, refused=0, replicas=5, cpu_share=None, memory_bytes=None),
        ):
            sink(event)
        count, seconds = made.count, made.seconds
        assert [count(names.GATEWAY_CALLS, outcome=each) for each in ("answered", "refused")] == [2, 1]
        assert count(names.GATEWAY_CALLS, component="small", spilled=True, speculative=True) == 1
        assert [count(names.GATEWAY_COST, component=each) for each in ("large", "small")] == [0.25, 0.5]
        assert (count(names.GATEWAY_CALL), seconds(names.GATEWAY_CALL)) == (2, 4.0)
        assert (seconds(names.GATEWAY_WAITED), seconds(names.GATEWAY_FIRST_TOKEN)) == (1.0, 2.0)
        assert count(names.BREAKER_MOVES, state="opened", component="large") == 1
        assert count(names.PIPELINES_ENDED, failed=True) == count(names.PIPELINES_ENDED, failed=False) == 1
        assert seconds(names.PIPELINE_SECONDS) == 4.0
        assert count(names.COMPONENTS_WARMED, cause="intent", failed=False) == 1
        assert (seconds(names.WARM_UP), seconds(names.STAGE_WAITED), seconds(names.STAGE_SERVICE)) == (4.0, 0.5, 2.0)
        told = {each: count(names.POOL_REQUESTS, outcome=each) for each in ("arrived", "served", "refused")}
        assert told == {"arrived": 10, "served": 7, "refused": 1}
        stands = {name: made.points(name)[0].value for name in GAUGES}
        assert stands == {
            names.POOL_REPLICAS: 5,
            names.POOL_BUSY: 4,
            names.POOL_WAITING: 2,
            names.POOL_OLDEST: 0.75,
            names.POOL_CORES: 1.5,
            names.POOL_MEMORY: 2**20,
        }
        found = {
            name: sorted(
                {key.removeprefix("langgraph_prefetch.") for each in made.points(name) for key in each.attributes}
            )
            for name in (*COUNTERS, *HISTOGRAMS, *GAUGES)
        }
        assert found == ABOUT


def test_labels_stay_few() -> None:
    """However many components a program makes up."""
    with telemetry() as made:
        sink = MetricSink(made.meters)
        for number in range(MAX_NAMES + 50):
            sink(replace(CALLED, component=f"component {number}"))
        assert made.count(names.GATEWAY_CALLS, component=OTHER) == 50
        assert len(made.points(names.GATEWAY_CALLS)) == MAX_NAMES + 1


@pytest.mark.parametrize(
    ("event", "name", "error", "told"),
    [
        (CALLED, "gateway writer", None, {names.COST: "0.25", names.VARIANT: "new", names.OUTCOME: "answered"}),
        (replace(CALLED, outcome="failed", reason="OSError"), "gateway writer", "OSError", {names.COMPONENT: "large"}),
        (
            PipelineEnded(at=12.0, pipeline="answer", seconds=2.0, calls=3, degraded=1, failed=2, error="ValueError"),
            "pipeline answer",
            "ValueError",
            {names.CALLS: 3, names.DEGRADED: 1, names.FAILED_CALLS: 2},
        ),
        (
            ComponentWarmed(at=12.0, component="large", cause="intent", seconds=2.0, failed=True),
            "warm large",
            "_OTHER",
            {names.CAUSE: "intent"},
        ),
    ],
)
def test_what_lasted_is_a_span(event: Any, name: str, error: str | None, told: dict[str, Any]) -> None:
    """Of its own length, below what was current, with its error."""
    with telemetry() as made:
        sink = SpanSink(made.tracers, clock=lambda: 12.0)
        with made.tracers.get_tracer("app").start_as_current_span("request") as request:
            sink(event)
        span = made.spans[name]
        assert span.start_time is not None
        assert span.end_time is not None
        assert (span.end_time - span.start_time) == 2 * 10**9
        assert span.parent is not None
        assert span.parent.span_id == request.get_span_context().span_id
        attributes = dict(span.attributes or {})
        assert attributes.get(names.ERROR_TYPE) == error
        assert {key: attributes[key] for key in told} == told
        assert (span.status.status_code is StatusCode.ERROR) == (error is not None)


def test_what_took_no_time_is_none() -> None:
    """A refusal, a breaker's move, a pool's state."""
    with telemetry() as made:
        sink = SpanSink(made.tracers)
        for event in (
            replace(CALLED, outcome="refused"),
            PRESSED,
            BreakerMoved(at=1.0, gateway="w", component="l", state="opened"),
        ):
            sink(event)
        assert made.spans == {}


def test_a_gateway_of_its_own_accord() -> None:
    """The events of a real one, in both."""
    with telemetry() as made:
        metrics, spans = MetricSink(made.meters), SpanSink(made.tracers)

        def sink(event: Any) -> None:
            metrics(event)
            spans(event)

        gated = gateway(
            Component("large", ConnectionError("down")),
            name="writer",
            fallback=lambda given: "small",
            fallback_price=0.5,
            breaker=BreakerRule(failures=1, open_seconds=60),
            events=sink,
        )
        with pipeline("answer", sink):
            assert [gated.invoke("?"), gated.invoke("?")] == ["small", "small"]
        outcomes = {each: made.count(names.GATEWAY_CALLS, outcome=each) for each in ("failed", "refused", "degraded")}
        assert outcomes == {"failed": 1, "refused": 1, "degraded": 2}
        assert made.count(names.GATEWAY_COST) == 1.0
        assert made.count(names.BREAKER_MOVES, state="opened") == 1
        assert {"gateway writer", "pipeline answer"} <= set(made.spans)
