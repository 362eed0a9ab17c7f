"""The adaptive limit: a pure state that is told what happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.gateway import AdaptiveLimit, LimitRule, Verdict


def busy(limit: AdaptiveLimit) -> int:
    """Fill all places; returns how many there were."""
    taken = 0
    while limit.ask(waiting=0) is Verdict.GO:
        limit.began()
        taken += 1
    return taken


def rounds(limit: AdaptiveLimit, count: int, seconds: float, *, failed: bool = False) -> None:
    """So many rounds of as many calls as there are places, each as long."""
    for _ in range(count):
        for _ in range(busy(limit)):
            limit.ended(seconds, failed=failed)


def test_it_grows_while_calls_take_no_longer() -> None:
    """Up to its upper bound."""
    limit = AdaptiveLimit(LimitRule(initial=4, most=64))
    rounds(limit, 40, 0.1)
    assert limit.limit == 64


def test_it_shrinks_when_calls_take_longer() -> None:
    """Calls four times as long as usual mean a queue inside the component."""
    limit = AdaptiveLimit(LimitRule(initial=32, most=64))
    rounds(limit, 20, 0.1)
    before = limit.limit
    rounds(limit, 2, 0.4)
    assert limit.limit < before


def test_it_settles_near_what_a_component_with_a_queue_can_bear() -> None:
    """A server of eight at once, whose calls wait for each other beyond: the limit neither starves nor floods it."""
    limit = AdaptiveLimit(LimitRule(initial=16, most=512))
    seen = []
    for _ in range(200):
        taken = busy(limit)
        for _ in range(taken):
            limit.ended(0.1 * max(1.0, taken / 8))
        seen.append(limit.limit)
    assert 8 <= sum(seen[100:]) / 100 <= 64


def test_failures_shrink_it_at_once_and_never_below_its_least() -> None:
    """Additive increase, multiplicative decrease."""
    limit = AdaptiveLimit(LimitRule(initial=16, least=2))
    limit.began()
    limit.ended(None, failed=True)
    assert limit.limit == 14
    rounds(limit, 50, 0.1, failed=True)
    assert limit.limit == 2


def test_a_limit_that_nobody_comes_near_does_not_grow() -> None:
    """One call at a time says nothing of sixteen."""
    limit = AdaptiveLimit(LimitRule(initial=16))
    for _ in range(100):
        limit.began()
        limit.ended(0.1)
    assert limit.limit == 16


def test_early_calls_get_what_is_left_and_never_wait() -> None:
    """Half of the places by default, and none while demand waits."""
    limit = AdaptiveLimit(LimitRule.fixed(4))
    assert limit.ask(waiting=0, speculative=True) is Verdict.GO
    assert limit.ask(waiting=1, speculative=True) is Verdict.REFUSE
    limit.began()
    limit.began()
    assert limit.ask(waiting=0, speculative=True) is Verdict.REFUSE
    assert limit.ask(waiting=0) is Verdict.GO


def test_so_many_wait_and_no_more() -> None:
    """Demand beyond the limit waits, up to ``max_waiting``."""
    limit = AdaptiveLimit(LimitRule(initial=1, least=1, most=1, max_waiting=2))
    limit.began()
    assert [limit.ask(waiting=waiting) for waiting in range(3)] == [Verdict.WAIT, Verdict.WAIT, Verdict.REFUSE]


@given(st.lists(st.tuples(st.sampled_from(["begin", "end", "fail"]), st.floats())))
def test_whatever_happens_it_keeps_its_bounds(steps: list[tuple[str, float]]) -> None:
    """Jumps of the clock (times of 0 and less, not numbers) are no times of calls."""
    limit = AdaptiveLimit(LimitRule(initial=8, least=2, most=32))
    for kind, seconds in steps:
        if kind == "begin" or not limit.in_flight:
            limit.began()
        else:
            limit.ended(seconds, failed=kind == "fail")
        assert 2 <= limit.limit <= 32
        assert limit.in_flight >= 0


@pytest.mark.parametrize(
    "values", [{"least": 0}, {"initial": 600}, {"tolerance": 0.5}, {"speculative_share": 2.0}, {"wait_seconds": -1.0}]
)
def test_a_rule_that_is_none_is_refused(values: dict[str, float]) -> None:
    """The message says what a limit needs."""
    with pytest.raises(ConfigurationError):
        LimitRule(**values)  # type: ignore[arg-type]


def test_a_component_that_has_become_slower_is_measured_anew() -> None:
    """The limit falls, finds what is usual now, and grows again."""
    limit = AdaptiveLimit(LimitRule(initial=16, most=64))
    rounds(limit, 20, 0.1)
    rounds(limit, 40, 1.0)
    lowest = limit.limit
    rounds(limit, 400, 1.0)
    assert lowest < 16 < limit.limit


def test_one_stall_is_one_step() -> None:
    """All that were under way took long, and none of those after them: the limit is not thrown down for it."""
    limit = AdaptiveLimit(LimitRule(initial=64, most=64))
    rounds(limit, 10, 0.1)
    rounds(limit, 1, 2.0)
    assert limit.limit >= 32
    rounds(limit, 10, 0.1)
    assert limit.limit == 64


def test_one_outage_is_one_step() -> None:
    """Fifty calls that fail together shrink it once."""
    limit = AdaptiveLimit(LimitRule(initial=64, most=64))
    rounds(limit, 1, 0.1, failed=True)
    assert limit.limit == 57


def test_who_comes_late_waits_behind_those_who_wait() -> None:
    """Also where a place is free at that very moment: it is theirs."""
    limit = AdaptiveLimit(LimitRule.fixed(2))
    assert limit.ask(waiting=0) is Verdict.GO
    assert limit.ask(waiting=1) is Verdict.WAIT


def test_a_probe_learns_of_its_own_calls_alone() -> None:
    """Those that began before it, with all places taken, say nothing of how long a call takes without a queue."""
    limit = AdaptiveLimit(LimitRule(initial=8, most=8))
    for _ in range(8):
        limit.began()
    while limit.limit == 8:
        limit.ended(0.1)
        limit.began()
    assert limit.limit == 4
    while limit.in_flight > limit.limit:
        limit.ended(9.0)
    assert limit.limit == 4  # they do not end it either
    for _ in range(4):
        limit.ended(0.1)
    assert limit.limit == 8
    assert limit.usual_seconds == pytest.approx(0.1)


def test_a_step_in_which_calls_failed_moves_the_limit_once() -> None:
    """Down for the failure, and not up again for the calls beside it that took as long as usual."""
    limit = AdaptiveLimit(LimitRule(initial=10, most=20))
    for _ in range(10):
        limit.began()
    limit.ended(None, failed=True)
    assert limit.limit == 9
    for _ in range(9):
        limit.ended(0.1)
    assert limit.limit == 9


@pytest.mark.parametrize("seconds", [0.0, -5.0, float("nan"), float("inf")])
def test_a_clock_that_jumped_teaches_nothing(seconds: float) -> None:
    """The place comes back, and the next call's time is the first that counts."""
    limit = AdaptiveLimit(LimitRule(initial=1, most=4))
    limit.began()
    limit.ended(seconds)
    assert (limit.in_flight, limit.usual_seconds) == (0, None)
