"""Quantiles of what was seen last, and what they say of a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.estimates import ENOUGH, LIKELY, Estimates, Visit
from langgraph_prefetch.serving.queueing.policies import EarliestDeadline, LeastSlack
from langgraph_prefetch.serving.queueing.recent import Recent
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting

LOOP = FlowValues(
    name="loop",
    stages=(Stage(name="try", resources={}, service=ServiceTime(mean=1.0)),),
    edges=(
        Edge(source=START, target="try", probability=1),
        Edge(source="try", target="try", probability=0.25),
        Edge(source="try", target=END, probability=0.75),
    ),
)


@given(
    values=st.lists(st.floats(0, 10), min_size=1, max_size=60),
    most=st.integers(1, 20),
    share=st.floats(0, 1, exclude_max=True),
)
def test_it_is_the_quantile_of_the_last_ones(values: list[float], most: int, share: float) -> None:
    """However many came before, and however often the same."""
    recent = Recent(most)
    for each in values:
        recent.add(each)
    last = sorted(values[-most:])
    assert len(recent) == len(last)
    assert recent.quantile(share) == last[int(share * len(last))]


def test_what_half_of_them_need_is_less_than_the_mean_where_a_few_go_round_and_round() -> None:
    """Three of four requests try once; the fourth four times, and makes the mean nearly two."""
    estimates = Estimates(LOOP)
    assert estimates.likely("try") == estimates.remaining("try"), "nothing was seen: the mean stands in"
    for number in range(400):
        times = 4 if number % 4 == 0 else 1
        estimates.learn([Visit(stage="try", visits=0, service_seconds=float(times))])
    assert estimates.remaining("try") == pytest.approx(1.75, abs=0.1)
    assert estimates.likely("try") == pytest.approx(1.0, abs=0.15)
    assert LIKELY < 0.75, "or the share would lie among those that go round"


def test_a_few_requests_say_nothing_yet() -> None:
    """Until enough have finished the mean is all there is."""
    estimates = Estimates(LOOP)
    for _ in range(ENOUGH - 1):
        estimates.learn([Visit(stage="try", visits=0, service_seconds=0.5)])
    assert estimates.likely("try") == estimates.remaining("try")


@pytest.mark.parametrize("policy", [EarliestDeadline(), LeastSlack()])
def test_a_request_that_will_likely_make_it_is_not_demoted_for_the_mean(policy: QueuePolicy) -> None:
    """The mean of what remains is more than it has left; what half of them need is less."""

    def waiting(name: str, likely: float | None, deadline: float) -> Waiting:
        return Waiting(
            request_id=name,
            stage="s",
            arrived_at=0,
            queued_at=0,
            deadline=deadline,
            remaining_seconds=5,
            likely_seconds=likely,
        )

    easy = waiting("easy", 1, 20)
    assert policy.choose([easy, waiting("urgent", 2, 4)], 0) == 1
    assert policy.choose([easy, waiting("hopeless", 4.5, 4)], 0) == 0
    assert policy.choose([easy, waiting("by its mean", None, 4)], 0) == 0
