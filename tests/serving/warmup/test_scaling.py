"""Replicas by each component's own load."""

from dataclasses import replace

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.warmup import ComponentScaling, ScalingRule, WarmStage

STAGES = (
    WarmStage(name="plan", visits=1.0, service_seconds=1.0, cold_start_seconds=5.0),
    WarmStage(name="web", visits=0.2, service_seconds=1.0, cold_start_seconds=0.5, critical=False),
)
RULE = ScalingRule(utilisation=0.5, drain_seconds=1.0, rise_seconds=1e-6, fade_seconds=10.0)


def pressure(pool: str, arrived: int, waiting: int = 0) -> StagePressure:
    return StagePressure(
        at=0.0, pool=pool, replicas=1, places=1, busy=1, waiting=waiting, speculative=0, oldest_seconds=0.0,
        arrived=arrived, served=0, refused=0,
    )  # fmt: skip


def test_each_grows_with_its_own_load() -> None:
    """A branch that a fifth of the requests take needs a fifth of the replicas; a queue is worked off besides."""
    scaling = ComponentScaling(STAGES, RULE)
    assert scaling.sizes([pressure("plan", 10), pressure("web", 2)], 1.0) == {"plan": 20, "web": 4}
    assert scaling.sizes([pressure("plan", 10, waiting=5), pressure("other", 9)], 2.0) == {"plan": 25}


def test_a_peak_fades_to_what_is_kept() -> None:
    """The baseline of what is critical; nothing of the rest, or what is said to be kept."""
    scaling = ComponentScaling(STAGES, RULE)
    scaling.sizes([pressure("plan", 10), pressure("web", 10)], 1.0)
    quiet = [pressure("plan", 0), pressure("web", 0)]
    soon = scaling.sizes(quiet, 2.0)
    assert 10 < soon["web"] < 20
    assert scaling.sizes(quiet, 1_000.0) == {"plan": 1, "web": 0}
    assert ComponentScaling(STAGES, RULE, keep={"web": 3}).sizes(quiet, 1.0) == {"plan": 1, "web": 3}


def test_a_clock_that_stands_still_or_goes_back_changes_nothing() -> None:
    """No rate can be told."""
    scaling = ComponentScaling(STAGES, RULE)
    scaling.sizes([pressure("plan", 1)], 5.0)
    assert scaling.sizes([pressure("plan", 99)], 5.0) == scaling.sizes([pressure("plan", 99)], 1.0) == {}
    with pytest.raises(ConfigurationError):
        ScalingRule(drain_seconds=0.0)


def test_a_rise_is_followed_at_the_pace_that_was_said() -> None:
    """One busy moment is no load: ten a second for a second after none is four, with a time constant of two seconds."""
    stage = WarmStage(name="grade", visits=1.0, service_seconds=1.0, cold_start_seconds=9.0, baseline=0)
    sizing = ComponentScaling([stage], ScalingRule(utilisation=1.0, rise_seconds=2.0))
    quiet = StagePressure(
        at=0.0, pool="grade", replicas=1, places=1, busy=0, waiting=0, speculative=0, oldest_seconds=0.0, arrived=0,
        served=0, refused=0,
    )  # fmt: skip
    assert sizing.sizes([quiet], 1.0) == {"grade": 0}
    assert sizing.sizes([replace(quiet, arrived=10)], 2.0) == {"grade": 4}
