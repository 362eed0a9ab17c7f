"""Verified serving on recorded runs, from recordings to figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.evaluation.verified.figures import Tried
from langgraph_prefetch.evaluation.verified.private import PrivateCalls
from langgraph_prefetch.evaluation.verified.results import Near, Recorded, Results
from langgraph_prefetch.intent.cues import CueSet


class World(Protocol):
    """A corpus that the recorded searches are run against."""

    @property
    def results(self) -> Results:
        """What searches return."""
        ...

    def near(self, recording: Recording) -> Near:
        """The near misses of its calls."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedReplay:
    """What is to be replayed.

    Attributes:
        rules: when a private call may start. ``max_running`` bounds nothing here: one run is played at a time.
        world: what is searched; None: results are as recorded, and there are no near misses.
    """

    rules: NextCalls = field(default_factory=NextCalls)
    world: World | None = None


def check_measurable(recordings: Sequence[Recording], settings: ReplaySettings, verified: VerifiedReplay) -> None:
    """Whether there is anything to measure.

    Raises:
        ConfigurationError: callers at once, or no search call whose result is known.
    """
    if settings.inject_collisions:
        raise ConfigurationError("verified serving is measured on one run at a time: leave injected collisions out")
    if verified.world is None and not any(
        step.observation is not None and step.action in settings.tools
        for recording in recordings
        for episode in recording.episodes
        for step in episode.steps
    ):
        raise ConfigurationError(
            'no result of a search call was recorded ("observation"), so nothing can be compared: give --corpus'
        )


def replay_verified(
    recordings: Sequence[Recording],
    settings: ReplaySettings,
    verified: VerifiedReplay,
    *,
    cues: CueSet | None = None,
    on_episode: Callable[[], None] = lambda: None,
    real_time: bool = False,
) -> tuple[Tried, ...]:
    """Play every recording once more, with private model calls. Each file is one agent's traffic: its gate learns anew.

    Args:
        recordings: the runs.
        settings: the assumptions.
        verified: the rest.
        cues: the language of intent; the cues that come with the package if None.
        on_episode: called after each episode.
        real_time: as in :func:`~langgraph_prefetch.evaluation.replay.replay`.

    Returns:
        All search calls, in order.

    Raises:
        ConfigurationError: callers at once, or no search call whose result is known.
    """
    check_measurable(recordings, settings, verified)
    world = verified.world
    priced = verified.rules.token_price is not None
    tried: list[Tried] = []
    for recording in recordings:
        calls = PrivateCalls(
            file=recording.file,
            results=Recorded() if world is None else world.results,
            near=None if world is None else world.near(recording),
            rules=verified.rules,
            value_of_second=Price(money=settings.value_of_second) if priced else None,
            tokens_per_second=settings.tokens_per_second,
        )
        replay(recording, settings, cues=cues, on_episode=on_episode, real_time=real_time, ahead=calls)
        tried.extend(calls.tried)
    return tuple(tried)
