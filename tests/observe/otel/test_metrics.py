"""Metrics equal a recount of the events, and there are never many of them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.events import (
    Event,
    EventSink,
    Fate,
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
from langgraph_prefetch.observe.otel import MetricSink, names, serving
from langgraph_prefetch.observe.otel.metrics import COUNTERS, HISTOGRAMS, MAX_TOOLS
from langgraph_prefetch.report import Report, Tally
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events
from langgraph_prefetch.values import Source
from tests.observe.otel.events import many_runs
from tests.observe.otel.telemetry import Telemetry, telemetry

SERVING = {*serving.COUNTERS, *serving.HISTOGRAMS, *serving.GAUGES}


class TestMetricSink(EventSinkContract):
    @pytest.fixture
    def sink(self) -> Iterator[EventSink]:
        with telemetry() as made:
            yield MetricSink(made.meters)


def recorded(events: Sequence[Event], made: Telemetry) -> Report:
    """Sends the events, and returns what the report's own tally says of them."""
    sink, tally = MetricSink(made.meters), Tally()
    for event in events:
        sink(event)
        tally(event)
    return tally.report()


def agrees(made: Telemetry, report: Report, events: Sequence[Event]) -> None:
    count, seconds = made.count, made.seconds
    assert count(names.RUNS_STARTED) == report.runs
    assert count(names.RUNS_ENDED, idle=True) == report.idle_runs
    assert count(names.STEPS_STARTED) == report.steps
    assert count(names.FALSE_STARTS) == report.false_starts
    assert count(names.SPECULATIONS_STARTED) == report.speculations
    fates = (report.served_speculations, report.wasted, report.failed, report.cancelled)
    for fate, number in zip(Fate, fates, strict=True):
        assert count(names.SPECULATIONS_ENDED, fate=fate.value) == number
    assert count(names.SPECULATIONS_IGNORED) == sum(number for _, number in report.ignored)
    assert count(names.SEARCH_CALLS) == report.search_calls
    assert count(names.SEARCH_CALLS, source="none") == report.misses
    sources = (report.served_reasoning, report.served_sealed, report.served_reuse, report.served_near)
    for source, number in zip(Source, sources, strict=True):
        assert count(names.SEARCH_CALLS, source=source.value) == number
    assert count(names.SEARCH_CALLS, late=True) == report.late
    assert count(names.NEXT_CALLS_STARTED) == report.next_calls
    next_fates = (report.next_calls_adopted, report.next_calls_cancelled, report.next_calls_failed)
    for next_fate, number in zip(NextCallFate, next_fates, strict=True):
        assert count(names.NEXT_CALLS_ENDED, fate=next_fate.value) == number
    assert count(names.NEXT_CALLS_IGNORED) == sum(number for _, number in report.next_calls_ignored)
    assert count(names.WASTED_TOKENS) == report.wasted_input_tokens + report.wasted_output_tokens
    assert count(names.NEAR_FETCHED) == report.near_fetches
    assert count(names.NEAR_BYTES) == report.near_bytes
    assert count(names.NEAR_IGNORED) == sum(number for _, number in report.near_ignored)
    assert count(names.NEAR_ANSWERED, tier="proved") == report.near_proved
    assert count(names.NEAR_ANSWERED, tier="none") == sum(number for _, number in report.near_unserved)
    assert count(names.NEAR_CHECKED, served=True) == report.near_audited
    assert count(names.NEAR_CHECKED, served=True, wrong=True) == report.near_audited_wrong
    assert count(names.NEAR_CHANGED, open=False) == report.near_closings
    assert count(names.TROUBLES) == report.troubles
    assert seconds(names.CALL_HIDDEN) == pytest.approx(report.hidden_seconds)
    assert seconds(names.CALL_HIDEABLE) == pytest.approx(report.hideable_seconds)
    assert seconds(names.CALL_RETRIEVAL) == pytest.approx(report.retrieval_seconds)
    calls = [event for event in events if isinstance(event, SearchCallAnswered)]
    assert seconds(names.CALL_WAITED) == pytest.approx(sum(call.waited_seconds for call in calls))
    dispatched = [call for call in calls if call.source in (Source.REASONING, Source.SEALED)]
    assert seconds(names.CALL_LEAD) == pytest.approx(sum(call.lead_seconds for call in dispatched))
    assert count(names.CALL_LEAD) == len(dispatched)
    assert count(names.SEARCH_CALLS, failed=True) == sum(call.failed for call in calls)
    joined = [event for event in events if isinstance(event, SpeculationJoined)]
    assert count(names.SPECULATIONS_JOINED) == len(joined)


