"""Providers that keep what they get in memory."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

Point = NumberDataPoint | HistogramDataPoint


@dataclass(frozen=True)
class Telemetry:
    """What was recorded."""

    tracers: TracerProvider
    meters: MeterProvider
    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        """Ended spans by name; of equal names the last."""
        return {span.name: span for span in self.exporter.get_finished_spans()}

    def metrics(self) -> dict[str, Any]:
        """The metrics by name, as they stand now."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            metric.name: metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def points(self, name: str) -> list[Any]:
        """The data points of one metric."""
        metric = self.metrics().get(name)
        return list(metric.data.data_points) if metric is not None else []

    def count(self, metric: str, /, **where: Any) -> int:
        """How often it was counted or recorded with these attributes, named by their last part."""
        found = [point for point in self.points(metric) if _matches(point.attributes, where)]
        return sum(point.count if isinstance(point, HistogramDataPoint) else point.value for point in found)

    def seconds(self, name: str) -> float:
        """The sum of a histogram."""
        return float(sum(point.sum for point in self.points(name)))


def _matches(attributes: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    short = {
        name.removeprefix("langgraph_prefetch.").removeprefix("gen_ai.tool."): each for name, each in attributes.items()
    }
    return all(short.get(name) == value for name, value in where.items())


@contextmanager
def telemetry() -> Iterator[Telemetry]:
    """Providers of one test's own."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider(metric_readers=[reader])
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    try:
        yield Telemetry(tracers, meters, exporter, reader)
    finally:
        tracers.shutdown()
        meters.shutdown()
