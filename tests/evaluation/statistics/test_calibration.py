"""Calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.calibration import brier, expected_calibration_error, reliability_bins

pairs = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_a_worked_example() -> None:
    """0.9 and 0.8 came true, 0.3 did not: (0.01 + 0.04 + 0.09) / 3; bins of a tenth miss by 0.1, 0.2 and 0.3."""
    predicted, happened = [0.9, 0.8, 0.3], [True, True, False]
    assert brier(predicted, happened).value == pytest.approx(0.14 / 3)
    assert expected_calibration_error(predicted, happened).value == pytest.approx(0.6 / 3)
    assert [each.observed for each in reliability_bins(predicted, happened)] == [0.0, 1.0, 1.0]
    # In two bins the upper ones are one: 0.85 against 1.
    two = reliability_bins(predicted, happened, bins=2)
    assert [each.predicted for each in two] == pytest.approx([0.3, 0.85])
    assert [(each.observed, each.n) for each in two] == [(0.0, 1), (1.0, 2)]


def test_the_ends() -> None:
    """Perfect is 0, always wrong is 1, and never knowing is a quarter; a certainty lies in the last bin."""
    assert brier([1.0, 0.0], [True, False]).value == 0.0
    assert brier([1.0, 0.0], [False, True]).value == 1.0
    assert brier([0.5, 0.5], [False, True]).value == 0.25
    assert [each.predicted for each in reliability_bins([1.0, 0.0], [True, False])] == [0.0, 1.0]
    assert brier([], []).value is None
    assert expected_calibration_error([], []).value is None
    assert reliability_bins([], [], by="count") == ()


@settings(max_examples=100, deadline=None)
@given(pairs, st.integers(1, 12), st.sampled_from(["width", "count"]))
def test_bins_hold_everything_once(given_pairs: list[tuple[float, bool]], bins: int, by: str) -> None:
    """Every prediction lies in one bin, bins are in order and none is empty, equal predictions are together."""
    predicted, happened = [each for each, _ in given_pairs], [each for _, each in given_pairs]
    found = reliability_bins(predicted, happened, bins=bins, by=by)  # type: ignore[arg-type]
    assert sum(each.n for each in found) == len(predicted)
    assert sum(each.n * each.observed for each in found) == pytest.approx(sum(happened))
    assert sum(each.n * each.predicted for each in found) == pytest.approx(sum(predicted))
    assert [each.predicted for each in found] == sorted(each.predicted for each in found)
    assert len(found) <= bins
    for each in found:
        assert each.interval is not None
        assert each.interval.low - 1e-9 <= each.observed <= each.interval.high + 1e-9


def test_what_is_calibrated_and_what_is_not() -> None:
    """Of predictions that come true as often as they say the error is chance alone; too bold ones show."""
    chance = np.random.default_rng(4)
    predicted = chance.uniform(size=5_000)
    happened = chance.uniform(size=5_000) < predicted
    bold = np.where(predicted > 0.5, 0.95, 0.05)
    fair = expected_calibration_error(predicted.tolist(), happened.tolist(), by="count").value
    off = expected_calibration_error(bold.tolist(), happened.tolist()).value
    assert fair is not None
    assert off is not None
    assert fair < 0.03
    assert off == pytest.approx(0.2, abs=0.02)


def test_bad_input() -> None:
    """No probability, no outcome, no partner, no bin: each is named."""
    for predicted, happened, said in (
        ([1.2], [True], r"probabilities\[0\] is 1.2"),
        ([0.2], [2], r"happened\[0\] is 2"),
        ([0.2], [], "equal length"),
        ([float("nan")], [True], r"probabilities\[0\] is nan"),
    ):
        with pytest.raises(SampleError, match=said):
            brier(predicted, happened)  # type: ignore[arg-type]
    with pytest.raises(SampleError, match="bins"):
        reliability_bins([0.2], [True], bins=0)
