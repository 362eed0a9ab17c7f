"""The sink that users subscribe: links and counts of a whole agent run, and nothing that slows it."""

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.observe.otel import names, otel_sink
from langgraph_prefetch.testing.sink_contract import sample_events
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, held, model, plain, thinks
from tests.observe.otel.telemetry import telemetry


def agent_of(*turns: Any) -> Any:
    return with_prefetch(created(model(*turns), [CountingSearch(seconds=0.02).tool]), tools=["search"])


def test_a_runs_spans_hang_together_with_the_agents_own() -> None:
    """Call → speculation → the agent's span, although all of them are made on another thread."""
    with telemetry() as seen:
        agent = agent_of(thinks("Lake Baikal"), DONE)
        sink = otel_sink(tracer_provider=seen.tracers, meter_provider=seen.meters)
        agent.prefetch.subscribe(sink)
        with seen.tracers.get_tracer("app").start_as_current_span("request") as request:
            for _ in agent.stream(GO):
                pass
        sink.close()
        speculation, call = seen.spans["execute_tool search"], seen.spans["search_call search"]
        assert speculation.links[0].context == request.get_span_context()
        assert call.parent == request.get_span_context()
        assert call.links[0].context == speculation.context
        agrees = agent.prefetch.report()
        assert seen.count(names.SEARCH_CALLS, source="reasoning") == agrees.served_reasoning == 1
        assert seen.seconds(names.CALL_HIDDEN) == pytest.approx(agrees.hidden_seconds)
        assert seen.count(names.EVENTS_DROPPED) == 0


class Stuck(SpanExporter):
    """An exporter whose collector does not answer."""

    def __init__(self, gate: Any) -> None:
        self.gate = gate

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.gate.wait()
        return SpanExportResult.SUCCESS


def test_an_exporter_that_hangs_changes_and_slows_no_answer() -> None:
    """Even one that exports each span at once."""
    with held() as gate:
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(Stuck(gate)))
        sink = otel_sink(tracer_provider=tracers, metrics=False, max_queued=5)

        def run(*, traced: bool) -> Any:
            agent = agent_of(*[thinks(f"Lake {number}") for number in range(4)], DONE)
            if traced:
                agent.prefetch.subscribe(sink)
            *_, last = agent.stream(GO, stream_mode="values")
            return plain(last["messages"])

        assert run(traced=True) == run(traced=False)  # which ended, though the exporter waits for ever
        assert sink.dropped > 0
        gate.set()
        sink.close()
        tracers.shutdown()


def test_dropped_events_are_a_metric() -> None:
    """Whoever compares counters sees that some are missing."""
    with telemetry() as seen, held() as gate:
        sink = otel_sink(meter_provider=seen.meters, spans=False, max_queued=1)
        sink._sink = lambda event: gate.wait()  # type: ignore[assignment]
        for event in sample_events():
            sink(event)
        assert seen.count(names.EVENTS_DROPPED) == sink.dropped > 0
        gate.set()
        sink.close()


def test_spans_and_metrics_can_each_be_left_out() -> None:
    """A meter without a tracer, and the other way round."""
    with telemetry() as seen:
        for spans in (True, False):
            sink = otel_sink(tracer_provider=seen.tracers, meter_provider=seen.meters, spans=spans, metrics=not spans)
            for event in sample_events():
                sink(event)
            sink.close()
        assert seen.count(names.SEARCH_CALLS) == 1
        kinds = {span.name.partition(" ")[0] for span in seen.exporter.get_finished_spans()}
        assert kinds == {"execute_tool", "search_call", "gateway", "pipeline", "warm"}


def test_a_sink_that_would_do_nothing_is_refused() -> None:
    """It was surely not meant."""
    with pytest.raises(ConfigurationError, match="would do nothing"):
        otel_sink(spans=False, metrics=False)


def test_closing_ends_open_spans() -> None:
    """A process that stops in the middle of a run still shows what it had started."""
    with telemetry() as seen:
        sink = otel_sink(tracer_provider=seen.tracers, metrics=False)
        sink(sample_events()[2])
        assert sink.flush()
        assert seen.spans == {}
        sink.close()
        assert (seen.spans["execute_tool search"].attributes or {})[names.FATE] == "unsettled"


async def test_it_never_blocks_an_event_loop() -> None:
    """Made, used and left on a loop; `close` waits, and so belongs elsewhere or in a thread."""
    with telemetry() as seen:
        sink = otel_sink(tracer_provider=seen.tracers, meter_provider=seen.meters)
        agent = agent_of(thinks("Lake Baikal"), DONE)
        agent.prefetch.subscribe(sink)
        async for _ in agent.astream(GO):
            pass
    sink.close()
