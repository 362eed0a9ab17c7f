"""A replay's figures add up, are the same every time, and are those that a recount from its events gives."""

import dataclasses
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.measures import FileMeasures
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.events import Event
from tests.evaluation.recordings import ANSWERED, CHANGED, FALSE_START, SAID, UNSAID, episode, search, write

PLAIN = ReplaySettings()
REASONING_ALONE = ReplaySettings(sealed=False)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return read_recording(write(tmp_path / "runs.jsonl"))


def of(tmp_path: Path, *lines: str) -> Recording:
    return read_recording(write(tmp_path / "some.jsonl", lines))


@pytest.mark.parametrize(
    "settings",
    [
        PLAIN,
        REASONING_ALONE,
        ReplaySettings(reuse_seconds=30),
        ReplaySettings(latency_seconds=2.0, tokens_per_second=200),
        ReplaySettings(max_guesses=0),
    ],
    ids=str,
)
def test_counts_add_up(recording: Recording, settings: ReplaySettings) -> None:
    """The parts of coverage make the whole, the definitions hold, and nothing is hidden that could not be."""
    measured = replay(recording, settings)
    parts = measured.coverage_reasoning + measured.coverage_sealed + measured.coverage_reuse
    assert measured.coverage == pytest.approx(parts)
    assert (measured.steps, measured.search_calls, measured.episodes) == (14, 9, 4)
    if settings.reuse_seconds is None and measured.accuracy:
        expected = measured.coverage / measured.accuracy + 1 - measured.coverage
        assert measured.amplification == pytest.approx(expected)
    assert 0 <= measured.hidden_seconds <= measured.hideable_seconds + 1e-9
    assert measured.wrong_answers == 0
    rows = (*measured.hidden_by_lead, *measured.hidden_by_hideable)
    assert all(row.hidden_seconds <= row.hideable_seconds + 1e-9 for row in rows)
    started_early = (measured.coverage - measured.coverage_reuse) * 9
    assert sum(row.search_calls for row in measured.hidden_by_lead) == round(started_early)
    assert sum(row.search_calls for row in measured.hidden_by_hideable) == 9
    hidden = sum(row.hidden_seconds for row in measured.hidden_by_hideable)
    assert hidden == pytest.approx(measured.hidden_seconds)


def test_two_replays_are_equal(recording: Recording) -> None:
    """Virtual time leaves nothing to chance."""
    first, second = (replay(recording, PLAIN).as_json() for _ in range(2))
    assert first == second


def test_one_episode_tells_nothing_to_the_next(tmp_path: Path) -> None:
    """Each has a scope of its own, so that playing one twice counts everything twice."""
    line = episode(SAID, UNSAID, SAID, ANSWERED)
    once, twice = (replay(of(tmp_path, *([line] * times)), ReplaySettings(reuse_seconds=60)) for times in (1, 2))
    assert twice.coverage == once.coverage
    assert twice.speculations == 2 * once.speculations
    assert twice.hidden_seconds == pytest.approx(2 * once.hidden_seconds)


def test_reasoning_covers_what_is_said_and_sealing_the_rest(tmp_path: Path) -> None:
    """A query said aloud long before its call is hidden; one that stands only in the call gets the sealed lead."""
    recording = of(tmp_path, episode(SAID, UNSAID, ANSWERED))
    whole, alone = replay(recording, PLAIN), replay(recording, REASONING_ALONE)
    assert (whole.coverage_reasoning, whole.coverage_sealed) == (0.5, 0.5)
    assert (alone.coverage_reasoning, alone.coverage_sealed) == (0.5, 0.0)
    assert alone.verbatim_ceiling == 0.5
    # The closing bracket is followed by one token's time and the graph's step.
    sealed_lead = 1 / PLAIN.tokens_per_second + PLAIN.graph_step_seconds
    assert whole.hidden_seconds - alone.hidden_seconds == pytest.approx(sealed_lead)


@pytest.mark.parametrize("style", ["react_text", "think_tags", "tool_calls"])
def test_sealed_calls_answer_in_every_style(tmp_path: Path, style: str) -> None:
    """Whatever form the action is written in, its closing is enough to start it."""
    measured = replay(of(tmp_path, episode(UNSAID, ANSWERED, style=style)), PLAIN)
    assert (measured.coverage_sealed, measured.accuracy) == (1.0, 1.0)


@pytest.mark.parametrize("style", ["react_text", "tool_calls"])
@pytest.mark.parametrize("arguments", [{"term": "Ada", "k": 3, "exact": True, "near": 0.5}, {"term": "Ada"}])
def test_structured_arguments_are_replayed_with_their_types(
    tmp_path: Path, style: str, arguments: dict[str, object]
) -> None:
    """A call of typed arguments is started when they close, in text too, and answered from that alone."""
    measured = replay(of(tmp_path, episode(search("Let me see.", arguments), ANSWERED, style=style)), PLAIN)
    assert (measured.coverage_sealed, measured.speculations, measured.wrong_answers) == (1.0, 1, 0)


