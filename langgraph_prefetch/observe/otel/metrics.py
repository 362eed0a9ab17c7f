"""Everything in the report, as OpenTelemetry metrics."""

from __future__ import annotations

from opentelemetry import metrics
from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
from opentelemetry.util.types import AttributeValue

from langgraph_prefetch.events import (
    Event,
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
    StepStarted,
    Trouble,
)
from langgraph_prefetch.observe.false_starts import FalseStarts
from langgraph_prefetch.observe.labels import Labels, ReasonLabels
from langgraph_prefetch.observe.otel import names, serving
from langgraph_prefetch.observe.otel.scope import INSTRUMENTATION, VERSION
from langgraph_prefetch.observe.otel.serving import ServingMetrics
from langgraph_prefetch.values import Source

MAX_TOOLS = 100
MAX_PLACES = 32

BOUNDARIES = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96)
"""Seconds. Those of the GenAI conventions for operations, and four below them: a local index answers in 1 ms."""

COUNTERS = {
    names.RUNS_STARTED: ("{run}", "Agent runs that began to be listened to."),
    names.RUNS_ENDED: ("{run}", "Agent runs that are over; idle: none of their models streamed."),
    names.STEPS_STARTED: ("{step}", "Model calls."),
    names.FALSE_STARTS: ("{step}", "Model calls that started a guess and did not search."),
    names.SPECULATIONS_STARTED: ("{speculation}", "Background retrievals started."),
    names.SPECULATIONS_JOINED: ("{signal}", "Signals that asked for what was under way or ready."),
    names.SPECULATIONS_IGNORED: ("{signal}", "Signals that started nothing, by reason."),
    names.SPECULATIONS_ENDED: ("{speculation}", "Background retrievals by fate and reason."),
    names.SEARCH_CALLS: ("{call}", "Real calls of the named tools; source none: the tool itself ran."),
    names.NEXT_CALLS_STARTED: ("{call}", "Model calls started in private."),
    names.NEXT_CALLS_IGNORED: ("{call}", "Model calls that could have started in private and did not, by reason."),
    names.NEXT_CALLS_ENDED: ("{call}", "Model calls started in private, by fate and reason."),
    names.WASTED_TOKENS: ("{token}", "Tokens of private model calls that were not adopted."),
    names.NEAR_FETCHED: ("{fetch}", "Lists of passages fetched around anchors, for near misses."),
    names.NEAR_BYTES: ("{byte}", "Bytes of the vectors of those passages."),
    names.NEAR_IGNORED: ("{anchor}", "Anchors whose passages were not fetched, by reason."),
    names.NEAR_ANSWERED: ("{call}", "Calls ranked among fetched passages; tier none: not served, by reason."),
    names.NEAR_CHECKED: ("{call}", "Rankings compared with what the tool itself returns."),
    names.NEAR_CHANGED: ("{change}", "How often near misses of a tool began or ceased to be answered."),
    names.TROUBLES: ("{trouble}", "Failures inside prefetch, none of which reached an agent."),
    **serving.COUNTERS,
}
GAUGES = {
    names.NEAR_WRONG_RATE: (
        "1",
        "Share of wrong sets among the near misses served, on those searched again; its interval.",
    ),
    **serving.GAUGES,
}
HISTOGRAMS = {
    names.SPECULATION_RETRIEVAL: "How long the retrieval of a speculation ran.",
    names.CALL_RETRIEVAL: "How long the retrieval behind a search call took.",
    names.CALL_WAITED: "How long the agent waited for a search call.",
    names.CALL_LEAD: "From the dispatch of a speculation to the call that it served.",
    names.CALL_HIDEABLE: "The least of a call's retrieval time and the time from its query being readable to the call.",
    names.CALL_HIDDEN: "Retrieval time that the agent did not wait for, at most the hideable time.",
    names.NEAR_FETCH: "From an anchor's text to the passages around it, its embedding included.",
    names.NEAR_ANSWER: "From a call to its ranking among fetched passages, the embedding of its query included.",
    names.NEXT_CALL_HIDDEN: "Time of an adopted model call that the agent did not wait for.",
    **serving.HISTOGRAMS,
}


