"""What the threshold and the polling interval do, by replay on virtual time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.measures import FileMeasures
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.intent.cues import CueSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One replay of one recording; ``at`` is the value of what is swept."""

    at: float
    measured: FileMeasures

    @property
    def waste(self) -> float:
        """Speculations that served no call, for each search call; for each step where there are no search calls."""
        served = round(self.measured.accuracy * self.measured.speculations)
        return (self.measured.speculations - served) / max(1, self.measured.search_calls or self.measured.steps)


def sweep_threshold(
    recording: Recording, settings: ReplaySettings, thresholds: Sequence[float], cues: CueSet
) -> tuple[Point, ...]:
    """One replay for each threshold."""
    return tuple(_point(recording, dataclasses.replace(settings, threshold=each), each, cues) for each in thresholds)


def sweep_looking(
    recording: Recording, settings: ReplaySettings, intervals: Sequence[float], cues: CueSet
) -> tuple[Point, ...]:
    """One replay for each interval in seconds, 0 for every token.

    What could be hidden depends on what has been read, so hidden seconds are to be compared with one another, and not
    with the hideable seconds of their own replay.
    """
    return tuple(
        _point(recording, dataclasses.replace(settings, look_every_seconds=each), each, cues) for each in intervals
    )


def _point(recording: Recording, settings: ReplaySettings, at: float, cues: CueSet) -> Point:
    measured = replay(recording, settings, cues=cues)
    return Point(at=at, measured=measured)
