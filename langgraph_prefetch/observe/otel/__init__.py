"""OpenTelemetry spans and metrics. Needs the extra ``otel``.

Raises:
    MissingExtraError: opentelemetry-api is not installed.
"""

from langgraph_prefetch.errors import MissingExtraError

try:
    import opentelemetry.metrics
    import opentelemetry.trace  # noqa: F401 - asked for once, here
except ImportError as error:
    raise MissingExtraError("opentelemetry-api", "otel") from error

from langgraph_prefetch.observe.otel.metrics import MetricSink
from langgraph_prefetch.observe.otel.sink import otel_sink
from langgraph_prefetch.observe.otel.spans import SpanSink

__all__ = ["MetricSink", "SpanSink", "otel_sink"]