class MetricSink:
    """An event sink. Safe for threads. Its label values are few, whatever the events say.

    Args:
        meter_provider: the global one if None.
    """

    def __init__(self, meter_provider: MeterProvider | None = None) -> None:
        meter = metrics.get_meter(INSTRUMENTATION, VERSION or "", meter_provider)
        self._count = {name: _counter(meter, name) for name in COUNTERS}
        self._time = {name: _histogram(meter, name) for name in HISTOGRAMS}
        self._tools, self._places, self._reasons = Labels(MAX_TOOLS), Labels(MAX_PLACES), ReasonLabels()
        self._guesses = Labels(MAX_PLACES)
        self._wrong_rate = meter.create_gauge(names.NEAR_WRONG_RATE, *GAUGES[names.NEAR_WRONG_RATE])
        self._false_starts = FalseStarts()
        self._serving = ServingMetrics(
            meter,
            lambda name, number, about: self._count[name].add(number, about),
            lambda name, seconds, about: self._time[name].record(seconds, about),
        )

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event:
            case RunStarted():
                self._count[names.RUNS_STARTED].add(1)
            case StepStarted():
                self._count[names.STEPS_STARTED].add(1)
            case SpeculationStarted():
                self._count[names.SPECULATIONS_STARTED].add(1, self._about(event.tool, event.source))
            case SpeculationJoined():
                self._count[names.SPECULATIONS_JOINED].add(1, self._about(event.tool, event.source))
            case SpeculationIgnored():
                about = {**self._about(event.tool, event.source), names.REASON: self._reasons.of(event.reason)}
                self._count[names.SPECULATIONS_IGNORED].add(1, about)
            case SpeculationEnded():
                self._ended(event)
            case SearchCallAnswered():
                self._answered(event)
            case NextCallStarted():
                self._count[names.NEXT_CALLS_STARTED].add(1, {names.GUESSES: self._guesses.of(event.guesses)})
            case NextCallIgnored():
                about = {names.GUESSES: self._guesses.of(event.guesses), names.REASON: self._reasons.of(event.reason)}
                self._count[names.NEXT_CALLS_IGNORED].add(1, about)
            case NextCallEnded():
                self._next_call_ended(event)
            case NearFetched() | NearIgnored() | NearAnswered() | NearChecked() | NearTierChanged():
                self._near(event)
            case RunEnded():
                self._count[names.RUNS_ENDED].add(1, {names.IDLE: event.idle})
            case Trouble():
                self._count[names.TROUBLES].add(1, {names.WHERE: self._places.of(event.where)})
            case _:
                self._serving(event)
        if settled := self._false_starts.see(event):
            self._count[names.FALSE_STARTS].add(settled)

    def _ended(self, event: SpeculationEnded) -> None:
        about = {**self._about(event.tool, event.source), names.FATE: event.fate.value}
        self._count[names.SPECULATIONS_ENDED].add(1, {**about, names.REASON: self._reasons.of(event.reason)})
        if event.seconds is not None:
            self._time[names.SPECULATION_RETRIEVAL].record(event.seconds, about)

    def _answered(self, event: SearchCallAnswered) -> None:
        about = self._about(event.tool, event.source)
        how: dict[str, AttributeValue] = {
            names.LATE: event.late,
            names.FAILED: event.failed,
            names.REASON: self._reasons.of(event.reason),
        }
        self._count[names.SEARCH_CALLS].add(1, {**about, **how})
        self._time[names.CALL_RETRIEVAL].record(event.retrieval_seconds, about)
        self._time[names.CALL_WAITED].record(event.waited_seconds, about)
        self._time[names.CALL_HIDEABLE].record(event.hideable_seconds, about)
        if event.source is not None:  # a call that its tool ran for hid nothing, and would only flatten the curve
            self._time[names.CALL_HIDDEN].record(event.hidden_seconds, about)
        if event.source in (Source.REASONING, Source.SEALED):  # reuse was never dispatched
            self._time[names.CALL_LEAD].record(event.lead_seconds, about)

    def _next_call_ended(self, event: NextCallEnded) -> None:
        how = {names.FATE: event.fate.value, names.REASON: self._reasons.of(event.reason)}
        self._count[names.NEXT_CALLS_ENDED].add(1, how)
        for kind, tokens in (("input", event.wasted_input_tokens), ("output", event.wasted_output_tokens)):
            if tokens:
                self._count[names.WASTED_TOKENS].add(tokens, {names.TOKEN_TYPE: kind})
        if event.fate is NextCallFate.ADOPTED:
            self._time[names.NEXT_CALL_HIDDEN].record(event.hidden_seconds)

    def _near(self, event: NearFetched | NearIgnored | NearAnswered | NearChecked | NearTierChanged) -> None:
        about: dict[str, AttributeValue] = {names.TOOL_NAME: self._tools.of(event.tool)}
        match event:
            case NearFetched():
                self._count[names.NEAR_FETCHED].add(1, {**about, names.ANCHOR: event.kind})
                self._count[names.NEAR_BYTES].add(event.bytes, about)
                self._time[names.NEAR_FETCH].record(event.seconds, about)
            case NearIgnored():
                reason = self._reasons.of(event.reason)
                self._count[names.NEAR_IGNORED].add(1, {**about, names.ANCHOR: event.kind, names.REASON: reason})
            case NearAnswered():
                tier = event.tier if event.served else names.NOT_SERVED
                how = {names.TIER: tier, names.REASON: self._reasons.of(event.reason)}
                self._count[names.NEAR_ANSWERED].add(1, {**about, **how})
                self._time[names.NEAR_ANSWER].record(event.seconds, {**about, names.TIER: tier})
            case NearChecked():
                self._count[names.NEAR_CHECKED].add(1, {**about, names.SERVED: event.served, names.WRONG: event.wrong})
                rate = event.audited_wrong / event.audited if event.audited else 0.0
                for bound, value in (("measured", rate), ("low", event.low), ("high", event.high)):
                    self._wrong_rate.set(value, {**about, names.BOUND: bound})
            case NearTierChanged():
                self._count[names.NEAR_CHANGED].add(1, {**about, names.TIER: event.tier, names.OPEN: event.open})

    def _about(self, tool: str, source: Source | None) -> dict[str, AttributeValue]:
        return {
            names.TOOL_NAME: self._tools.of(tool),
            names.SOURCE: source.value if source is not None else names.NOT_SERVED,
        }


def _counter(meter: Meter, name: str) -> Counter:
    unit, description = COUNTERS[name]
    return meter.create_counter(name, unit, description)


def _histogram(meter: Meter, name: str) -> Histogram:
    return meter.create_histogram(name, "s", HISTOGRAMS[name], explicit_bucket_boundaries_advisory=BOUNDARIES)
