"""The report of an experiment: no difference is not found, a planted one is, and what spoils a comparison is said."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.ab.compare import by_key, compare, ratios_to
from langgraph_prefetch.evaluation.statistics.power import runs_for_change
from langgraph_prefetch.observe.variants import VariantRun
from tests.evaluation.ab.rigs import EVEN, drawn, run

TIMES = 600


def found_in(times: int, seed: int, make: Callable[[np.random.Generator], list[VariantRun]]) -> int:
    """In how many of so many experiments the corrected p-value of the ratio is below 0.05."""
    chance = np.random.default_rng(seed)
    found = 0
    for _ in range(times):
        runs = make(chance)
        of = {v: by_key(v, [each for each in runs if each.variant == v], lambda each: each.seconds) for v in EVEN}
        (comparison,) = ratios_to("a", {variant: tuple(values.values()) for variant, values in of.items()})
        assert comparison.adjusted_p is not None
        found += comparison.adjusted_p < 0.05
    return found


def at_most(share: float, times: int) -> int:
    """As many as chance lets be found, one time in a thousand, of a true share."""
    return int(stats.binom.ppf(0.999, times, share))


def test_an_a_a_test_finds_nothing() -> None:
    """Two equal variants: at most 5 % false positives, within what chance allows so many experiments."""
    assert found_in(TIMES, 11, lambda chance: drawn(chance, 60)) <= at_most(0.05, TIMES)


def test_an_a_a_test_of_busy_keys_finds_nothing() -> None:
    """Keys with many runs and a pace of their own: runs counted one by one would find a difference half the time."""

    def busy(chance: np.random.Generator) -> list[VariantRun]:
        return drawn(chance, 15, runs_of_key=12, between_keys=0.5)

    assert found_in(150, 12, busy) <= at_most(0.05, 150)
    chance = np.random.default_rng(12)
    naive = 0
    for _ in range(150):
        runs = busy(chance)
        a, b = ([np.log(each.seconds) for each in runs if each.variant == variant] for variant in EVEN)
        naive += stats.ttest_ind(a, b).pvalue < 0.05
    assert naive > 45


def test_a_planted_change_is_found_at_the_stated_size() -> None:
    """10 % slower, at the size that is said to find it four times out of five: it does."""
    n = runs_for_change(0.1, 0.3, power=0.8)
    found = found_in(300, 13, lambda chance: drawn(chance, n, change=0.1))
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, 0.8)
    assert low <= found <= high


def test_the_figures_of_each_variant() -> None:
    """Seconds over runs, ratio over keys; the effect is the second's against the baseline's."""
    runs = [run("a", 2.0, "u1"), run("a", 8.0, "u1", 1), run("a", 4.0, "u2"), run("b", 2.0, "u3"), run("b", 2.0, "u4")]
    report = compare(runs, EVEN, experiment="x")
    a, b = report.variants
    assert (a.runs, a.units, a.median.value) == (3, 2, 4.0)
    assert a.mean.value == pytest.approx(14 / 3)
    assert (b.runs, b.units, b.served_share) == (2, 2, None)
    (pair,) = report.comparisons
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.result.effect is not None
    # The keys of a take 4 s each: the geometric mean of 2 and 8, and 4.
    assert pair.result.effect.value == pytest.approx(0.5)
    assert pair.result.note == "neither sample shows any spread"
    assert pair.adjusted_p is None


def test_three_variants_are_corrected() -> None:
    """Two comparisons, two chances to be lucky: Holm's correction, in the order of the weights."""
    chance = np.random.default_rng(3)
    paces = {"c": 1.2, "a": 1.0, "b": 1.0}
    runs = [run(v, pace * chance.lognormal(0, 0.2), f"{v}{n}") for v, pace in paces.items() for n in range(50)]
    report = compare(runs, {"a": 1, "b": 1, "c": 1}, experiment="x", baseline="b")
    assert [each.second for each in report.comparisons] == ["a", "c"]
    raw = [each.result.p_value for each in report.comparisons]
    assert report.comparisons[1].adjusted_p == pytest.approx(2 * (raw[1] or 0))
    assert report.comparisons[0].adjusted_p == pytest.approx(raw[0])
    assert report.warnings == ()
    assert [each.name for each in report.tendencies] == ["Mann-Whitney U"] * 2


def test_a_split_that_is_not_as_dealt() -> None:
    """Keys missing from one arm: the comparison is there, and the first thing said is not to believe it."""
    chance = np.random.default_rng(4)
    runs = [each for each in drawn(chance, 1_000) if each.variant == "a" or chance.uniform() < 0.8]
    report = compare(runs, EVEN, experiment="x", resamples=99)
    assert report.split.p_value is not None
    assert report.split.p_value < 0.001
    assert "did not fall as the weights say" in report.warnings[0]
    assert not compare(drawn(chance, 1_000), EVEN, experiment="x", resamples=99).warnings


def test_runs_without_a_key_are_counted_and_not_compared() -> None:
    """They were not dealt out: all of them have the default."""
    runs = [*drawn(np.random.default_rng(5), 20), *(run("a", 99.0, None, number) for number in range(7))]
    report = compare(runs, EVEN, experiment="x")
    assert report.variants[0].unkeyed == 7
    assert report.variants[0].mean.value is not None
    assert report.variants[0].mean.value < 20
    assert "7 runs had no key" in report.warnings[0]


def test_nothing_yet() -> None:
    """Before the first run: no figures, no error, and the reason."""
    report = compare([], EVEN, experiment="x")
    assert [each.mean.value for each in report.variants] == [None, None]
    assert report.comparisons[0].adjusted_p is None
    assert report.warnings == ("'a' has no runs with a key", "'b' has no runs with a key")


def test_another_measure() -> None:
    """Anything above zero may be compared."""
    runs = drawn(np.random.default_rng(6), 30)
    report = compare(runs, EVEN, experiment="x", measure=lambda each: each.seconds * 1_000, measure_name="ms")
    assert report.measure == "ms"
    with pytest.raises(SampleError, match="measures 0"):
        compare(runs, EVEN, experiment="x", measure=lambda each: each.hidden_seconds)


def test_wrong_weights() -> None:
    """Weights that these runs were not dealt by would make every split a mismatch."""
    runs = [run("c", 1.0, "u")]
    with pytest.raises(SampleError, match="a run of 'c'"):
        compare(runs, EVEN, experiment="x")
    with pytest.raises(SampleError, match="two variants"):
        compare(runs, {"c": 1}, experiment="x")
    with pytest.raises(SampleError, match="baseline 'd'"):
        compare(runs, {"c": 1, "a": 1}, experiment="x", baseline="d")
