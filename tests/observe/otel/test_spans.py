"""Spans of speculations and search calls, and how they hang together with the agent's own trace."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from langgraph_prefetch.events import (
    EventSink,
    Fate,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationJoined,
    SpeculationStarted,
)
from langgraph_prefetch.observe.otel import SpanSink
from langgraph_prefetch.testing.sink_contract import EventSinkContract
from langgraph_prefetch.values import Source
from tests.observe.otel.telemetry import Telemetry, telemetry

ABOUT: dict[str, Any] = {"run_id": "run", "step": 2, "tool": "search", "source": Source.REASONING}


@pytest.fixture
def seen() -> Iterator[Telemetry]:
    with telemetry() as made:
        yield made


@pytest.fixture
def sink(seen: Telemetry) -> SpanSink:
    return SpanSink(seen.tracers)


class TestSpanSink(EventSinkContract):
    @pytest.fixture
    def sink(self) -> Iterator[EventSink]:
        with telemetry() as made:
            yield SpanSink(made.tracers, max_open=3)


def started(name: str = "s1", at: float | None = None, **more: Any) -> SpeculationStarted:
    at = time.monotonic() if at is None else at
    return SpeculationStarted(**{**ABOUT, "at": at, "speculation_id": name, "probability": 0.8, "cue": "name", **more})


def ended(
    name: str = "s1", at: float | None = None, fate: Fate = Fate.SERVED, reason: str = "ready"
) -> SpeculationEnded:
    at = time.monotonic() if at is None else at
    return SpeculationEnded(**ABOUT, at=at, speculation_id=name, fate=fate, reason=reason, seconds=0.25)


def answered(name: str | None = "s1", **more: Any) -> SearchCallAnswered:
    facts: dict[str, Any] = {
        "call_id": "call_7",
        "late": False,
        "reason": "" if name else "nothing speculated",
        "waited_seconds": 0.5,
        "retrieval_seconds": 0.25,
        "lead_seconds": 0.75,
        "hideable_seconds": 0.25,
        "hidden_seconds": 0.125,
    }
    source = Source.REASONING if name else None
    return SearchCallAnswered(
        **{**ABOUT, "source": source, "at": time.monotonic(), "speculation_id": name, **facts, **more}
    )


def test_a_speculation_is_a_span_linked_to_the_agents(seen: Telemetry, sink: SpanSink) -> None:
    """It is a trace of its own, for it may outlive what started it, and names the agent's span in a link."""
    with seen.tracers.get_tracer("agent").start_as_current_span("chat") as agent:
        sink(started())
    sink(ended())
    span = seen.spans["execute_tool search"]
    assert span.kind is SpanKind.INTERNAL
    assert span.parent is None
    assert span.context.trace_id != agent.get_span_context().trace_id
    (link,) = span.links
    assert link.context == agent.get_span_context()
    assert dict(link.attributes or {}) == {"langgraph_prefetch.link": "agent"}
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
        "langgraph_prefetch.run_id": "run",
        "langgraph_prefetch.step": 2,
        "langgraph_prefetch.speculation_id": "s1",
        "langgraph_prefetch.source": "reasoning",
        "langgraph_prefetch.probability": 0.8,
        "langgraph_prefetch.cue": "name",
        "langgraph_prefetch.fate": "served",
        "langgraph_prefetch.reason": "ready",
        "langgraph_prefetch.retrieval_seconds": 0.25,
    }


def test_without_a_trace_of_the_agents_there_is_no_link(seen: Telemetry, sink: SpanSink) -> None:
    """A link to nothing would be an error in many viewers."""
    sink(started())
    sink(ended())
    assert seen.spans["execute_tool search"].links == ()


def test_a_served_call_is_linked_to_the_speculation_that_served_it(seen: Telemetry, sink: SpanSink) -> None:
    """From the call in the agent's trace one click leads to where its answer came from."""
    sink(started())
    sink(ended())
    with seen.tracers.get_tracer("agent").start_as_current_span("tools") as node:
        sink(answered())
    call, speculation = seen.spans["search_call search"], seen.spans["execute_tool search"]
    assert call.parent == node.get_span_context()
    (link,) = call.links
    assert link.context == speculation.context
    assert dict(link.attributes or {}) == {"langgraph_prefetch.link": "speculation"}
    assert dict(call.attributes or {}) == {
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": "call_7",
        "langgraph_prefetch.run_id": "run",
        "langgraph_prefetch.step": 2,
        "langgraph_prefetch.speculation_id": "s1",
        "langgraph_prefetch.served": True,
        "langgraph_prefetch.source": "reasoning",
        "langgraph_prefetch.late": False,
        "langgraph_prefetch.reason": "",
        "langgraph_prefetch.waited_seconds": 0.5,
        "langgraph_prefetch.retrieval_seconds": 0.25,
        "langgraph_prefetch.lead_seconds": 0.75,
        "langgraph_prefetch.hideable_seconds": 0.25,
        "langgraph_prefetch.hidden_seconds": 0.125,
    }


