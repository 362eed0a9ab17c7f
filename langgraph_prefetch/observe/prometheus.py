"""A Prometheus endpoint over the OpenTelemetry exporter. Needs the extra ``prometheus``.

Raises:
    MissingExtraError: opentelemetry-exporter-prometheus is not installed.
"""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from prometheus_client import CollectorRegistry, start_http_server
except ImportError as error:
    raise MissingExtraError("opentelemetry-exporter-prometheus", "prometheus") from error

from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.otel import otel_sink

DEFAULT_PORT = 9464
"""The port that OpenTelemetry's Prometheus exporters share."""


class PrometheusSink:
    """An event sink with an HTTP endpoint of its own. Made by :func:`prometheus_sink`.

    Attributes:
        port: where it listens.
    """

    def __init__(self, port: int, host: str, max_queued: int) -> None:
        self._closed = False
        registry = CollectorRegistry()
        self._provider = MeterProvider(metric_readers=[PrometheusMetricReader(registry=registry)])
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except BaseException:
            self._provider.shutdown()
            raise
        self.port = int(self._server.server_port)
        self._sink = otel_sink(meter_provider=self._provider, spans=False, max_queued=max_queued)

    def __call__(self, event: Event) -> None:
        """Count one event."""
        self._sink(event)

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Wait until all events so far are counted; False if that took longer than ``timeout_seconds``."""
        return self._sink.flush(timeout_seconds)

    def close(self, timeout_seconds: float = 5.0) -> bool:
        """Stop listening. Idempotent. False if events were left after ``timeout_seconds``."""
        done = self._sink.close(timeout_seconds)
        if self._closed:
            return done
        self._closed = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout_seconds)
        self._provider.shutdown()
        return done


def prometheus_sink(port: int = DEFAULT_PORT, *, host: str = "127.0.0.1", max_queued: int = 8_192) -> PrometheusSink:
    """A sink for ``prefetcher.subscribe`` whose counts can be scraped at ``http://{host}:{port}/metrics``.

    Args:
        port: 0 for any free one; see the sink's ``port``.
        host: the address to listen on. The endpoint has no password: what is not this machine's own address shows
            tool names and counts to whoever can reach it.
        max_queued: how many events may wait; more are dropped and counted.

    Raises:
        OSError: the port is taken.
        ConfigurationError: ``max_queued`` is below 1.
    """
    return PrometheusSink(port, host, max_queued)
