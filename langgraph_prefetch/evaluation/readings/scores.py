"""Precision, recall and calibration of P(search)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.readings.forecasts import Forecast
from langgraph_prefetch.evaluation.statistics.calibration import brier, expected_calibration_error, reliability_bins
from langgraph_prefetch.evaluation.statistics.proportions import proportion
from langgraph_prefetch.evaluation.statistics.values import Estimate, ReliabilityBin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingScores:
    """How well the thoughts of one group were read.

    Attributes:
        thoughts: steps read; ``searches`` of them made a search call.
        said: thoughts with a directive, of whatever P(search).
        fired: thoughts whose P(search) reached the threshold.
        precision: searches among the fired.
        recall: fired among the searches.
        brier: mean squared error of P(search).
        brier_of_base_rate: of a forecast that always says the share of searches: what knows nothing of a thought.
        calibration_error: mean distance of P(search) from what came true, over ten bins of equal width.
        calibration_error_said: the same over thoughts with a directive alone.
        bins: for a reliability plot.
    """

    thoughts: int
    searches: int
    said: int
    fired: int
    precision: Estimate
    recall: Estimate
    brier: Estimate
    brier_of_base_rate: float
    calibration_error: Estimate
    calibration_error_said: Estimate
    bins: tuple[ReliabilityBin, ...]


def by_group(found: Iterable[Forecast]) -> dict[str, list[Forecast]]:
    """Forecasts by file, model and language, in the order in which these come."""
    groups: defaultdict[str, list[Forecast]] = defaultdict(list)
    for each in found:
        groups[each.group].append(each)
    return dict(groups)


def score(found: Sequence[Forecast], threshold: float, *, seed: int = 0, resamples: int = 1_999) -> ReadingScores:
    """The figures of one group.

    Args:
        found: at least one forecast.
        threshold: P(search) from which a thought counts as announcing a search.
        seed: of the bootstrap.
        resamples: of the bootstrap.
    """
    probabilities = [each.probability for each in found]
    searched = [each.searched for each in found]
    said = [each for each in found if each.probability > 0]
    fired = [each for each in found if each.probability >= threshold]
    right = sum(each.searched for each in fired)
    searches = sum(searched)
    base = searches / len(found) if found else 0.0
    return ReadingScores(
        thoughts=len(found),
        searches=searches,
        said=len(said),
        fired=len(fired),
        precision=proportion(right, len(fired)),
        recall=proportion(right, searches),
        brier=brier(probabilities, searched, seed=seed, resamples=resamples),
        brier_of_base_rate=base * (1 - base),
        calibration_error=expected_calibration_error(probabilities, searched),
        calibration_error_said=expected_calibration_error(
            [each.probability for each in said], [each.searched for each in said]
        ),
        bins=reliability_bins(probabilities, searched),
    )
