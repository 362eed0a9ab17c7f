"""What the ``intent`` suite measures, before it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.evaluation.readings.elsewhere import weighed_elsewhere
from langgraph_prefetch.evaluation.readings.forecasts import Forecast, Heard, forecasts, hear
from langgraph_prefetch.evaluation.readings.queries import QueryScores, score_queries
from langgraph_prefetch.evaluation.readings.scores import ReadingScores, by_group, score
from langgraph_prefetch.evaluation.readings.sweeps import Point, sweep_looking, sweep_threshold
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.reader import IntentSettings as ReaderSettings
from langgraph_prefetch.suites.contract import SuiteContext

_SWEEP = ("thresholds", "look_every_seconds")
_REPLAY = ("tokens_per_second", "latency_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSettings:
    """Of the suite.

    Attributes:
        threshold: P(search) from which a thought counts as announcing a search.
        thresholds, look_every_seconds: what is swept.
        replay: what the replays assume; reasoning alone, since sealed calls need no foretelling.
        seed: of the bootstrap.
    """

    threshold: float
    thresholds: tuple[float, ...]
    look_every_seconds: tuple[float, ...]
    replay: ReplaySettings
    seed: int

    @property
    def replays(self) -> int:
        """Of each recording."""
        return len(self.thresholds) + len(self.look_every_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All figures. Recordings are named by their files, groups by file, model and language.

    Attributes:
        forecasts: one for each thought.
        groups: scores of each group.
        elsewhere: of a file, its scores as shipped and with weights fitted to the other files; files that have no
            other of their language are left out.
        queries: guessed queries of each file.
        thresholds, looks: the sweeps of each file.
        skipped: malformed lines of each file that has some.
    """

    forecasts: tuple[Forecast, ...]
    groups: Mapping[str, ReadingScores]
    elsewhere: Mapping[str, tuple[ReadingScores, ReadingScores]]
    queries: Mapping[str, QueryScores]
    thresholds: Mapping[str, tuple[Point, ...]]
    looks: Mapping[str, tuple[Point, ...]]
    skipped: Mapping[str, int]


def settings_of(context: SuiteContext) -> IntentSettings:
    """The settings of the suite's file, checked.

    Raises:
        ConfigurationError: an unknown name, an empty sweep, or a value that makes no sense.
    """
    sweep, assumed = _table(context.settings, "sweep", _SWEEP), _table(context.settings, "replay", _REPLAY)
    threshold = context.settings.get("threshold", ReaderSettings().threshold)
    found = IntentSettings(
        threshold=_numbers("threshold", [threshold], 1.0)[0],
        thresholds=_numbers("sweep.thresholds", sweep.get("thresholds"), 1.0),
        look_every_seconds=_numbers("sweep.look_every_seconds", sweep.get("look_every_seconds"), 3_600.0),
        replay=ReplaySettings(tools=tuple(context.tools), sealed=False, threshold=threshold, **assumed),
        seed=context.seed,
    )
    if found.look_every_seconds[0]:
        raise ConfigurationError("sweep.look_every_seconds must begin with 0, every token, to compare the others with")
    return found


def measure(recordings: Sequence[Recording], settings: IntentSettings, say: Callable[[str], None]) -> Measured:
    """Read and replay all recordings. ``say`` takes a line for the person who waits."""
    cues = default_cues()
    heard = hear(recordings, settings.replay.tools)
    found = {each.file: tuple(forecasts(each, cues, settings.threshold)) for each in heard}
    say(f"{sum(map(len, found.values())):,} thoughts read")
    everything = tuple(each for held in found.values() for each in held)
    elsewhere = _elsewhere(heard, found, cues, settings)
    say("weights fitted to the other files")
    thresholds: dict[str, tuple[Point, ...]] = {}
    looks: dict[str, tuple[Point, ...]] = {}
    for each, recording in zip(heard, recordings, strict=True):
        thresholds[each.file] = sweep_threshold(recording, settings.replay, settings.thresholds, cues)
        looks[each.file] = sweep_looking(recording, settings.replay, settings.look_every_seconds, cues)
        say(f"{each.file}: replayed {settings.replays} times")
    return Measured(
        forecasts=everything,
        groups={name: _score(held, settings) for name, held in by_group(everything).items()},
        elsewhere=elsewhere,
        queries={each.file: score_queries(each, cues) for each in heard},
        thresholds=thresholds,
        looks=looks,
        skipped={
            each.file: len(recording.malformed)
            for each, recording in zip(heard, recordings, strict=True)
            if recording.malformed
        },
    )


def _elsewhere(
    heard: Sequence[Heard], found: Mapping[str, Sequence[Forecast]], cues: CueSet, settings: IntentSettings
) -> dict[str, tuple[ReadingScores, ReadingScores]]:
    fitted = weighed_elsewhere(heard, cues)
    scores: dict[str, tuple[ReadingScores, ReadingScores]] = {}
    for each in heard:
        if (own := fitted[each.file]) is not None:
            scores[each.file] = (
                _score(found[each.file], settings),
                _score(tuple(forecasts(each, own, settings.threshold)), settings),
            )
    return scores


def _score(found: Sequence[Forecast], settings: IntentSettings) -> ReadingScores:
    return score(found, settings.threshold, seed=settings.seed)


def _table(settings: Mapping[str, Any], name: str, known: Iterable[str]) -> Mapping[str, Any]:
    table, known = settings.get(name), tuple(known)
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"the suite's file needs a table [{name}] with {', '.join(known)}")
    for key in table:
        if key not in known:
            raise ConfigurationError(
                f"{name}.{key} is not known; there are: {', '.join(known)}.{did_you_mean(key, known)}"
            )
    return table


def _numbers(name: str, values: Any, most: float) -> tuple[float, ...]:
    if not isinstance(values, list) or not values:
        raise ConfigurationError(f"{name} must be a list of at least one number, not {values!r}")
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each <= most:
            raise ConfigurationError(f"{name} must be from 0 to {most:g}, not {each!r}")
    return tuple(sorted(map(float, values)))
