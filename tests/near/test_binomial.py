"""Exact tails and bounds, compared with SciPy's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.near.binomial import at_most, interval, least_trials, upper_bound

rates = st.floats(0.0005, 0.9995)


@settings(deadline=None)
@given(trials=st.integers(1, 5_000), share=st.floats(0, 1), rate=rates)
def test_the_tail_is_exact(trials: int, share: float, rate: float) -> None:
    errors = int(share * min(trials, 400))
    assert at_most(errors, trials, rate) == pytest.approx(float(stats.binom.cdf(errors, trials, rate)), abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(trials=st.integers(1, 3_000), share=st.floats(0, 1), confidence=st.floats(0.5, 0.999))
def test_the_bounds_are_those_of_clopper_and_pearson(trials: int, share: float, confidence: float) -> None:
    errors = int(share * min(trials, 300))
    wanted = stats.binomtest(errors, trials).proportion_ci(confidence, method="exact")
    found = interval(errors, trials, confidence)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-8)
    one_sided = stats.binomtest(errors, trials, alternative="less").proportion_ci(confidence, method="exact")
    assert upper_bound(errors, trials, confidence) == pytest.approx(one_sided.high, abs=1e-8)


def test_nothing_seen_is_nothing_known() -> None:
    assert (interval(0, 0).low, interval(0, 0).high) == (0.0, 1.0)
    assert upper_bound(0, 0, 0.9) == 1.0
    assert at_most(-1, 5, 0.1) == 0.0


@pytest.mark.parametrize(("rate", "confidence"), [(0.01, 0.95), (0.01, 0.9), (0.02, 0.9), (0.3, 0.99)])
def test_the_least_sample_is_just_enough(rate: float, confidence: float) -> None:
    """One call fewer, all of them right, would not do."""
    enough = least_trials(rate, confidence)
    assert at_most(0, enough, rate) <= 1 - confidence < at_most(0, enough - 1, rate)