def test_metrics_of_real_runs_are_the_report() -> None:
    """Everything that the report counts is counted alike."""
    with telemetry() as made:
        report = recorded(many_runs(), made)
        assert report.served > 0
        assert report.false_starts > 0
        assert report.failed > 0
        agrees(made, report, many_runs())


seconds = st.floats(0, 100)
sources = st.sampled_from(Source)
guesses = st.sampled_from((Source.REASONING, Source.SEALED))
about: dict[str, Any] = {
    "run_id": st.sampled_from(("r1", "r2", "r3")),
    "step": st.integers(1, 3),
    "at": seconds,
    "tool": st.sampled_from(("search", "look_up")),
}
ids = st.sampled_from(("s1", "s2", "s3"))
reasons = st.sampled_from(("", "ready", "late", "budget: per_run", "tool x ran", "new: 3"))
any_event = st.one_of(
    st.builds(RunStarted, run_id=about["run_id"], at=seconds),
    st.builds(StepStarted, run_id=about["run_id"], step=about["step"], at=seconds),
    st.builds(
        SpeculationStarted, **about, speculation_id=ids, source=guesses, probability=st.just(1.0), cue=st.just("c")
    ),
    st.builds(SpeculationJoined, **about, speculation_id=ids, source=guesses),
    st.builds(SpeculationIgnored, **about, source=guesses, reason=reasons),
    st.builds(
        SpeculationEnded, **about, speculation_id=ids, source=guesses, fate=st.sampled_from(Fate), reason=reasons,
        seconds=st.none() | seconds,
    ),
    st.builds(
        SearchCallAnswered, **about, call_id=st.none(), source=sources, speculation_id=ids, late=st.booleans(),
        reason=reasons, waited_seconds=seconds, retrieval_seconds=seconds, lead_seconds=seconds,
        hideable_seconds=seconds, hidden_seconds=seconds, failed=st.booleans(),
    ),
    st.builds(
        SearchCallAnswered, **about, call_id=st.none(), source=st.none(), speculation_id=st.none(), late=st.just(False),
        reason=reasons, waited_seconds=seconds, retrieval_seconds=seconds, lead_seconds=st.just(0.0),
        hideable_seconds=seconds, hidden_seconds=st.just(0.0), failed=st.booleans(),
    ),
    st.builds(
        NextCallStarted, run_id=about["run_id"], step=about["step"], at=seconds, next_call_id=ids,
        guesses=st.sampled_from(("stale", "similar")), p_equal=st.just(0.5), saved_seconds=seconds,
    ),
    st.builds(
        NextCallIgnored, run_id=about["run_id"], step=about["step"], at=seconds, reason=reasons,
        guesses=st.sampled_from(("stale", "similar")), p_equal=st.just(0.5), saved_seconds=seconds,
    ),
    st.builds(
        NextCallEnded, run_id=about["run_id"], step=about["step"], at=seconds, next_call_id=ids,
        fate=st.sampled_from(NextCallFate), reason=reasons, seconds=seconds,
        wasted_input_tokens=st.integers(0, 9), wasted_output_tokens=st.integers(0, 9),
    ),
    st.builds(RunEnded, run_id=about["run_id"], at=seconds, idle=st.booleans()),
    st.builds(Trouble, at=seconds, where=st.sampled_from(("token", "answer")), error=st.just("E")),
)  # fmt: skip


@given(st.lists(any_event, max_size=60))
def test_metrics_of_any_events_are_a_recount(events: list[Event]) -> None:
    """In whatever order events come, and however they contradict each other, both count the same."""
    with telemetry() as made:
        agrees(made, recorded(events, made), events)


