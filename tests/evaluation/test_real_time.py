"""The real clock is a check on the virtual one: the same runs give the same counts, and nearly the same seconds."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from langgraph_prefetch.evaluation.measures import FileMeasures
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import read_recording
from langgraph_prefetch.events import Event, Fate, SpeculationEnded
from langgraph_prefetch.values import Source
from tests.evaluation.recordings import ANSWERED, FALSE_START, SAID, UNSAID, episode, write

# A busy machine must not change a count: what is late is late by 0.3 s, and tokens that come late only help the rest.
SETTINGS = ReplaySettings(tokens_per_second=40, latency_seconds=0.35)
RUNS = (episode(SAID, UNSAID, FALSE_START), episode(UNSAID, ANSWERED, style="tool_calls"))
COUNTS = (
    *("episodes", "steps", "search_calls", "coverage", "coverage_reasoning", "coverage_sealed", "coverage_reuse"),
    *("verbatim_ceiling", "accuracy", "timeliness", "amplification", "speculations", "false_starts", "wrong_answers"),
)


@dataclass(frozen=True, slots=True)
class Played:
    measured: FileMeasures
    fates: Counter[tuple[Source, Fate, str]]
    kinds: Counter[str]
    seconds: float


def played(runs: Path, settings: ReplaySettings, *, real_time: bool) -> Played:
    events: list[Event] = []
    began = time.monotonic()
    measured = replay(read_recording(runs), settings, sink=lambda event: events.append(event), real_time=real_time)
    seconds = time.monotonic() - began
    fates = Counter((e.source, e.fate, e.reason) for e in events if isinstance(e, SpeculationEnded))
    return Played(measured, fates, Counter(type(event).__name__ for event in events), seconds)


@pytest.mark.slow
@pytest.mark.parametrize("crowd", [False, True], ids=["alone", "a crowd"])
def test_both_clocks_count_the_same(tmp_path: Path, crowd: bool) -> None:
    """Every count, every fate and every kind of event; the seconds within a fifth, and really waited for."""
    runs = write(tmp_path / "runs.jsonl", RUNS[1:] if crowd else RUNS)
    settings = ReplaySettings(
        tokens_per_second=SETTINGS.tokens_per_second, latency_seconds=SETTINGS.latency_seconds, inject_collisions=crowd
    )
    virtual, real = (played(runs, settings, real_time=real) for real in (False, True))
    for name in COUNTS:
        assert getattr(real.measured, name) == getattr(virtual.measured, name), name
    assert real.fates == virtual.fates
    assert real.kinds == virtual.kinds
    assert virtual.measured.hidden_seconds > 0
    assert virtual.measured.coverage_sealed > 0
    # Each token may come a few milliseconds later than it should, which makes more time to hide in.
    assert real.measured.hidden_seconds == pytest.approx(virtual.measured.hidden_seconds, rel=0.2, abs=0.1)
    assert real.seconds > 2 * SETTINGS.latency_seconds
