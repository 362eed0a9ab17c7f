"""Spilling: a pure state with two thresholds."""

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.gateway import Spilling, SpillRule


def asked(spilling: Spilling, now: float, *, waiting: int = 0, in_flight: int = 4) -> bool:
    return spilling.spills(now, waiting=waiting, in_flight=in_flight, limit=4)


def test_calls_wait_until_the_threshold_and_spill_from_there() -> None:
    """Dedicated capacity comes first."""
    spilling = Spilling(SpillRule(waiting=3))
    assert [asked(spilling, 0.0, waiting=waiting) for waiting in (1, 2, 3)] == [False, False, True]


def test_only_those_that_find_no_place_are_spilled() -> None:
    """While it spills, free places of the dedicated component are still taken."""
    spilling = Spilling(SpillRule(waiting=1))
    assert asked(spilling, 0.0, waiting=1)
    assert not asked(spilling, 0.1, in_flight=3)
    assert asked(spilling, 0.2, in_flight=4)


def test_it_ends_after_a_calm_and_not_at_once() -> None:
    """A queue that hovers around the threshold does not make it flap."""
    spilling = Spilling(SpillRule(waiting=4, until_waiting=1, calm_seconds=5.0))
    assert asked(spilling, 0.0, waiting=4)
    asked(spilling, 1.0, waiting=1)
    asked(spilling, 5.0, waiting=2)  # the calm is over before it lasted
    asked(spilling, 6.0, waiting=1)
    assert spilling.on
    asked(spilling, 11.0, waiting=1)
    assert not spilling.on


def test_slow_calls_spill_although_nobody_waits() -> None:
    """The component keeps half of its places, so that it recovers and it is noticed."""
    spilling = Spilling(SpillRule(seconds=1.0, pace=1.0, calm_seconds=0.0))
    spilling.took(1.2)
    assert asked(spilling, 0.0, in_flight=2)
    assert not asked(spilling, 0.0, in_flight=1)
    spilling.took(0.9)  # under the threshold, above the one at which it ends
    assert asked(spilling, 1.0, in_flight=2)
    spilling.took(0.7)
    assert not asked(spilling, 2.0, in_flight=2)


def test_a_clock_that_goes_back_begins_the_calm_anew() -> None:
    """And does not keep it spilling for ever."""
    spilling = Spilling(SpillRule(calm_seconds=5.0))
    asked(spilling, 1_000.0, waiting=1)
    asked(spilling, 1_001.0)
    asked(spilling, 10.0)
    asked(spilling, 15.0)
    assert not spilling.on


@pytest.mark.parametrize("values", [{"until_waiting": 2}, {"seconds": 1.0, "until_seconds": 2.0}, {"busy_share": 1.5}])
def test_a_rule_that_is_none_is_refused(values: dict[str, float]) -> None:
    """It must end at less than that at which it begins."""
    with pytest.raises(ConfigurationError):
        SpillRule(**values)  # type: ignore[arg-type]