def test_attributes_of_each_metric() -> None:
    """These are the labels that dashboards and alerts are written with."""
    with telemetry() as made:
        recorded([*sample_events(), *many_runs()], made)
        found = {
            name: sorted({key for point in made.points(name) for key in point.attributes}) for name in made.metrics()
        }
    about = ["gen_ai.tool.name", "langgraph_prefetch.source"]
    found = {name: each for name, each in found.items() if name not in SERVING}  # see test_serving
    assert found == {
        names.RUNS_STARTED: [],
        names.RUNS_ENDED: ["langgraph_prefetch.idle"],
        names.STEPS_STARTED: [],
        names.FALSE_STARTS: [],
        names.SPECULATIONS_STARTED: about,
        names.SPECULATIONS_JOINED: about,
        names.SPECULATIONS_IGNORED: [about[0], "langgraph_prefetch.reason", about[1]],
        names.SPECULATIONS_ENDED: [about[0], "langgraph_prefetch.fate", "langgraph_prefetch.reason", about[1]],
        names.SPECULATION_RETRIEVAL: [about[0], "langgraph_prefetch.fate", about[1]],
        names.SEARCH_CALLS: [
            about[0], "langgraph_prefetch.failed", "langgraph_prefetch.late", "langgraph_prefetch.reason", about[1],
        ],
        **dict.fromkeys((names.CALL_RETRIEVAL, names.CALL_WAITED, names.CALL_HIDEABLE), about),
        **dict.fromkeys((names.CALL_LEAD, names.CALL_HIDDEN), about),
        names.NEXT_CALLS_STARTED: ["langgraph_prefetch.guesses"],
        names.NEXT_CALLS_IGNORED: ["langgraph_prefetch.guesses", "langgraph_prefetch.reason"],
        names.NEXT_CALLS_ENDED: ["langgraph_prefetch.fate", "langgraph_prefetch.reason"],
        names.NEXT_CALL_HIDDEN: [],
        names.WASTED_TOKENS: ["gen_ai.token.type"],
        names.NEAR_FETCHED: [about[0], "langgraph_prefetch.anchor"],
        names.NEAR_IGNORED: [about[0], "langgraph_prefetch.anchor", "langgraph_prefetch.reason"],
        **dict.fromkeys((names.NEAR_BYTES, names.NEAR_FETCH), about[:1]),
        names.NEAR_ANSWERED: [about[0], "langgraph_prefetch.reason", "langgraph_prefetch.tier"],
        names.NEAR_ANSWER: [about[0], "langgraph_prefetch.tier"],
        names.NEAR_CHECKED: [about[0], "langgraph_prefetch.served", "langgraph_prefetch.wrong"],
        names.NEAR_CHANGED: [about[0], "langgraph_prefetch.open", "langgraph_prefetch.tier"],
        names.NEAR_WRONG_RATE: [about[0], "langgraph_prefetch.bound"],
        names.TROUBLES: ["langgraph_prefetch.where"],
    }  # fmt: skip


def test_names_and_units_follow_the_conventions() -> None:
    """Lower case, dots and underscores; units in braces or seconds, never in a name; no name is another's namespace."""
    all_names = [*COUNTERS, *HISTOGRAMS, names.EVENTS_DROPPED]
    for name in all_names:
        assert re.fullmatch(r"langgraph_prefetch(\.[a-z]+(_[a-z]+)*)+", name)
        assert not re.search(r"(total|seconds|count)$", name)
        assert not any(other.startswith(f"{name}.") for other in all_names)
    assert all(re.fullmatch(r"\{[a-z]+\}", unit) for unit, _ in COUNTERS.values())
    with telemetry() as made:
        recorded(sample_events(), made)
        assert {made.metrics()[name].unit for name in HISTOGRAMS} == {"s"}
        bounds = made.points(names.CALL_WAITED)[0].explicit_bounds
        assert bounds[0] <= 0.001
        assert bounds[-1] >= 30


def test_labels_stay_few_whatever_events_say() -> None:
    """Tools made per request, or reasons with numbers in them, cannot multiply time series."""
    with telemetry() as made:
        sink = MetricSink(made.meters)
        for number in range(2_000):
            sink(
                SpeculationIgnored(
                    run_id=f"r{number}", step=number, at=0.0, tool=f"t{number}", source=Source.REASONING, reason="off"
                )
            )
            sink(
                SpeculationIgnored(
                    run_id="r", step=1, at=0.0, tool="t1", source=Source.REASONING, reason=f"odd{number} thing{number}"
                )
            )
            sink(Trouble(at=0.0, where=f"place {number}", error="E"))
        assert len(made.points(names.SPECULATIONS_IGNORED)) <= MAX_TOOLS + 1 + 33
        assert len(made.points(names.TROUBLES)) <= 33
        assert made.count(names.SPECULATIONS_IGNORED) == 4_000
        assert made.count(names.SPECULATIONS_IGNORED, name="other") == 2_000 - MAX_TOOLS