def test_reuse_is_counted_apart_and_void_after_another_tool(tmp_path: Path) -> None:
    """The second equal call is answered from the first, unless another tool ran in between."""
    repeated = of(tmp_path, episode(UNSAID, UNSAID, ANSWERED, style="tool_calls"))
    changed = of(tmp_path, episode(UNSAID, CHANGED, UNSAID, ANSWERED, style="tool_calls"))
    settings = ReplaySettings(reuse_seconds=60)
    assert replay(repeated, PLAIN).coverage_reuse == 0
    assert replay(repeated, settings).coverage_reuse == 0.5
    after_change = replay(changed, settings)
    assert (after_change.coverage_reuse, after_change.wrong_answers) == (0.0, 0)


def test_a_false_start_is_a_step_without_a_search(tmp_path: Path) -> None:
    """Counted once a step, also in recordings where nobody searches at all."""
    measured = replay(of(tmp_path, episode(FALSE_START), episode(ANSWERED)), PLAIN)
    assert (measured.steps, measured.search_calls, measured.false_starts) == (2, 0, 1)
    assert (measured.coverage, measured.accuracy, measured.amplification) == (0.0, 0.0, 1.0)


def test_tools_are_named(tmp_path: Path) -> None:
    """Only named actions are search calls; several may be named."""
    lines = (episode(SAID, search("Hm.", "Ada", action="look_in_index"), ANSWERED, style="tool_calls"),)
    assert replay(of(tmp_path, *lines), PLAIN).search_calls == 1
    assert replay(of(tmp_path, *lines), ReplaySettings(tools=("search", "look_in_index"))).search_calls == 2
    assert replay(of(tmp_path, *lines), ReplaySettings(tools=("nothing_like_it",))).search_calls == 0


def test_the_more_time_there_is_the_more_is_hidden(tmp_path: Path) -> None:
    """A slow model hides the whole retrieval, a fast one part of it."""
    recording = of(tmp_path, episode(SAID, ANSWERED))
    slow, fast = (
        replay(recording, dataclasses.replace(REASONING_ALONE, tokens_per_second=speed)) for speed in (10, 400)
    )
    assert slow.hidden_seconds == pytest.approx(0.5)
    assert slow.timeliness == 1.0
    assert fast.timeliness == 0.0
    assert 0 < fast.hidden_seconds < 0.5


def test_every_event_reaches_the_sink_and_every_speculation_its_end(recording: Recording) -> None:
    """Nothing is left in the air when a replay ends."""
    events: list[Event] = []
    measured = replay(recording, PLAIN, sink=lambda event: events.append(event))
    kinds = [type(event).__name__ for event in events]
    assert kinds.count("SpeculationStarted") == kinds.count("SpeculationEnded") == measured.speculations > 0
    assert kinds.count("RunStarted") == kinds.count("RunEnded") == measured.episodes
    assert "Trouble" not in kinds


def test_progress_is_told_once_an_episode(recording: Recording) -> None:
    """A progress bar can be driven."""
    told: list[None] = []
    replay(recording, PLAIN, on_episode=lambda: told.append(None))
    assert len(told) == 4


def test_a_switched_off_machine_is_not_measured(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros of a machine that is off would look like a result."""
    monkeypatch.setenv("LANGGRAPH_PREFETCH", "off")
    with pytest.raises(ConfigurationError, match="LANGGRAPH_PREFETCH is off"):
        replay(recording, PLAIN)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tools", ()),
        ("tools", ("",)),
        ("tokens_per_second", 0),
        ("tokens_per_second", float("nan")),
        ("tokens_per_second", float("inf")),
        ("latency_seconds", -1),
        ("latency_seconds", float("inf")),
        ("graph_step_seconds", float("nan")),
        ("reuse_seconds", 0),
        ("max_guesses", -1),
        ("threshold", 1.5),
    ],
)
def test_settings_are_checked(name: str, value: object) -> None:
    """An assumption that makes no sense is refused before any work."""
    with pytest.raises(ConfigurationError):
        ReplaySettings(**{name: value})  # type: ignore[arg-type]


def test_figures_as_json(recording: Recording) -> None:
    """The names that others read, and nothing that JSON has no form for."""
    measured = replay(recording, PLAIN)
    written = measured.as_json()
    assert {each.name for each in dataclasses.fields(FileMeasures)} == set(written)
    (*_, last) = written["hidden_by_lead"]
    assert set(last) == {
        *("from_seconds", "to_seconds", "search_calls", "hidden_seconds", "hideable_seconds", "hidden_share"),
    }
    assert last["to_seconds"] is None
