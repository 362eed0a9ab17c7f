"""What the hour of the week will need is started ahead of it, and what it does not is let go."""

from __future__ import annotations

import threading

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import ComponentWarmed, Event, RunEnded, RunStarted, StagePressure
from langgraph_prefetch.serving.warmup import ComponentScaling, ExpectedWarmth, Warmer, WarmRule, WarmStage, WeeklyRates
from tests.serving.warmup.parts import Startable

NINE = 4 * 86_400 + 9 * 3_600
"""A Monday at nine, in seconds since 1970."""
WEEK = 7 * 86_400
STAGES = (
    WarmStage(name="grade", visits=1.0, service_seconds=1.4, cold_start_seconds=20.0, baseline=0),
    WarmStage(name="elsewhere", visits=1.0, service_seconds=1.4, cold_start_seconds=20.0),
)


class Wall:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = float(NINE)

    def __call__(self) -> float:
        return self.now


def known(wall: Wall, warmer: Warmer, every_seconds: float = 60.0) -> ExpectedWarmth:
    """After an hour of one request a second."""
    expected = ExpectedWarmth(
        warmer, STAGES, WeeklyRates(), rule=WarmRule(ahead_seconds=300), clock=wall, every_seconds=every_seconds
    )
    for _ in range(3_600):
        expected(RunStarted(run_id="r", at=0.0))
        expected(RunEnded(run_id="r", at=0.0, idle=False))
        wall.now += 1.0
    return expected


def test_the_next_week_finds_it_warm() -> None:
    """Its start-up and a little before the hour; not earlier, and not after the hour is over."""
    wall, part, told = Wall(), Startable(), list[Event]()
    with Warmer({"grade": part}, keep_seconds=600.0, events=told.append, clock=wall) as warmer:
        expected = known(wall, warmer)
        wall.now = NINE + WEEK - 400.0
        assert expected.look() == {"grade": 0, "elsewhere": 1}
        assert part.started == 0
        wall.now = NINE + WEEK - 300.0
        assert expected.look()["grade"] == 2
        warmer.of("grade").ready()
        assert [each.cause for each in told if isinstance(each, ComponentWarmed)] == ["hour"]
        wall.now = NINE + WEEK + 7_200.0
        assert expected.look()["grade"] == 0
        assert (part.started, part.stopped) == (1, 1)


def test_it_looks_by_itself() -> None:
    """From the beginning of the block on, again and again, until its end."""
    wall = Wall()
    again = threading.Event()

    class Watched(Startable):
        asked = 0

        def is_warm(self) -> bool:
            self.asked += 1
            if self.asked == 2:
                again.set()
            return super().is_warm()

    part = Watched()
    with Warmer({"grade": part}) as warmer:
        expected = known(wall, warmer, every_seconds=0.001)
        wall.now = NINE + WEEK
        with expected:
            assert again.wait(60)
        assert part.started == 1
        assert expected._thread is not None
        assert not expected._thread.is_alive()


def test_pools_keep_as_many_replicas() -> None:
    """A sizing that is given the function asks it each time."""
    wall = Wall()
    with Warmer({"grade": Startable()}) as warmer:
        expected = known(wall, warmer)
        sizing = ComponentScaling(STAGES, keep=expected.replicas)
        quiet = StagePressure(
            at=0.0, pool="grade", replicas=1, places=1, busy=0, waiting=0, speculative=0, oldest_seconds=0.0,
            arrived=0, served=0, refused=0,
        )  # fmt: skip
        wall.now = NINE + WEEK
        assert sizing.sizes([quiet], 1.0) == {"grade": 2}
        wall.now += 7_200.0
        assert sizing.sizes([quiet], 2.0) == {"grade": 0}


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_wrong_use_is_told_at_once(seconds: float) -> None:
    """When it is made."""
    with Warmer({"grade": Startable()}) as warmer, pytest.raises(ConfigurationError, match="every_seconds"):
        ExpectedWarmth(warmer, STAGES, WeeklyRates(), every_seconds=seconds)
