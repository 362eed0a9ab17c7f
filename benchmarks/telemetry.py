"""What telemetry costs: of the handler's time while no sink is subscribed, and for each event while one is.

    python benchmarks/telemetry.py [--json OUT] [--rounds 40] [--tokens 150]

One round is one model call: a thought with a query, heard token by token, then its search. The handler's time is what
its callbacks take in all. *Off* is the engine as it comes, whose only sink is the report's own count; its share is the
time to make and hand over the events of the handler's callbacks. *Without* has a hub that hands over nothing, *on* has
``otel_sink`` with spans and metrics going to exporters that throw them away. The three take turns within each round.

An event's time is what its emitter waits, a millisecond after the one before, so that the sink's thread sleeps and has
to be woken. What that thread then does is shown too; it runs beside the agent. Figures are medians, in microseconds.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, LLMResult
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from langgraph_prefetch import Budgets, Prefetcher
from langgraph_prefetch.events import Event, EventHub, EventSink
from langgraph_prefetch.observe.background import BackgroundSink
from langgraph_prefetch.observe.log import LOGGER, LogSink
from langgraph_prefetch.observe.otel import MetricSink, SpanSink, otel_sink
from langgraph_prefetch.report import Tally
from langgraph_prefetch.testing.tools import CountingSearch

MANY = 10**9
UNLIMITED = Budgets(per_run=MANY, per_scope_per_minute=MANY, per_process_per_minute=MANY)
TOKEN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")
QUERY = "Lake Baikal"
FILLER = "The river runs north, but the question is about its source, so the map alone is not enough. "
OFF_LIMIT, ON_LIMIT_US = 0.03, 30.0


class Nowhere(SpanExporter):
    """Throws spans away."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


class SilentHub(EventHub):
    """Hands over nothing."""

    def __call__(self, event: Event) -> None:
        return


class NotingHub(EventHub):
    """Keeps the events that come on the handler's thread, while ``open``."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[Event] = []
        self.open = False

    def __call__(self, event: Event) -> None:
        if self.open:
            self.noted.append(event)
        super().__call__(event)


def providers() -> tuple[TracerProvider, MeterProvider]:
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(Nowhere()))
    return tracers, MeterProvider(metric_readers=[InMemoryMetricReader()])


def chunks(tokens: int) -> list[ChatGenerationChunk]:
    """A thought about one query, as a model streams it."""
    filler = TOKEN.findall(FILLER * 20)
    words = filler[: tokens // 2]
    words += TOKEN.findall(f". I need to search for {QUERY}. ")
    words += filler[: tokens - len(words)]
    return [ChatGenerationChunk(message=AIMessageChunk(content=word)) for word in words]


def prefetcher(hub: EventHub | None = None) -> tuple[Prefetcher, Any]:
    made = Prefetcher(["search"], budgets=UNLIMITED)
    if hub is not None:
        hub.subscribe(made._tally)
        made.events = hub
    return made, made.tool(CountingSearch().tool)


def one_round(made: Prefetcher, search: Any, tokens: int) -> float:
    """Microseconds that the handler took for one model call."""
    spoken, run_id, hub = chunks(tokens), uuid.uuid4(), made.events
    with made.run():
        handler = made.handler()
        if isinstance(hub, NotingHub):
            hub.open = True
        began = time.perf_counter_ns()
        handler.on_chat_model_start({}, [[]], run_id=run_id)
        for chunk in spoken:
            handler.on_llm_new_token(chunk.text, chunk=chunk, run_id=run_id)
        handler.on_llm_end(LLMResult(generations=[]), run_id=run_id)
        took = (time.perf_counter_ns() - began) / 1_000
        if isinstance(hub, NotingHub):
            hub.open = False
        search.invoke(QUERY)
    return took


def emit_times(sink: EventSink, events: Sequence[Event], pause: float) -> list[float]:
    """Microseconds that each event's emitter waits for a hub with this one sink."""
    hub = EventHub()
    hub.subscribe(sink)
    times: list[float] = []
    for event in events:
        if pause:
            time.sleep(pause)
        began = time.perf_counter_ns()
        hub(event)
        times.append((time.perf_counter_ns() - began) / 1_000)
    return times


