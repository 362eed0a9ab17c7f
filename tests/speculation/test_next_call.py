"""The gate of private model calls: what few wrong ones cost is bounded, and it comes back without a token spent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.speculation.next_call import (
    BACK_OFF_SECONDS,
    LEAST_SECONDS,
    MOST_BACK_OFF_SECONDS,
    NextCallExperience,
    NextCallsSpent,
    NextCallVerdict,
    NextCallWeighing,
    back_off_seconds,
    next_call_held_back,
    weigh_next_call,
)
from langgraph_prefetch.speculation.posterior import Seen

ODDS = st.floats(0.01, 0.99)
PRICED = NextCalls(max_wasted_share=1.0, token_price=Price(money=1e-6))


def weighed(probability: float, rules: NextCalls, *, seconds: float = 0.5, tokens: float = 1_000) -> NextCallWeighing:
    return weigh_next_call(
        probability,
        everything=Seen(),
        kind=Seen(),
        expected_seconds=seconds,
        tokens=tokens,
        rules=rules,
        value_of_second=Price(money=0.001),
    )


@given(ODDS, st.floats(0, 1))
def test_the_share_that_may_be_wasted(probability: float, share: float) -> None:
    """A call starts exactly where no more than that share of such calls is expected to be cancelled."""
    weighing = weighed(probability, NextCalls(max_wasted_share=share))
    assert (weighing.verdict is NextCallVerdict.TOO_MANY_WASTED) == (1 - weighing.p_equal > share)
    assert (weighing.gain, weighing.loss) == (None, None)


@given(ODDS, st.floats(0.02, 10), st.floats(0, 100_000))
def test_where_tokens_have_a_price(probability: float, seconds: float, tokens: float) -> None:
    """A call starts exactly where the seconds are worth more than the tokens."""
    weighing = weighed(probability, PRICED, seconds=seconds, tokens=tokens)
    assert weighing.gain == pytest.approx(weighing.p_equal * seconds * 0.001)
    assert weighing.loss == pytest.approx((1 - weighing.p_equal) * tokens * 1e-6)
    assert weighing.gain is not None
    assert weighing.loss is not None
    assert (weighing.verdict is NextCallVerdict.START) == (weighing.gain > weighing.loss)


def test_nothing_to_hide() -> None:
    """No model call is spent on a search that takes no time, be tokens free."""
    assert weighed(0.99, NextCalls(), seconds=LEAST_SECONDS / 2).verdict is NextCallVerdict.NOTHING_TO_HIDE


def starts(experience: NextCallExperience, rules: NextCalls, kind: str = "stale", probability: float = 0.8) -> bool:
    return experience.weigh(kind, probability, 0.5, 0, rules, None).weighing.verdict is NextCallVerdict.START


def test_wrong_ones_stop_it_and_right_ones_bring_it_back() -> None:
    """What was not started is scored too, so nothing has to be paid to find out that guesses got better."""
    experience, rules = NextCallExperience(), NextCalls()
    assert starts(experience, rules)
    for _ in range(3):
        experience.learn(experience.weigh("stale", 0.8, 0.5, 0, rules, None), right=False)
    assert not starts(experience, rules)
    for _ in range(8):
        experience.learn(experience.weigh("stale", 0.8, 0.5, 0, rules, None), right=True, seconds=0.3)
    assert starts(experience, rules)


def test_kinds_have_records_of_their_own() -> None:
    """A guesser that is right is not stopped by another that is wrong."""
    experience, rules = NextCallExperience(), NextCalls()
    for _ in range(10):
        experience.learn(experience.weigh("similar", 0.5, 0.5, 0, rules, None), right=False)
        experience.learn(experience.weigh("near", 0.9, 0.5, 0, rules, None), right=True, seconds=0.3)
    assert starts(experience, rules, "near", 0.9)
    assert not starts(experience, rules, "similar", 0.5)


@pytest.mark.parametrize("right_of_ten", [0, 2, 9])
def test_wasted_ones_stay_within_their_share(right_of_ten: int) -> None:
    """Guesses that are hardly ever right cost a few calls and no more; good ones go on."""
    experience, rules = NextCallExperience(), NextCalls(max_wasted_share=0.5)
    started = 0
    for number in range(500):
        decided = experience.weigh("stale", 0.8, 0.5, 0, rules, None)
        started += decided.weighing.verdict is NextCallVerdict.START
        experience.learn(decided, right=(number * 7) % 10 < right_of_ten, seconds=0.3)
    assert started == 500 if right_of_ten == 9 else started <= 5


def test_tokens_of_cancelled_calls_are_learned() -> None:
    """What they wrote before weighs in the next decision."""
    experience = NextCallExperience()

    def loss() -> float | None:
        return experience.weigh("stale", 0.8, 0.5, 100, PRICED, Price(money=1)).weighing.loss

    before = loss()
    for _ in range(5):
        experience.wrote(5_000)
    after = loss()
    assert before is not None
    assert after is not None
    assert after > 10 * before


@pytest.mark.parametrize(
    ("spent", "reason"),
    [
        (NextCallsSpent(in_run=2, running=0, backed_off_until=0.0), "budget: per_run"),
        (NextCallsSpent(in_run=0, running=1, backed_off_until=0.0), "budget: max_running"),
        (NextCallsSpent(in_run=0, running=0, backed_off_until=9.0), "failed a moment ago"),
        (NextCallsSpent(in_run=1, running=0, backed_off_until=5.0), None),
    ],
)
def test_bounds(spent: NextCallsSpent, reason: str | None) -> None:
    """Hard ones, whatever a call would be worth."""
    assert next_call_held_back(spent, NextCalls(per_run=2, max_running=1), 5.0) == reason


def test_backing_off() -> None:
    """Longer after each failure in a row, up to a bound; a call that is adopted ends it."""
    waits = [back_off_seconds(failures) for failures in range(1, 12)]
    assert waits == sorted(waits)
    assert (waits[0], waits[1], waits[-1]) == (BACK_OFF_SECONDS, 2 * BACK_OFF_SECONDS, MOST_BACK_OFF_SECONDS)
    experience = NextCallExperience()
    for now in (0.0, 10.0):
        experience.failed(now)
    assert experience.backed_off_until == 10.0 + 2 * BACK_OFF_SECONDS
    experience.went_well()
    experience.failed(100.0)
    assert experience.backed_off_until == 100.0 + BACK_OFF_SECONDS