def test_a_call_that_its_tool_ran_for_says_why(seen: Telemetry, sink: SpanSink) -> None:
    """A miss has its reason and no link."""
    sink(answered(None, call_id=None))
    call = seen.spans["search_call search"]
    assert call.links == ()
    attributes = dict(call.attributes or {})
    assert attributes["langgraph_prefetch.served"] is False
    assert attributes["langgraph_prefetch.source"] == "none"
    assert attributes["langgraph_prefetch.reason"] == "nothing speculated"
    assert "gen_ai.tool.call.id" not in attributes
    assert "langgraph_prefetch.speculation_id" not in attributes


def _holds(span: ReadableSpan, text: str) -> bool:
    return text in span.to_json()


def test_query_text_is_left_out_unless_the_event_has_it(seen: Telemetry, sink: SpanSink) -> None:
    """Events have it under `log_queries` alone; then it stands under the names of the conventions."""
    sink(started())
    sink(ended())
    sink(answered())
    assert not any(_holds(span, "quer") for span in seen.spans.values())
    sink(started("s2", query="Lake Baikal"))
    sink(ended("s2"))
    sink(answered("s2", query="{'query': 'Lake Baikal'}"))
    speculation, call = seen.spans["execute_tool search"], seen.spans["search_call search"]
    assert (speculation.attributes or {})["gen_ai.retrieval.query.text"] == "Lake Baikal"
    assert (call.attributes or {})["gen_ai.tool.call.arguments"] == "{'query': 'Lake Baikal'}"


def test_failures_are_errors_and_other_ends_are_not(seen: Telemetry, sink: SpanSink) -> None:
    """A wrong guess is no error; a tool that raised is one, with its type."""
    for fate, reason in ((Fate.WASTED, "run ended"), (Fate.CANCELLED, "paused"), (Fate.FAILED, "ConnectionError")):
        sink(started(reason))
        sink(ended(reason, fate=fate, reason=reason))
    sink(answered(None, failed=True))
    *speculations, call = seen.exporter.get_finished_spans()
    told = [(span.status.status_code, (span.attributes or {}).get("error.type")) for span in (*speculations, call)]
    unset = (StatusCode.UNSET, None)
    assert told == [unset, unset, (StatusCode.ERROR, "ConnectionError"), (StatusCode.ERROR, "_OTHER")]


def test_a_signal_that_joined_is_an_event_of_the_span(seen: Telemetry, sink: SpanSink) -> None:
    """Who asked for the same is seen on what they asked for."""
    sink(started(at=time.monotonic() - 2))
    sink(SpeculationJoined(**{**ABOUT, "run_id": "other"}, at=time.monotonic(), speculation_id="s1"))
    sink(SpeculationJoined(**ABOUT, at=time.monotonic(), speculation_id="unknown"))
    sink(ended())
    (event,) = seen.spans["execute_tool search"].events
    assert event.name == "joined"
    assert dict(event.attributes or {}) == {
        "langgraph_prefetch.run_id": "other",
        "langgraph_prefetch.step": 2,
        "langgraph_prefetch.source": "reasoning",
    }


def test_times_are_times_of_day(seen: Telemetry) -> None:
    """A span begins and ends when the prefetcher's clock said, told on the wall's clock to the millisecond."""
    clock, now = 1_000.0, time.time_ns()
    sink = SpanSink(seen.tracers, clock=lambda: clock)
    sink(started(at=990.0))
    sink(ended(at=990.5))
    sink(answered(at=999.0, waited_seconds=0.5))
    speculation, call = seen.spans["execute_tool search"], seen.spans["search_call search"]
    assert speculation.start_time is not None
    assert speculation.end_time is not None
    assert call.start_time is not None
    assert call.end_time is not None
    assert speculation.end_time - speculation.start_time == 500_000_000
    assert call.end_time - call.start_time == 500_000_000
    # What the sink itself takes between two looks at the clock is in the difference.
    assert abs(now - 10_000_000_000 - speculation.start_time) < 5_000_000_000
    assert abs(now - 1_000_000_000 - call.end_time) < 5_000_000_000


def test_open_spans_are_bounded_and_none_is_lost(seen: Telemetry) -> None:
    """A speculation whose end never comes is ended as unsettled when there are too many, or at close."""
    sink = SpanSink(seen.tracers, max_open=10)
    for number in range(100):
        sink(started(f"s{number}"))
    assert len(seen.exporter.get_finished_spans()) == 90
    sink.close()
    spans = seen.exporter.get_finished_spans()
    assert len(spans) == 100
    assert {(span.attributes or {})["langgraph_prefetch.fate"] for span in spans} == {"unsettled"}
    sink.close()
    sink(ended("s99"))
    assert len(seen.exporter.get_finished_spans()) == 100


def test_served_speculations_whose_call_is_never_told_are_bounded(seen: Telemetry) -> None:
    """The newest are still linked to."""
    sink = SpanSink(seen.tracers, max_open=10)
    for number in range(100):
        sink(started(f"s{number}"))
        sink(ended(f"s{number}"))
    sink(answered("s99"))
    assert len(seen.spans["search_call search"].links) == 1
    sink(answered("s0"))
    assert seen.spans["search_call search"].links == ()
