"""Speculations, search calls and what serving tells of, as OpenTelemetry spans."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN, Link, Span, SpanContext, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from langgraph_prefetch.events import (
    Event,
    Fate,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationJoined,
    SpeculationStarted,
)
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.observe.otel import names
from langgraph_prefetch.observe.otel.scope import INSTRUMENTATION, VERSION
from langgraph_prefetch.observe.otel.serving_spans import Lasted, lasted
from langgraph_prefetch.ports import Clock

MAX_OPEN_SPANS = 4_096
"""Beyond so many open speculations the oldest one's span is ended, with the fate ``unsettled``."""

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Open:
    """A speculation's span and when it began: on the prefetcher's clock (seconds) and on the wall (nanoseconds)."""

    span: Span
    began_at: float
    began_ns: int

    def wall(self, at: float) -> int:
        return self.began_ns + max(0, round((at - self.began_at) * NANOSECONDS))


class SpanSink:
    """An event sink. Safe for threads; call it in the context an event was emitted in.

    A speculation is a span ``execute_tool {tool}`` at the root of a trace of its own, since it may outlive whatever
    started it; it is linked to the span that was current then. A search call is a span ``search_call {tool}`` below the
    current span, linked to the speculation that served it. It is not named ``execute_tool``, or an agent that is
    instrumented already would show each of its tool calls twice. So are the calls of a gateway, pipelines and warm-ups.

    Args:
        tracer_provider: the global one if None.
        clock: the prefetcher's, to tell what time of day an event's ``at`` was.
        max_open: how many speculations are remembered: open ones, and settled ones whose call has not been told.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        clock: Clock = time.monotonic,
        max_open: int = MAX_OPEN_SPANS,
    ) -> None:
        self._tracer = trace.get_tracer(INSTRUMENTATION, VERSION, tracer_provider)
        self._clock, self._max_open = clock, max_open
        self._lock = ForkSafeLock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._settled: OrderedDict[str, SpanContext] = OrderedDict()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case SpeculationStarted():
                self._start(event)
            case SpeculationJoined():
                self._join(event)
            case SpeculationEnded():
                self._end(event)
            case SearchCallAnswered():
                self._answer(event)
            case _:
                if (found := lasted(event)) is not None:
                    self._last(found)

    def close(self) -> None:
        """End the spans that are still open."""
        with self._lock:
            left = list(self._open.values())
            self._open.clear()
        for each in left:
            self._give_up(each)

    def _start(self, event: SpeculationStarted) -> None:
        attributes: dict[str, AttributeValue] = {
            names.OPERATION_NAME: names.EXECUTE_TOOL,
            names.TOOL_NAME: event.tool,
            names.TOOL_TYPE: names.FUNCTION,
            names.RUN_ID: event.run_id,
            names.STEP: event.step,
            names.SPECULATION_ID: event.speculation_id,
            names.SOURCE: event.source.value,
            names.PROBABILITY: event.probability,
            names.CUE: event.cue,
        }
        if event.query is not None:
            attributes[names.QUERY_TEXT] = event.query
        agent = trace.get_current_span().get_span_context()
        began = self._wall(event.at)
        span = self._tracer.start_span(
            f"{names.EXECUTE_TOOL} {event.tool}",
            context=trace.set_span_in_context(INVALID_SPAN),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            links=[Link(agent, {names.LINK: names.AGENT})] if agent.is_valid else None,
            start_time=began,
        )
        with self._lock:
            self._open[event.speculation_id] = _Open(span, event.at, began)
            oldest = self._open.popitem(last=False)[1] if len(self._open) > self._max_open else None
        if oldest is not None:
            self._give_up(oldest)

    def _join(self, event: SpeculationJoined) -> None:
        with self._lock:
            found = self._open.get(event.speculation_id)
        if found is not None:
            told: dict[str, AttributeValue] = {
                names.RUN_ID: event.run_id,
                names.STEP: event.step,
                names.SOURCE: event.source.value,
            }
            found.span.add_event(names.JOINED, told, found.wall(event.at))

    def _end(self, event: SpeculationEnded) -> None:
        with self._lock:
            found = self._open.pop(event.speculation_id, None)
            if found is not None and event.fate is Fate.SERVED:
                self._settled[event.speculation_id] = found.span.get_span_context()
                if len(self._settled) > self._max_open:
                    self._settled.popitem(last=False)
        if found is None:
            return
        found.span.set_attribute(names.FATE, event.fate.value)
        found.span.set_attribute(names.REASON, event.reason)
        if event.seconds is not None:
            found.span.set_attribute(names.RETRIEVAL_SECONDS, event.seconds)
        if event.fate is Fate.FAILED:
            found.span.set_attribute(names.ERROR_TYPE, event.reason or names.ERROR_OTHER)
            found.span.set_status(Status(StatusCode.ERROR))
        found.span.end(found.wall(event.at))

    def _answer(self, event: SearchCallAnswered) -> None:
        attributes: dict[str, AttributeValue] = {
            names.TOOL_NAME: event.tool,
            names.RUN_ID: event.run_id,
            names.STEP: event.step,
            names.SERVED: event.source is not None,
            names.SOURCE: event.source.value if event.source is not None else names.NOT_SERVED,
            names.LATE: event.late,
            names.REASON: event.reason,
            names.WAITED_SECONDS: event.waited_seconds,
            names.RETRIEVAL_SECONDS: event.retrieval_seconds,
            names.LEAD_SECONDS: event.lead_seconds,
            names.HIDEABLE_SECONDS: event.hideable_seconds,
            names.HIDDEN_SECONDS: event.hidden_seconds,
        }
        if event.call_id is not None:
            attributes[names.TOOL_CALL_ID] = event.call_id
        if event.query is not None:
            attributes[names.TOOL_CALL_ARGUMENTS] = event.query
        if event.failed:
            attributes[names.ERROR_TYPE] = names.ERROR_OTHER
        links = None
        if event.speculation_id is not None:
            attributes[names.SPECULATION_ID] = event.speculation_id
            with self._lock:
                served_by = self._settled.pop(event.speculation_id, None)
            links = [Link(served_by, {names.LINK: names.SPECULATION})] if served_by is not None else None
        ended = self._wall(event.at)
        span = self._tracer.start_span(
            f"search_call {event.tool}",
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            links=links,
            start_time=ended - round(event.waited_seconds * NANOSECONDS),
        )
        if event.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def _last(self, found: Lasted) -> None:
        ended = self._wall(found.at)
        attributes = found.attributes if found.error is None else {**found.attributes, names.ERROR_TYPE: found.error}
        span = self._tracer.start_span(
            found.name,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=ended - round(found.seconds * NANOSECONDS),
        )
        if found.error is not None:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def _give_up(self, left: _Open) -> None:
        left.span.set_attribute(names.FATE, names.UNSETTLED)
        left.span.end(left.wall(self._clock()))

    def _wall(self, at: float) -> int:
        # Asked anew each time: the two clocks drift apart, by hours where a laptop sleeps.
        return time.time_ns() - round((self._clock() - at) * NANOSECONDS)
