"""Events become what is drawn: nothing is lost, nothing is invented."""

import random

from langgraph_prefetch.events import (
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
    StepEnded,
    StepStarted,
    Trouble,
)
from langgraph_prefetch.observe.timeline.collect import runs_of
from langgraph_prefetch.observe.timeline.marks import Ending
from langgraph_prefetch.testing.sink_contract import sample_events
from tests.observe.timeline.samples import run_events


def test_one_run_of_every_kind_of_event() -> None:
    """Each mark says what its events said; a call begins where its waiting began."""
    (run,) = runs_of(sample_events())
    (step,), (call,), (ignored, next_ignored) = run.steps, run.calls, run.ignored
    speculation, fetched, given_up, adopted = run.speculations
    assert (run.id, run.start, run.end, run.all_steps) == ("run-1", 1.0, 2.0, 1)
    assert (step.start, step.end, step.pieces) == (1.1, 1.6, 12)
    assert (speculation.start, speculation.end, speculation.seconds) == (1.3, 1.8, 0.5)
    assert (speculation.fate, speculation.reason, speculation.joined) == (Ending.SERVED, "late", (1.4,))
    assert (round(call.start, 6), call.end, call.hidden, call.late) == (1.7, 1.8, 0.4, True)
    assert call.speculation == speculation.id
    assert (ignored.reason, next_ignored.reason) == ("budget: per_run", "next call: budget: per_run")
    assert (fetched.fate, fetched.cue, fetched.reason) == (Ending.FETCHED, "thought", "500 passages")
    assert (round(fetched.start, 6), fetched.end, fetched.seconds) == (1.4, 1.6, 0.2)
    assert (given_up.is_model_call, given_up.fate, adopted.fate) == (True, Ending.CANCELLED, Ending.SERVED)


def test_the_order_of_events_does_not_matter() -> None:
    """Events of many threads, and of files read in any order, give the same picture."""
    events = run_events("a", 12) + run_events("b", 7, at=900.0)
    shuffled = events.copy()
    random.Random(5).shuffle(shuffled)
    assert runs_of(shuffled) == runs_of(events)
    assert [run.id for run in runs_of(events)] == ["b", "a"]


def test_every_event_is_drawn() -> None:
    """As many marks as there were model calls, speculations and search calls."""
    events = run_events(steps=30)
    (run,) = runs_of(events)

    def count(kind: type) -> int:
        return sum(isinstance(event, kind) for event in events)

    assert len(run.steps) == count(StepStarted) == 30
    assert len(run.speculations) == count(SpeculationStarted) == count(SpeculationEnded)
    assert len(run.calls) == count(SearchCallAnswered)


def test_a_recording_that_begins_or_ends_in_the_middle() -> None:
    """What is missing stays open; no time is made up."""
    whole = run_events(steps=2)
    (run,) = runs_of([event for event in whole if not isinstance(event, StepEnded | SpeculationEnded | RunStarted)])
    assert all(step.end is None and step.pieces == 0 for step in run.steps)
    assert {each.fate for each in run.speculations} == {Ending.UNSETTLED}
    (run,) = runs_of([event for event in whole if isinstance(event, SpeculationEnded)])
    assert run.speculations == ()
    assert runs_of([]) == runs_of([Trouble(at=1.0, where="token", error="ValueError")]) == ()


def test_the_first_steps_of_a_run_keep_what_belongs_to_them() -> None:
    """A run that is cut stays a run: no mark of a step that is gone."""
    (run,) = runs_of(run_events(steps=20))
    cut = run.first_steps(5)
    assert [step.step for step in cut.steps] == [1, 2, 3, 4, 5]
    kept = (
        {mark.step for mark in cut.calls}
        | {mark.step for mark in cut.speculations}
        | {mark.step for mark in cut.ignored}
    )
    assert kept == {1, 2, 3, 4, 5}
    assert (cut.all_steps, cut.end < run.end) == (20, True)
