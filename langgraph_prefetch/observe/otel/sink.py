"""Spans and metrics in one sink that never makes a run wait."""

from __future__ import annotations

import time
from collections.abc import Iterable

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
from opentelemetry.trace import TracerProvider

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.background import BackgroundSink
from langgraph_prefetch.observe.otel import names
from langgraph_prefetch.observe.otel.metrics import MetricSink
from langgraph_prefetch.observe.otel.scope import INSTRUMENTATION, VERSION
from langgraph_prefetch.observe.otel.spans import SpanSink
from langgraph_prefetch.ports import Clock


def otel_sink(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    spans: bool = True,
    metrics: bool = True,
    clock: Clock = time.monotonic,
    max_queued: int = 8_192,
) -> BackgroundSink:
    """A sink for ``prefetcher.subscribe`` that makes OpenTelemetry spans and metrics.

    Both are made on a thread of the sink's own, in the context of the emitter, so that links and parents are right and
    a slow exporter delays nobody. ``sink.close()`` hands over what waits and ends open spans; call it before the
    providers are shut down.

    Args:
        tracer_provider: makes the spans; the global one if None.
        meter_provider: takes the metrics; the global one if None.
        spans: make spans.
        metrics: record metrics.
        clock: the prefetcher's clock, in seconds.
        max_queued: how many events may wait; more are dropped, and counted in ``langgraph_prefetch.event.dropped``.

    Raises:
        ConfigurationError: neither spans nor metrics are wanted, or ``max_queued`` is below 1.
    """
    if not (spans or metrics):
        raise ConfigurationError("otel_sink with spans=False and metrics=False would do nothing")
    made = _Signals(
        SpanSink(tracer_provider, clock=clock) if spans else None, MetricSink(meter_provider) if metrics else None
    )
    sink = BackgroundSink(made, max_queued=max_queued)
    if metrics:
        _observe_dropped(sink, meter_provider)
    return sink


class _Signals:
    def __init__(self, spans: SpanSink | None, metrics: MetricSink | None) -> None:
        self._spans, self._metrics = spans, metrics

    def __call__(self, event: Event) -> None:
        if self._metrics is not None:
            self._metrics(event)
        if self._spans is not None:
            self._spans(event)

    def close(self) -> None:
        if self._spans is not None:
            self._spans.close()


def _observe_dropped(sink: BackgroundSink, meter_provider: MeterProvider | None) -> None:
    def dropped(_: CallbackOptions) -> Iterable[Observation]:
        return [Observation(sink.dropped)]

    metrics.get_meter(INSTRUMENTATION, VERSION or "", meter_provider).create_observable_counter(
        names.EVENTS_DROPPED, [dropped], "{event}", "Events that telemetry dropped because too many were waiting."
    )
