"""Sweeps: one replay for each value, of the same recording."""

from pathlib import Path

import pytest

from langgraph_prefetch.evaluation.readings.sweeps import sweep_looking, sweep_threshold
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import read_recording
from langgraph_prefetch.intent.cues import default_cues
from tests.evaluation.recordings import ANSWERED, FALSE_START, SAID, UNSAID, episode, finish, write

CUES = default_cues()
REASONING = ReplaySettings(sealed=False)


def test_a_higher_threshold_starts_less(tmp_path: Path) -> None:
    """Up to one that nothing reaches; waste is what served no call, by the search call."""
    path = write(tmp_path / "runs.jsonl", [episode(SAID, UNSAID, FALSE_START)])
    low, high = sweep_threshold(read_recording(path), REASONING, (0.7, 0.99), CUES)
    assert (low.at, high.at) == (0.7, 0.99)
    assert low.measured.coverage == 0.5
    assert low.measured.false_starts == 1
    assert low.waste == pytest.approx((low.measured.speculations - 1) / 2)
    assert (high.measured.speculations, high.waste, high.measured.coverage) == (0, 0, 0)


def test_waste_where_nothing_searches_is_by_the_step(tmp_path: Path) -> None:
    """A tool that is never called still has false starts."""
    path = write(tmp_path / "runs.jsonl", [episode(FALSE_START), episode(finish("That is all."))])
    (point,) = sweep_threshold(read_recording(path), REASONING, (0.7,), CUES)
    assert point.measured.search_calls == 0
    assert point.waste == pytest.approx(point.measured.speculations / 2)


def test_rarer_looks_hide_less(tmp_path: Path) -> None:
    """Every token first, and then ever less."""
    path = write(tmp_path / "runs.jsonl", [episode(SAID, ANSWERED)] * 5)
    points = sweep_looking(read_recording(path), REASONING, (0.0, 0.3, 1.5), CUES)
    hidden = [point.measured.hidden_seconds for point in points]
    assert hidden == sorted(hidden, reverse=True)
    assert hidden[0] > hidden[2]
    assert len({point.measured.speculations for point in points}) == 1
