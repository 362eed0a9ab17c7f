"""Shares and splits."""

import pytest
from scipy import stats

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.proportions import difference_of_proportions, proportion, sample_ratio


@pytest.mark.parametrize(
    ("successes", "n", "wilson", "exact"),
    [
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_newcombes_examples(successes: int, n: int, wilson: tuple[float, float], exact: tuple[float, float]) -> None:
    """Newcombe, *Two-sided confidence intervals for the single proportion*, Statistics in Medicine 17 (1998)."""
    by_wilson, by_counting = proportion(successes, n), proportion(successes, n, method="clopper-pearson")
    assert by_wilson.value == successes / n
    assert by_wilson.interval is not None
    assert (by_wilson.interval.low, by_wilson.interval.high) == pytest.approx(wilson, abs=6e-5)
    assert by_counting.interval is not None
    assert (by_counting.interval.low, by_counting.interval.high) == pytest.approx(exact, abs=6e-5)


def test_clopper_pearson_covers_at_every_rate() -> None:
    """At least the level, whatever the true share: summed over all outcomes of 15 trials."""
    intervals = [proportion(k, 15, method="clopper-pearson").interval for k in range(16)]
    for step in range(1, 100):
        rate = step / 100
        inside = [k for k, each in enumerate(intervals) if each is not None and each.low <= rate <= each.high]
        assert sum(stats.binom.pmf(inside, 15, rate)) >= 0.95


def test_newcombes_difference() -> None:
    """Newcombe (1998), *Interval estimation for the difference*, table II, example (a): 56/70 less 48/80."""
    found = difference_of_proportions(48, 80, 56, 70)
    assert found.value == pytest.approx(0.2)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.0524, 0.3339), abs=6e-5)


def test_mendels_peas() -> None:
    """315, 108, 101 and 32 against 9 : 3 : 3 : 1: chi-square 0.470 with three degrees, p = 0.925."""
    counts = {"round yellow": 315, "round green": 108, "wrinkled yellow": 101, "wrinkled green": 32}
    found = sample_ratio(counts, dict(zip(counts, (9, 3, 3, 1), strict=True)))
    assert found.statistic == pytest.approx(0.470, abs=5e-4)
    assert found.p_value == pytest.approx(0.925, abs=5e-4)
    assert found.note == ""


def test_a_split_that_lost_runs() -> None:
    """A twentieth of one arm lost in 20,000 shows; the order of names does not matter; few runs are called rough."""
    found = sample_ratio({"b": 9_500, "a": 10_000}, {"a": 1, "b": 1})
    assert found.p_value is not None
    assert found.p_value < 0.001
    assert "rough" in sample_ratio({"a": 3, "b": 1}, {"a": 1, "b": 1}).note
    assert sample_ratio({"a": 0, "b": 0}, {"a": 1, "b": 1}).p_value is None


def test_bad_counts_and_weights() -> None:
    """Wrong input is named."""
    for successes, n in ((2, 1), (-1, 4), (1.5, 4), (True, 4)):
        with pytest.raises(SampleError):
            proportion(successes, n)  # type: ignore[arg-type]
    assert proportion(0, 0).note == "no observations"
    assert difference_of_proportions(0, 0, 1, 2).value is None
    for counts, weights in (({"a": 1}, {"a": 1.0}), ({"a": 1, "b": 2}, {"a": 1.0, "c": 1.0})):
        with pytest.raises(SampleError, match="same two arms"):
            sample_ratio(counts, weights)
    with pytest.raises(SampleError, match="weight of 'b'"):
        sample_ratio({"a": 1, "b": 2}, {"a": 1.0, "b": 0.0})
