"""The breaker, with the time passed in."""

import pytest

from langgraph_prefetch.errors import BreakerOpenError, ConfigurationError
from langgraph_prefetch.serving.gateway import Breaker, BreakerRule

RULE = BreakerRule(failures=2, open_seconds=5.0)
DOWN = ConnectionError("down")


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker("large", RULE)
    for _ in range(RULE.failures):
        breaker.leave(breaker.enter(at), at, DOWN)
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    """A call that works in between begins the count anew."""
    breaker = Breaker("large", RULE)
    for error in (DOWN, None, DOWN):
        breaker.leave(breaker.enter(0.0), 0.0, error)
    assert breaker.state == "closed"
    breaker.leave(breaker.enter(0.0), 0.0, DOWN)
    assert breaker.state == "opened"
    with pytest.raises(BreakerOpenError, match=r"'large' does not work and is not asked for another 3\.0 s"):
        breaker.enter(2.0)


def test_one_call_tries_when_the_time_is_over() -> None:
    """Others are refused until it is known what came of it; then all go through, or none."""
    breaker = opened()
    trial = breaker.enter(5.0)
    with pytest.raises(BreakerOpenError):
        breaker.enter(5.0)
    breaker.leave(trial, 5.1, DOWN)
    assert breaker.state == "opened"
    with pytest.raises(BreakerOpenError):
        breaker.enter(10.0)
    breaker.leave(breaker.enter(10.1), 10.2, None)
    assert breaker.state == "closed"


def test_a_trial_that_is_given_up_makes_room_for_another() -> None:
    """A caller that goes away leaves no breaker half open for ever."""
    breaker = opened()
    breaker.abandon(breaker.enter(5.0))
    breaker.leave(breaker.enter(5.0), 5.0, None)
    assert breaker.state == "closed"


def test_calls_of_another_time_say_nothing() -> None:
    """A call that began before the breaker opened, and ends while another tries, neither closes nor opens it."""
    breaker = Breaker("large", RULE)
    late = [breaker.enter(0.0), breaker.enter(0.0)]
    for _ in range(RULE.failures):
        breaker.leave(breaker.enter(0.0), 0.0, DOWN)
    trial = breaker.enter(5.0)
    breaker.leave(late[0], 5.0, None)
    assert breaker.state == "half-opened"
    breaker.leave(late[1], 5.0, DOWN)
    assert breaker.state == "half-opened"
    breaker.leave(trial, 5.0, None)
    assert breaker.state == "closed"


def test_a_clock_that_goes_back_keeps_it_open_no_longer_than_it_was_to_be() -> None:
    """What remains is never more than the time that it stays open."""
    assert opened(1_000.0).remaining(0.0) == RULE.open_seconds


@pytest.mark.parametrize("values", [{"failures": 0}, {"open_seconds": -1.0}, {"open_seconds": float("nan")}])
def test_a_rule_that_is_none_is_refused(values: dict[str, float]) -> None:
    """The message names the value."""
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        BreakerRule(**values)  # type: ignore[arg-type]
