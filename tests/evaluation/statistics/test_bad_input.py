"""What is no number never reaches a mean, and the message says where it was."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from langgraph_prefetch.errors import ConfigurationError, SampleError
from langgraph_prefetch.evaluation.statistics import describe, equivalence, groups, paired, ratios, shifts, two_samples

ONE: dict[str, Callable[[Sequence[float]], Any]] = {
    "mean": describe.mean,
    "median": describe.median,
    "p95": describe.p95,
    "kruskal_wallis": lambda values: groups.kruskal_wallis({"a": values, "b": [1.0]}),
    "dunn": lambda values: groups.dunn({"a": values, "b": [1.0]}),
}
TWO: dict[str, Callable[[Sequence[float], Sequence[float]], Any]] = {
    "geometric_mean_ratio": ratios.geometric_mean_ratio,
    "median_ratio": ratios.median_ratio,
    "ratio_between": ratios.ratio_between,
    "hodges_lehmann": shifts.hodges_lehmann,
    "paired_shift": shifts.paired_shift,
    "mann_whitney": two_samples.mann_whitney,
    "cliffs_delta": two_samples.cliffs_delta,
    "paired_permutation": paired.paired_permutation,
    "wilcoxon": paired.wilcoxon,
    "tost_paired": lambda first, second: equivalence.tost_paired(first, second, 0.1),
    "tost_unpaired": lambda first, second: equivalence.tost_unpaired(first, second, 0.1),
}
PAIRED = ("geometric_mean_ratio", "median_ratio", "paired_shift", "paired_permutation", "wilcoxon", "tost_paired")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "fast"], ids=repr)
@pytest.mark.parametrize("name", ONE)
def test_one_sample(name: str, bad: Any) -> None:
    """The value is refused by its place."""
    with pytest.raises(SampleError, match=r"(values|a)\[1\] is"):
        ONE[name]([1.0, bad, 2.0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, None], ids=repr)
@pytest.mark.parametrize("name", TWO)
def test_two_samples(name: str, bad: Any) -> None:
    """So it is in either of two."""
    with pytest.raises(SampleError, match=r"first\[1\] is"):
        TWO[name]([1.0, bad, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(SampleError, match=r"second\[2\] is"):
        TWO[name]([1.0, 2.0, 3.0], [1.0, 2.0, bad])


@pytest.mark.parametrize("name", PAIRED)
def test_pairs_of_unequal_length(name: str) -> None:
    """What has no partner is not dropped silently."""
    with pytest.raises(SampleError, match="not 2 and 3"):
        TWO[name]([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", [name for name in TWO if "ratio" in name])
def test_ratios_need_numbers_above_zero(name: str) -> None:
    """A time of nothing has no ratio."""
    with pytest.raises(SampleError, match=r"first\[1\] is 0.0: a ratio needs"):
        TWO[name]([1.0, 0.0], [1.0, 2.0])


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], [1e-300, 1e-300], [1e300, 1e300]], ids=str)
def test_no_result_holds_a_nan(name: str, values: list[float]) -> None:
    """Whatever is degenerate: a number or None with its note, no NaN, no warning."""
    found = TWO[name](values, values)
    assert "nan" not in repr(found).replace("finance", "")
    if not values:
        assert "no observations" in repr(found)


def test_arrays_are_sequences_too() -> None:
    """NumPy's arrays and numbers are taken as they are."""
    arrays: tuple[Any, ...] = (np.array([1.0, 2.0]), [np.float32(1), np.int64(2)])
    for each in arrays:
        assert describe.mean(each).value == 1.5


def test_levels_are_shares() -> None:
    """95 is no level."""
    for of in (describe.mean, describe.median):
        with pytest.raises(ConfigurationError, match=r"level lies between 0 and 1, such as 0.95, not 95"):
            of([1.0, 2.0], level=95)
