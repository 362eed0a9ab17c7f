"""Places and rates, with a reserve for real calls: every branch, without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.speculation.lanes import (
    Lane,
    may_speculate,
    real_call_ended,
    real_call_started,
    refilled,
    speculation_ended,
    speculation_started,
)

UNLIMITED = ToolPolicy(name="search")
FOUR = ToolPolicy(name="search", max_concurrency=4, reserve=1)
TEN_A_SECOND = ToolPolicy(name="search", max_per_second=10)


def test_without_limits_all_may_run() -> None:
    """A tool that states no limit has none."""
    assert may_speculate(Lane(speculative=1_000, real=1_000), UNLIMITED)


@pytest.mark.parametrize(
    ("speculative", "real", "may"), [(2, 0, True), (3, 0, False), (2, 1, True), (2, 2, False), (0, 4, False)]
)
def test_a_reserve_stays_free_for_real_calls(speculative: int, real: int, may: bool) -> None:
    """Speculation leaves real calls their places, and one more where none runs."""
    assert may_speculate(Lane(speculative=speculative, real=real), FOUR) is may


def test_a_limit_of_one_is_for_real_calls() -> None:
    """A backend that takes one call at a time is not speculated on, unless the reserve is given up."""
    assert not may_speculate(Lane(), ToolPolicy(name="search", max_concurrency=1))
    assert may_speculate(Lane(), ToolPolicy(name="search", max_concurrency=1, reserve=0))


def test_speculation_leaves_half_the_rate() -> None:
    """Of ten calls a second at most five are guesses, and the rest is there for real calls at once."""
    lane, started = refilled(Lane(), TEN_A_SECOND, 0.0), 0
    while may_speculate(lane, TEN_A_SECOND):
        lane, started = speculation_started(lane), started + 1
    assert started == 5
    assert lane.tokens == 5
    assert may_speculate(refilled(lane, TEN_A_SECOND, 0.1), TEN_A_SECOND)


def test_real_calls_above_the_rate_run_up_no_debt() -> None:
    """After a burst of real calls speculation comes back as soon as the backend has recovered."""
    lane = refilled(Lane(), TEN_A_SECOND, 0.0)
    for _ in range(1_000):
        lane = real_call_ended(real_call_started(lane))
    assert not may_speculate(lane, TEN_A_SECOND)
    assert may_speculate(refilled(lane, TEN_A_SECOND, 0.6), TEN_A_SECOND)


def test_no_more_than_a_second_is_saved_up() -> None:
    """An hour of silence does not allow an hour's worth of calls."""
    assert refilled(refilled(Lane(), TEN_A_SECOND, 0.0), TEN_A_SECOND, 3_600.0).tokens == 10


def test_a_slow_rate_still_allows_a_call() -> None:
    """One call in ten seconds is a rate as well."""
    slow = ToolPolicy(name="search", max_per_second=0.1)
    lane = refilled(Lane(), slow, 0.0)
    assert lane.tokens == 1.0
    assert refilled(real_call_started(lane), slow, 10.0).tokens == pytest.approx(1.0)


@given(st.lists(st.sampled_from("sSrRt"), max_size=80), st.integers(1, 6), st.integers(0, 3))
def test_whatever_happens_the_limit_holds(moves: list[str], most: int, reserve: int) -> None:
    """Speculations never take a place that a running real call or the reserve needs at the moment they start."""
    policy = ToolPolicy(name="search", max_concurrency=most, reserve=reserve, max_per_second=5)
    lane, now = refilled(Lane(), policy, 0.0), 0.0
    for move in moves:
        lane = refilled(lane, policy, now)
        if move == "s" and may_speculate(lane, policy):
            lane = speculation_started(lane)
            assert lane.speculative <= most - max(reserve, lane.real)
        elif move == "S" and lane.speculative:
            lane = speculation_ended(lane)
        elif move == "r":
            lane = real_call_started(lane)
        elif move == "R" and lane.real:
            lane = real_call_ended(lane)
        else:
            now += 0.3
        assert 0 <= lane.tokens <= 5
