"""What a replay says prefetch was worth, with the gate and without."""

import math
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.events import Event, Fate, SearchCallAnswered, SpeculationEnded, SpeculationStarted
from tests.evaluation.recordings import FALSE_START, SAID, episode, search, write

THOUGHT = "I need to search Lake Baikal, and find out which rivers leave it, how long they are and where they end."
GOOD = [episode(search(THOUGHT, "Lake Baikal"))] * 12
BAD = [episode(search(THOUGHT, "deepest lake"))] * 12


def recorded(tmp_path: Path, *lines: str) -> Recording:
    return read_recording(write(tmp_path / "runs.jsonl", lines))


@pytest.mark.parametrize("gate", [True, False])
def test_it_equals_a_recount(tmp_path: Path, gate: bool) -> None:
    """Hidden seconds times their value, less a call's price for each speculation that did not end as served."""
    events: list[Event] = []
    settings = ReplaySettings(sealed=False, gate=gate, cost=0.3, value_of_second=2.0)
    measured = replay(recorded(tmp_path, *GOOD, episode(SAID), episode(FALSE_START)), settings, sink=events.append)
    hidden = math.fsum(event.hidden_seconds for event in events if isinstance(event, SearchCallAnswered))
    ended = [event for event in events if isinstance(event, SpeculationEnded)]
    assert len(ended) == sum(isinstance(event, SpeculationStarted) for event in events) > 0
    unserved = sum(event.fate is not Fate.SERVED for event in ended)
    assert measured.net_value == pytest.approx(hidden * 2.0 - unserved * 0.3)


def test_the_gate_starts_what_pays_and_stops_what_does_not(tmp_path: Path) -> None:
    """Right guesses are started but for the first; wrong ones never are, and so cost nothing."""
    with_gate = ReplaySettings(sealed=False, gate=True)
    good = replay(recorded(tmp_path, *GOOD), with_gate)
    assert (good.speculations, good.accuracy) == (11, 1.0)
    bad = replay(recorded(tmp_path, *BAD), with_gate)
    assert (bad.speculations, bad.net_value) == (0, 0.0)
    assert replay(recorded(tmp_path, *BAD), ReplaySettings(sealed=False)).net_value == pytest.approx(-12 * 0.2)


def test_a_probability_of_one_guesses_nothing(tmp_path: Path) -> None:
    """The top of the grid of fixed thresholds is to start nothing."""
    measured = replay(recorded(tmp_path, *GOOD), ReplaySettings(sealed=False, min_probability=1.0))
    assert (measured.speculations, measured.net_value) == (0, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"cost": -0.1}, {"cost": math.inf}, {"value_of_second": math.nan}, {"min_probability": 1.1}]
)
def test_wrong_prices_are_refused(wrong: dict[str, float]) -> None:
    """A price below zero or without end is an error, not a figure."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ReplaySettings(**wrong)  # type: ignore[arg-type]
