"""How good guesses are: precision, recall and calibration, over steps that the cues were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from langgraph_prefetch.evaluation.fit_reading import Candidate, Spoken, guesses
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.intent.likelihood import rates_of

BINS = 10


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts that add up over folds.

    ``forecasts`` are (probability, right) of every candidate, of the same ones for every cue set, or calibrations could
    not be compared: cues that guess less would look better for that alone.
    """

    guesses: int = 0
    right: int = 0
    searches: int = 0
    found: int = 0
    forecasts: tuple[tuple[float, bool], ...] = ()

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.guesses + other.guesses,
            self.right + other.right,
            self.searches + other.searches,
            self.found + other.found,
            self.forecasts + other.forecasts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Figures of one cue set.

    Attributes:
        precision: guesses that this or a later step of the run asks / guesses, at the default settings.
        recall: search calls whose query this or an earlier step had guessed / search calls.
        brier: mean squared error of the candidates' probabilities (Brier, 1950); lower is better.
        calibration_error: mean distance of a bin's mean probability from the share that was right, over ten equal
            bins, weighted by their candidates (Naeini and others, 2015); lower is better.
        log_loss: mean surprise of the outcomes, in nats; lower is better.
    """

    precision: float
    recall: float
    brier: float
    calibration_error: float
    log_loss: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_json(self) -> dict[str, Any]:
        """A JSON object, rounded to a millionth."""
        return {name: round(value, 6) for name, value in asdict(self).items()}


def tally(runs: Iterable[Sequence[Spoken]], found: Iterable[Candidate], cues: CueSet) -> Tally:
    """Count over whole runs: a query guessed in one step may be asked in a later one. ``found`` gives the forecasts."""
    rates = rates_of(cues)
    total = Tally(forecasts=tuple((rates.get(each.row, 0.0), each.right) for each in found))
    for run in runs:
        guessed: set[str] = set()
        made = right = searches = asked = 0
        for step in run:
            own = [guess.query for guess in guesses(step, cues)]
            guessed.update(own)
            made += len(own)
            right += sum(query in step.later for query in own)
            if step.query is not None:
                searches += 1
                asked += step.query in guessed
        total += Tally(made, right, searches, asked)
    return total


def scores(counted: Tally) -> Scores:
    """The figures. A share of nothing is 0."""
    count = max(1, len(counted.forecasts))
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for forecast in counted.forecasts:
        bins[min(BINS - 1, int(forecast[0] * BINS))].append(forecast)
    return Scores(
        precision=counted.right / max(1, counted.guesses),
        recall=counted.found / max(1, counted.searches),
        brier=math.fsum((p - right) ** 2 for p, right in counted.forecasts) / count,
        calibration_error=math.fsum(abs(math.fsum(p - right for p, right in held)) for held in bins) / count,
        log_loss=math.fsum(_surprise(p, right) for p, right in counted.forecasts) / count,
    )


def _surprise(p: float, right: bool) -> float:
    return -math.log(max(1e-3, p if right else 1 - p))
