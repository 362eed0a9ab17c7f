"""How well the queries are guessed, once a search is foretold."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_prefetch.evaluation.fit_reading import candidates
from langgraph_prefetch.evaluation.fit_scores import Scores, Tally, scores, tally
from langgraph_prefetch.evaluation.readings.forecasts import Heard
from langgraph_prefetch.evaluation.statistics.calibration import reliability_bins
from langgraph_prefetch.evaluation.statistics.values import ReliabilityBin
from langgraph_prefetch.intent.cues import CueSet


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryScores:
    """Guesses of one recording at the default settings, and the calibration of all its candidates.

    Attributes:
        counted: guesses, searches and what was right of them.
        scores: the figures.
        bins: P(this very query) against the share that was asked.
    """

    counted: Tally
    scores: Scores
    bins: tuple[ReliabilityBin, ...]


def score_queries(heard: Heard, cues: CueSet) -> QueryScores:
    """The figures of one recording."""
    found = [each for step in heard.steps for each in candidates(step, cues)]
    counted = tally((steps for _, steps in heard.runs), found, cues)
    return QueryScores(
        counted=counted,
        scores=scores(counted),
        bins=reliability_bins(
            [probability for probability, _ in counted.forecasts], [right for _, right in counted.forecasts]
        ),
    )
