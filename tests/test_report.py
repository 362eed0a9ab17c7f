"""The report's numbers add up, whatever came."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.events import (
    Event,
    Fate,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationStarted,
    StepStarted,
)
from langgraph_prefetch.report import MAX_OPEN_RUNS, Report, Tally
from langgraph_prefetch.testing.sink_contract import sample_events
from langgraph_prefetch.values import Source


def tallied(*events: Event) -> Report:
    tally = Tally()
    for event in events:
        tally(event)
    return tally.report()


def sample(kind: type[Any], **changes: Any) -> Any:
    return replace(next(each for each in sample_events() if type(each) is kind), **changes)


def test_a_run_in_numbers() -> None:
    """One served call, one speculation: everything of it is counted once."""
    report = tallied(*sample_events())
    assert (report.runs, report.steps, report.search_calls, report.served, report.misses) == (1, 1, 1, 1, 0)
    assert (report.speculations, report.served_speculations, report.unsettled) == (1, 1, 0)
    assert (report.coverage, report.accuracy, report.timeliness, report.amplification) == (1.0, 1.0, 0.0, 3.0)
    assert (report.near_fetches, report.near_audited) == (1, 1)  # which the backend served besides the speculation
    assert (report.hidden_seconds, report.hideable_seconds, report.retrieval_seconds) == (0.4, 0.4, 0.5)
    assert (report.ignored, report.troubles, report.false_starts) == ((("budget: per_run", 1),), 1, 0)


def test_nothing_happened() -> None:
    """No division by nothing; without prefetch as many backend starts as with it."""
    report = tallied()
    assert (report.coverage, report.accuracy, report.timeliness, report.amplification) == (0.0, 0.0, 0.0, 1.0)
    assert "search calls    0" in str(report)


FATES = st.sampled_from((None, *Fate))
SOURCES = st.sampled_from((None, *Source))


@given(st.lists(FATES), st.lists(st.tuples(SOURCES, st.booleans())))
def test_the_parts_add_up(fates: list[Fate | None], answers: list[tuple[Source | None, bool]]) -> None:
    """Calls are served or not, by one source each; speculations have one fate or none yet."""
    events: list[Event] = []
    for fate in fates:
        events.append(sample(SpeculationStarted))
        if fate is not None:
            events.append(sample(SpeculationEnded, fate=fate))
    events += [sample(SearchCallAnswered, source=source, late=late and source is not None) for source, late in answers]
    report = tallied(*events)
    assert report.search_calls == report.served + report.misses == len(answers)
    sources = (report.served_reasoning, report.served_sealed, report.served_reuse, report.served_near)
    assert report.served == sum(sources)
    ends = (report.served_speculations, report.wasted, report.failed, report.cancelled, report.unsettled)
    assert report.speculations == sum(ends) == len(fates)
    assert all(end >= 0 for end in ends)
    assert 0 <= report.coverage <= 1
    assert 0 <= report.timeliness <= 1
    if answers and fates and Source.REUSE not in {source for source, _ in answers}:
        assert report.amplification == pytest.approx((len(fates) + report.misses) / len(answers))


def test_amplification_is_the_stated_formula() -> None:
    """Coverage / accuracy + 1 − coverage, where each served call had its own speculation."""
    events = [sample(SpeculationStarted)] * 3 + [sample(SpeculationEnded)] * 2
    events += [sample(SearchCallAnswered)] * 2 + [sample(SearchCallAnswered, source=None)] * 2
    report = tallied(*events)
    assert report.amplification == pytest.approx(report.coverage / report.accuracy + 1 - report.coverage)


def test_a_false_start_is_a_step_without_a_search() -> None:
    """Steps that guessed and did not search, counted when the run is over; a sealed call that was cut off is none."""

    def step(number: int, *, guessed: bool, searched: bool, source: Source = Source.REASONING) -> list[Event]:
        return [
            sample(StepStarted, step=number),
            *([sample(SpeculationStarted, step=number, source=source)] * (2 if guessed else 0)),
            *([sample(SearchCallAnswered, step=number)] if searched else []),
        ]

    events = [
        sample(RunStarted),
        *step(1, guessed=True, searched=True),
        *step(2, guessed=True, searched=False),
        *step(3, guessed=False, searched=True),
        *step(4, guessed=True, searched=False, source=Source.SEALED),
        *step(5, guessed=True, searched=False),
    ]
    assert tallied(*events).false_starts == 0
    assert tallied(*events, sample(RunEnded)).false_starts == 2


def test_runs_without_an_end_take_no_memory() -> None:
    """Case 21: of the oldest it is forgotten which steps started what; the counts stay."""
    tally = Tally()
    for number in range(MAX_OPEN_RUNS + 100):
        tally(sample(SpeculationStarted, run_id=str(number)))
        tally(sample(SearchCallAnswered, run_id=str(number)))
    assert len(tally._open) == MAX_OPEN_RUNS
    assert tally.report().speculations == MAX_OPEN_RUNS + 100


def test_reasons_are_counted() -> None:
    """Most frequent first."""
    events = [sample(SpeculationIgnored, reason=reason) for reason in ("b", "a", "a")]
    assert tallied(*events).ignored == (("a", 2), ("b", 1))


def test_many_threads_count_right() -> None:
    """No event is lost."""
    tally = Tally()

    def send(number: int) -> None:
        for _ in range(50):
            for event in sample_events(str(number)):
                tally(event)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = tally.report()
    assert (report.runs, report.search_calls, report.served_speculations) == (400, 400, 400)


def test_the_text_says_what_matters() -> None:
    """Idle runs come with what to do; refusals with their reason; troubles and false starts only if there are any."""
    quiet = str(tallied(*sample_events()[:-2]))
    assert "served 1 (coverage 100%: reasoning 1, sealed call 0, reuse 0)" in quiet
    assert "0.40 s of 0.40 s hideable (0.50 s of retrieval)" in quiet
    assert not any(word in quiet for word in ("idle", "troubles", "false starts", "not prefetched"))
    report = Report(
        runs=3, steps=5, idle_runs=2, troubles=1, false_starts=1, refusals=(("send_email", "it needs approval"),)
    )
    assert "no tokens seen in 2 of 3 runs" in str(report)
    assert "force_streaming=True" in str(report)
    assert "send_email: it needs approval" in str(report)
    assert "troubles        1" in str(report)
    assert "false starts    1 of 5 model calls" in str(report)
