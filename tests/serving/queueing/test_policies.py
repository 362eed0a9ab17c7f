"""Who is served next."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.queueing.policies import (
    DEFAULT_POLICY,
    POLICIES,
    EarliestDeadline,
    FirstCome,
    LeastSlack,
    policy_named,
)
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting

times = st.floats(0, 100)


def waiting(name: str, queued_at: float = 0.0, deadline: float | None = None, **given: Any) -> Waiting:
    given = {"arrived_at": queued_at, **given}
    return Waiting(request_id=name, stage="s", queued_at=queued_at, deadline=deadline, **given)


def order(policy: QueuePolicy, requests: Sequence[Waiting], now: float) -> str:
    """Names in the order of service, if all were served at ``now``."""
    left, names = list(requests), ""
    while left:
        names += left.pop(policy.choose(left, now)).request_id
    return names


def test_first_come() -> None:
    """Deadlines do not matter, and speculation goes last."""
    requests = [waiting("a", speculative=True), waiting("b", 1, 9), waiting("c", 2, 3)]
    assert order(FirstCome(), requests, 2.5) == "bca"


@pytest.mark.parametrize("policy", [EarliestDeadline(), LeastSlack()])
def test_hopeless_requests_go_behind_and_are_served_in_the_order_they_came(policy: QueuePolicy) -> None:
    """Demotion: what is late already may not make others late; it still finishes."""
    requests = [
        waiting("b", 2, 4, remaining_seconds=2),
        waiting("a", 1, 4.5, arrived_at=0, remaining_seconds=2),
        waiting("c", 3, 20, remaining_seconds=2),
        waiting("d", 4, 10, remaining_seconds=2),
    ]
    assert order(policy, requests, 4) == "dcab"


def test_without_demotion_the_late_go_first() -> None:
    """The rivals that are measured beside the default."""
    requests = [waiting("a", 0, 10, remaining_seconds=1), waiting("b", 1, 3, remaining_seconds=5)]
    assert order(EarliestDeadline(demote=False), requests, 2) == "ba"
    assert order(LeastSlack(demote=False), requests, 2) == "ba"


def test_least_slack_knows_what_a_request_still_needs() -> None:
    """A later deadline is more urgent where more is left to do."""
    requests = [waiting("a", 0, 10, remaining_seconds=1), waiting("b", 0, 11, remaining_seconds=6)]
    assert order(LeastSlack(), requests, 1) == "ba"
    assert order(EarliestDeadline(), requests, 1) == "ab"


def test_fast_stages_before_slow_where_slacks_are_about_equal() -> None:
    """Where stages share replicas, the short visit does not wait for the long one."""
    slow = waiting("s", 0, 10.0, remaining_seconds=2, service_seconds=2)
    fast = waiting("f", 1, 8.01, remaining_seconds=0, service_seconds=0.1)
    assert order(LeastSlack(), [slow, fast], 1.0) == "fs"
    assert order(LeastSlack(grain_seconds=0.001), [slow, fast], 1.0) == "sf"


def test_fast_stages_before_slow_where_deadlines_are_about_equal() -> None:
    """The default policy does so too; a deadline that is clearly earlier comes first all the same."""
    slow = waiting("s", 0, 10.01, service_seconds=2)
    fast = waiting("f", 1, 10.02, service_seconds=0.1)
    assert order(EarliestDeadline(), [slow, fast], 1.0) == "fs"
    assert order(EarliestDeadline(grain_seconds=0.001), [slow, fast], 1.0) == "sf"
    assert order(EarliestDeadline(), [fast, waiting("e", 0, 9.9, service_seconds=2)], 1.0) == "ef"


def test_a_request_without_a_deadline_neither_starves_nor_counts_as_late() -> None:
    """It stands where one due in a minute would."""
    requests = [waiting("n", 0), waiting("a", 0, 50), waiting("b", 0, 70)]
    for policy in (EarliestDeadline(), LeastSlack()):
        assert order(policy, requests, 1) == "anb"
        assert order(policy, requests, 65) == "nba"


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@given(data=st.data(), now=times)
def test_speculation_is_always_after_demand(policy: QueuePolicy, data: st.DataObject, now: float) -> None:
    """Whatever the deadlines are."""
    requests = data.draw(
        st.lists(
            st.builds(
                waiting,
                st.just("x"),
                times,
                st.none() | times,
                remaining_seconds=times,
                service_seconds=times,
                speculative=st.booleans(),
            ),
            min_size=1,
            max_size=12,
        )
    )
    chosen = requests[policy.choose(requests, now)]
    assert not chosen.speculative or all(each.speculative for each in requests)


@given(now=times, jump=st.floats(-1000, 1000), deadlines=st.lists(st.integers(0, 90), min_size=1, max_size=8))
def test_a_clock_that_jumps_changes_no_order_among_deadlines(now: float, jump: float, deadlines: list[int]) -> None:
    """All seem more or less late by the same amount."""
    requests = [waiting(str(number), 0, due) for number, due in enumerate(deadlines)]
    policy = EarliestDeadline(demote=False)
    assert policy.choose(requests, now) == policy.choose(requests, now + jump)


def test_names() -> None:
    """Each policy is found by its name, and a wrong name says which there are."""
    assert all(policy_named(name).name == name for name in POLICIES)
    assert DEFAULT_POLICY.name in POLICIES
    with pytest.raises(ConfigurationError, match=r"no queue policy 'slak'.*Did you mean 'slack'"):
        policy_named("slak")
    for policy in (LeastSlack(), EarliestDeadline()):
        with pytest.raises(ConfigurationError, match="grain_seconds"):
            dataclasses.replace(policy, grain_seconds=0)
