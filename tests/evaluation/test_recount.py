"""The figures again, counted another way: from the recording, the stated speeds and the raw events alone."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from langgraph_prefetch.evaluation.arguments import arguments_of
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.streams import pieces
from langgraph_prefetch.evaluation.traces import Episode, Recording, read_recording
from langgraph_prefetch.events import (
    Event,
    Fate,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
    StepStarted,
)
from langgraph_prefetch.values import Source, ToolCallDelta
from tests.evaluation.recordings import RUNS, write

E = TypeVar("E")


def only(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return read_recording(write(tmp_path / "runs.jsonl", RUNS))


def readable_and_end(episode: Episode, at: int, settings: ReplaySettings) -> tuple[float | None, float]:
    """Seconds from a step's beginning: when its query had been streamed, and when its call comes."""
    step = episode.steps[at]
    arguments = arguments_of(step)
    deltas = list(pieces(step, arguments, episode.style, "call"))
    end = (len(deltas) + 1) / settings.tokens_per_second + settings.graph_step_seconds
    text, written = "", ""
    for number, delta in enumerate(deltas, start=1):
        if isinstance(delta, ToolCallDelta):
            written += delta.arguments
        else:
            text += delta.text
        if str(arguments["query"]) in text or (settings.sealed and written.endswith("}")):
            return number / settings.tokens_per_second, end
    return None, end


def searches(recording: Recording) -> Iterator[tuple[Episode, int]]:
    for episode in recording.episodes:
        for at, step in enumerate(episode.steps):
            if step.action == "search":
                yield episode, at


@pytest.mark.parametrize("settings", [ReplaySettings(), ReplaySettings(sealed=False)], ids=["sealed", "no sealed"])
def test_hideable_and_hidden_seconds(recording: Recording, settings: ReplaySettings) -> None:
    """From token counts alone one gets the seconds that could be hidden, and from start times those that were."""
    events: list[Event] = []
    measured = replay(recording, settings, sink=lambda event: events.append(event))
    answers = only(events, SearchCallAnswered)
    began = {(event.run_id, event.step): event.at for event in only(events, StepStarted)}
    started = {event.speculation_id: event.at for event in only(events, SpeculationStarted)}
    hidden = hideable = 0.0
    for answer, (episode, at) in zip(answers, searches(recording), strict=True):
        readable, end = readable_and_end(episode, at, settings)
        could = 0.0 if readable is None else min(settings.latency_seconds, end - readable)
        assert answer.hideable_seconds == pytest.approx(could)
        hideable += could
        if answer.speculation_id is not None:
            lead = began[answer.run_id, answer.step] + end - started[answer.speculation_id]
            assert answer.lead_seconds == pytest.approx(lead)
            hidden += min(could, lead, settings.latency_seconds)
    assert measured.hideable_seconds == pytest.approx(hideable)
    assert measured.hidden_seconds == pytest.approx(hidden)


@pytest.mark.parametrize("settings", [ReplaySettings(), ReplaySettings(sealed=False), ReplaySettings(reuse_seconds=60)])
def test_counts(recording: Recording, settings: ReplaySettings) -> None:
    """Every count and share, from the events and the recording."""
    events: list[Event] = []
    measured = replay(recording, settings, sink=lambda event: events.append(event))
    answers = only(events, SearchCallAnswered)
    starts = only(events, SpeculationStarted)
    ends = only(events, SpeculationEnded)
    calls = len(list(searches(recording)))
    by_source = Counter(answer.source for answer in answers)
    served = [answer for answer in answers if answer.source is not None]
    searched = {(answer.run_id, answer.step) for answer in answers}
    assert measured.steps == sum(len(episode.steps) for episode in recording.episodes)
    assert measured.search_calls == len(answers) == calls
    assert measured.coverage == pytest.approx(len(served) / calls)
    assert not by_source[Source.NEAR]  # a replay of near misses has figures of its own
    for source in set(Source) - {Source.NEAR}:
        assert getattr(measured, f"coverage_{source}") == pytest.approx(by_source[source] / calls)
    assert measured.accuracy == pytest.approx(sum(end.fate is Fate.SERVED for end in ends) / len(starts))
    assert measured.timeliness == pytest.approx(sum(not answer.late for answer in served) / len(served))
    assert measured.amplification == pytest.approx((len(starts) + calls - len(served)) / calls)
    assert measured.false_starts == len({(start.run_id, start.step) for start in starts} - searched)
    spoken = sum(str(arguments_of(e.steps[at])["query"]) in e.steps[at].thought for e, at in searches(recording))
    assert measured.verbatim_ceiling == pytest.approx(spoken / calls)
