"""The alarm: rare while the bound holds, however long one looks; prompt once it does not."""

import random

from langgraph_prefetch.near.alarm import Alarm


def until_it_rings(chance: random.Random, rate: float, alarm: Alarm, most: int) -> int | None:
    for count in range(1, most + 1):
        if alarm.add(wrong=chance.random() < rate):
            return count
    return None


def test_false_alarms_are_as_rare_as_stated_at_the_very_bound() -> None:
    """Looking after every call: on average at least ``1 / alpha`` calls pass before a false alarm."""
    chance = random.Random(2)
    lengths = [until_it_rings(chance, 0.02, Alarm(0.02, 0.01), 1_000) or 1_000 for _ in range(200)]
    assert sum(lengths) / len(lengths) > 100


def test_below_the_bound_there_is_hardly_ever_one() -> None:
    chance = random.Random(3)
    rung = [until_it_rings(chance, 0.004, Alarm(0.02, 0.002), 2_000) for _ in range(50)]
    assert sum(each is not None for each in rung) <= 2


def test_a_good_past_does_not_hide_a_bad_present() -> None:
    """After any number of right answers a rate of five times the bound is found within a few hundred checks."""
    chance = random.Random(4)
    for past in (0, 200, 5_000):
        alarm = Alarm(0.02, 0.002)
        for _ in range(past):
            assert not alarm.add(wrong=False)
        found = until_it_rings(chance, 0.1, alarm, 1_000)
        assert found is not None
        assert found < 400


def test_it_tells_since_when() -> None:
    """What came before the change is not among what it points at."""
    chance = random.Random(6)
    alarm = Alarm(0.02, 0.002)
    for _ in range(3_000):
        alarm.add(wrong=False)
    found = until_it_rings(chance, 0.2, alarm, 1_000)
    assert found is not None
    assert found / 3 < alarm.since <= found + 1


def test_reset_forgets_the_evidence() -> None:
    alarm = Alarm(0.01, 0.01)
    alarm.add(wrong=True)
    assert alarm.evidence > 1
    alarm.reset()
    assert (alarm.evidence, alarm.since) == (1.0, 0)
