"""Rates by hour of the week, and the replicas that are kept warm for them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.warmup import WarmRule, WarmStage, WeeklyRates, keep_warm, stages_of
from langgraph_prefetch.serving.warmup.rates import HOUR, WEEK

MONDAY = 4 * 24 * HOUR
"""Of the first week of 1970, at midnight."""
NINE = MONDAY + 9 * HOUR


def weeks(counts: list[float], **settings: float) -> WeeklyRates:
    """So many requests on each Monday at nine, spread over the hour."""
    rates = WeeklyRates(**settings)
    for week, count in enumerate(counts):
        rates.arrived(NINE + week * WEEK, count / 2)
        rates.arrived(NINE + week * WEEK + 1_800, count / 2)
    return rates


def test_an_hour_is_expected_to_be_as_it_was() -> None:
    """A second of it; other hours are known to have had none once a week has passed."""
    rates = weeks([3_600])
    assert rates.rate(NINE) is None  # the first week is not over
    assert rates.rate(NINE + WEEK) == 1.0
    assert rates.rate(NINE + WEEK + HOUR) == 0.0


def test_later_weeks_count_more() -> None:
    """Each ``keep`` times as much as the one after it, those without a request included."""
    assert weeks([0, 3_600], keep=0.5).rate(NINE + 2 * WEEK) == pytest.approx(1 / 1.5)
    assert weeks([3_600], keep=0.5).rate(NINE + 2 * WEEK) == pytest.approx(0.5 / 1.5)
    assert weeks([7_200, 3_600], keep=0.0).rate(NINE + 2 * WEEK) == 1.0


def test_weeks_go_by_the_clock_of_people() -> None:
    """With an offset the same moment is another hour."""
    rates = WeeklyRates(utc_offset_seconds=2 * HOUR)
    rates.arrived(NINE, 3_600)
    told = json.loads(json.dumps(rates.as_json()))
    assert list(told["hours"]) == ["11"]
    assert WeeklyRates.from_json(told).rate(NINE + WEEK) == rates.rate(NINE + WEEK) == 1.0
    with pytest.raises(ConfigurationError):
        WeeklyRates.from_json({"keep": 0.5})


@given(st.lists(st.tuples(st.floats(-1e9, 1e10), st.floats(0, 1e6))), st.floats(-1e9, 1e10))
def test_a_clock_that_jumps_gives_no_nonsense(arrivals: list[tuple[float, float]], at: float) -> None:
    """No rate is negative or above what came in an hour."""
    rates = WeeklyRates()
    for when, count in arrivals:
        rates.arrived(when, count)
    rate = rates.rate(at)
    assert rate is None or 0 <= rate * HOUR <= sum(count for _, count in arrivals) * 1.000001


SLOW = WarmStage(name="grade", visits=1.0, service_seconds=1.4, cold_start_seconds=20.0)
RULE = WarmRule(utilisation=0.7, ahead_seconds=300.0)


def test_replicas_are_there_before_the_hour_begins() -> None:
    """Five minutes and a start-up ahead; a baseline at all times."""
    rates = weeks([3 * 3_600])
    at_nine = NINE + WEEK
    kept = [
        keep_warm([SLOW], rates, at, RULE)["grade"] for at in (at_nine - 400, at_nine - 310, at_nine, at_nine + HOUR)
    ]
    assert kept == [1, 6, 6, 1]


def test_what_starts_fast_or_is_needed_seldom_scales_from_zero() -> None:
    """Only what every request passes through, and would wait for, keeps a baseline."""
    quick = WarmStage(name="quick", visits=1.0, service_seconds=0.1, cold_start_seconds=0.5)
    seldom = WarmStage(name="seldom", visits=0.2, service_seconds=1.0, cold_start_seconds=20.0, critical=False)
    nothing = WeeklyRates()
    assert keep_warm([SLOW, quick, seldom], nothing, NINE) == {"grade": 1, "quick": 0, "seldom": 0}
    busy = weeks([10 * 3_600])
    assert keep_warm([SLOW, quick, seldom], busy, NINE + WEEK) == {"grade": 20, "quick": 2, "seldom": 3}


def test_what_is_critical_is_read_from_the_flow() -> None:
    """A stage in a loop is visited more than once by some, and by others not at all: that does not make it critical."""

    def stage(name: str) -> Stage:
        return Stage(name=name, resources={"cpu": 1}, service=ServiceTime(mean=1.0), cold_start_seconds=5.0)

    flow = FlowValues(
        name="f",
        stages=(stage("plan"), stage("search")),
        edges=(
            Edge(source=START, target="plan", probability=1.0),
            Edge(source="plan", target="search", probability=0.5),
            Edge(source="plan", target=END, probability=0.5),
            Edge(source="search", target="search", probability=0.8),
            Edge(source="search", target=END, probability=0.2),
        ),
    )
    plan, search = stages_of(flow)
    assert (plan.critical, search.critical) == (True, False)
    assert search.visits == pytest.approx(2.5)


def test_an_hour_is_known_from_the_first_week_in_which_it_was_watched() -> None:
    """Who begins on a Monday at ten knows nothing of Mondays at nine until a week later one has gone by."""
    ten = 4 * 86_400 + 10 * 3_600.0
    rates = WeeklyRates()
    rates.arrived(ten)
    assert rates.rate(ten - 3_600 + WEEK) is None
    assert rates.rate(ten - 3_600 + 2 * WEEK) == 0.0


def test_a_clock_that_goes_back_a_week_adds_to_the_newest() -> None:
    """Nothing that was counted is lost."""
    ten = 4 * 86_400 + 10 * 3_600.0
    rates = WeeklyRates()
    rates.arrived(ten + WEEK)
    rates.arrived(ten)
    assert rates.rate(ten + 2 * WEEK) == pytest.approx(2 / 3_600)


def test_what_starts_quickly_and_is_seldom_needed_starts_from_zero_and_nothing_beyond_the_most() -> None:
    """Half a replica's work is none where one is there at once; a rule's bound holds whatever comes."""
    ten = 4 * 86_400 + 10 * 3_600.0
    rates = WeeklyRates()
    rates.arrived(ten, 3_600.0)  # one a second
    quick, slow = (
        WarmStage(name=name, visits=1.0, service_seconds=0.35, cold_start_seconds=cold, baseline=0)
        for name, cold in (("quick", 0.3), ("slow", 30.0))
    )
    assert keep_warm([quick, slow], rates, ten + WEEK) == {"quick": 0, "slow": 1}
    heavy = WarmStage(name="heavy", visits=1.0, service_seconds=70.0, cold_start_seconds=30.0)
    assert keep_warm([heavy], rates, ten + WEEK, WarmRule(most=7)) == {"heavy": 7}
