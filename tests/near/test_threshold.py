"""Fixed-sequence testing: how often a threshold passes whose true risk is above the bound, and that good ones do."""

import random
from functools import cache

from langgraph_prefetch.near.threshold import GRID, Checked, first_threshold, passing


def risk(reach: float) -> float:
    """The true chance of a wrong set at this reach: none where it is proved, one in four at the bottom."""
    return min(0.25, 0.25 * max(0.0, 0.9 - reach) ** 3)


@cache
def risk_under(threshold: float) -> float:
    """Of calls whose reach is above ``threshold``, uniform in [-1, 1.2]."""
    steps = [threshold + (1.2 - threshold) * (at + 0.5) / 2_000 for at in range(2_000)]
    return sum(map(risk, steps)) / len(steps)


def calls(chance: random.Random, count: int) -> list[Checked]:
    drawn = [chance.uniform(-1, 1.2) for _ in range(count)]
    return [Checked(reach, chance.random() < risk(reach)) for reach in drawn]


def test_a_threshold_that_passes_keeps_the_bound_as_often_as_stated() -> None:
    """Of 200 samples at most one in ten, and chance on top, leads to a threshold whose true risk is above epsilon."""
    chance = random.Random(11)
    broken = passed = 0
    for _ in range(200):
        warm = [call.reach for call in calls(chance, 32)]
        sample = calls(chance, 900)
        found = passing(sample, first_threshold(warm, len(sample), 0.02, 0.9), 0.02, 0.9)
        passed += bool(found)
        broken += bool(found) and risk_under(found[-1].threshold) > 0.02
    assert passed > 140
    assert broken <= 20 + 2 * 4.3  # two standard deviations of a count at the stated level


def test_the_tested_share_is_well_used() -> None:
    """Bounds that hold because nothing is served are no use: most of what may be served is."""
    chance = random.Random(5)
    sample = calls(chance, 4_000)
    warm = [call.reach for call in calls(chance, 32)]
    found = passing(sample, first_threshold(warm, len(sample), 0.02, 0.9), 0.02, 0.9)
    best = min(threshold for threshold in GRID if risk_under(threshold) <= 0.02)
    assert best <= found[-1].threshold <= best + 0.25


def test_too_few_calls_pass_nothing() -> None:
    """229 right calls do not show 1 % at 90 %; 230 do."""
    assert not passing([Checked(0.5, False)] * 229, len(GRID) - 1, 0.01, 0.9)
    assert passing([Checked(0.5, False)] * 230, len(GRID) - 1, 0.01, 0.9)


def test_the_first_failure_ends_the_sequence() -> None:
    """A stretch of luck behind a bad one is not used: nothing may be tested after the first that fails."""
    bad = [Checked(0.52, True)] * 40
    lucky = [Checked(-0.5, False)] * 5_000
    found = passing([Checked(0.9, False)] * 300 + bad + lucky, GRID.index(0.8), 0.01, 0.9)
    assert found
    assert found[-1].threshold > 0.5


def test_a_call_at_the_threshold_is_not_under_it() -> None:
    """Serving is for a reach above the threshold, and so is testing."""
    found = passing([Checked(0.5, False)] * 400, GRID.index(0.5), 0.01, 0.9)
    assert not found


def test_the_sequence_begins_where_enough_calls_are_expected() -> None:
    """Strict enough to pass, and not so strict that the first test has no power."""
    warm = [at / 32 for at in range(32)]
    assert GRID[first_threshold(warm, 400, 0.01, 0.9)] < GRID[first_threshold(warm, 4_000, 0.01, 0.9)]
    assert first_threshold([], 1_000, 0.01, 0.9) == 0
    assert first_threshold([-9.0] * 32, 1_000, 0.01, 0.9) == len(GRID) - 1