def remake_us(events: Sequence[Event]) -> float:
    """Microseconds to make these events, in all: the median of some tries."""
    made = [
        (type(event), {name: getattr(event, name) for name in type(event).__dataclass_fields__}) for event in events
    ]

    def once() -> float:
        began = time.perf_counter_ns()
        for kind, fields in made:
            kind(**fields)
        return (time.perf_counter_ns() - began) / 1_000

    return statistics.median(once() for _ in range(200))


def off_and_on(rounds: int, tokens: int) -> dict[str, float]:
    """The handler's time without, with telemetry off, and on; and the share of what is off."""
    tracers, meters = providers()
    noting = NotingHub()
    cases = {"without": prefetcher(SilentHub()), "off": prefetcher(), "on": prefetcher(), "noted": prefetcher(noting)}
    sink = otel_sink(tracer_provider=tracers, meter_provider=meters)
    cases["on"][0].subscribe(sink)
    times: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    for number in range(rounds + 3):
        for name in names[number % 4 :] + names[: number % 4]:
            took = one_round(*cases[name], tokens)
            if number >= 3:  # the first ones warm up
                times[name].append(took)
    sink.close()
    emitted = len(noting.noted) / (rounds + 3)
    hand_over = statistics.median(emit_times(Tally(), noting.noted * 5, 0))
    make = remake_us(noting.noted) / len(noting.noted)
    median = {name: statistics.median(each) for name, each in times.items()}
    return {
        "handler_without_us": median["without"],
        "handler_off_us": median["off"],
        "handler_on_us": median["on"],
        "handler_events": emitted,
        "off_us_per_event": make + hand_over,
        "off_share": emitted * (make + hand_over) / median["off"],
    }


def per_event(rounds: int) -> dict[str, float]:
    """What an event costs its emitter under each sink, and the background thread."""
    made, search = prefetcher()
    events: list[Event] = []
    made.subscribe(events.append)
    for _ in range(rounds):
        one_round(made, search, 40)
    tracers, meters = providers()
    for name, level in ((LOGGER, logging.DEBUG), ("langgraph_prefetch", logging.ERROR)):
        logging.getLogger(name).setLevel(level)
    logging.getLogger(LOGGER).addHandler(logging.NullHandler())
    logging.getLogger(LOGGER).propagate = False

    def both(*sinks: EventSink) -> Callable[[Event], None]:
        def call(event: Event) -> None:
            for sink in sinks:
                sink(event)

        return call

    otel = otel_sink(tracer_provider=tracers, meter_provider=meters)
    on = emit_times(otel, events, 0.001)
    otel.close()
    hung = BackgroundSink(lambda event: time.sleep(60), max_queued=100)
    stuck = emit_times(hung, events, 0)
    inline = emit_times(both(MetricSink(meters), SpanSink(tracers)), events, 0)
    logged = emit_times(LogSink(), events, 0)
    hung.close(0)
    return {
        "events": len(events),
        "on_us_median": statistics.median(on),
        "on_us_p99": sorted(on)[int(len(on) * 0.99)],
        "on_us_mean": statistics.fmean(on),
        "hung_exporter_us_median": statistics.median(stuck),
        "background_us_mean": statistics.fmean(inline),
        "log_us_median": statistics.median(logged),
    }


def main() -> None:
    """Print the figures, and write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--rounds", type=int, default=40, help="model calls of which the median is taken")
    parser.add_argument("--tokens", type=int, default=150, help="tokens of a model call")
    arguments = parser.parse_args()
    figures = {**off_and_on(arguments.rounds, arguments.tokens), **per_event(arguments.rounds)}
    for name, value in figures.items():
        print(f"{name:26} {value:12.4f}")
    print(f"off: {figures['off_share']:.2%} of the handler's time (limit {OFF_LIMIT:.0%})")
    print(f"on:  {figures['on_us_median']:.1f} us an event (limit {ON_LIMIT_US:.0f})")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
