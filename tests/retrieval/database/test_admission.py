"""Who gets a connection: real calls first, speculation within its share, nobody twice and nobody lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.database.admission import House, admit, arrive, leave, withdraw
from langgraph_prefetch.retrieval.database.limits import PoolLimits


@pytest.mark.parametrize(
    ("connections", "reserve", "share"), [(1, None, 1), (2, None, 1), (8, None, 6), (3, 0, 3), (3, 3, 0)]
)
def test_the_share_of_speculation(connections: int, reserve: int | None, share: int) -> None:
    """A quarter is kept for real calls, at least one where there are two; a pool of one is shared."""
    assert PoolLimits(connections=connections, reserve=reserve).for_speculation == share


@pytest.mark.parametrize("wrong", [{"connections": 0}, {"reserve": 9}, {"wait_seconds": 0}, {"waiting": -1}])
def test_limits_that_make_no_sense(wrong: dict[str, int]) -> None:
    """They are refused when they are made."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        PoolLimits(**wrong)


def test_a_real_call_passes_speculations_that_wait() -> None:
    """It came last, and is the next to come in."""
    limits = PoolLimits(connections=2, reserve=0)
    house = House(speculative=2)
    for ticket in range(3):
        house = arrive(house, limits, ticket, speculative=True) or House()
    house = arrive(house, limits, 9, speculative=False) or House()
    assert admit(leave(house, speculative=True), limits)[1] == (9,)


def test_a_full_queue_takes_nobody() -> None:
    """What waits is bounded, for each kind by itself."""
    limits = PoolLimits(connections=1, waiting=1, speculations_waiting=0)
    house = arrive(House(real=1), limits, 1, speculative=False)
    assert house is not None
    assert arrive(house, limits, 2, speculative=False) is None
    assert arrive(house, limits, 3, speculative=True) is None


Steps = st.lists(st.tuples(st.sampled_from(["arrive", "leave", "withdraw"]), st.booleans(), st.integers(0, 99)))


@given(Steps, st.integers(1, 4), st.integers(0, 4))
def test_whatever_happens(steps: list[tuple[str, bool, int]], connections: int, reserve: int) -> None:
    """No more inside than there are connections, nor more speculations than their share; nobody waits without need."""
    limits = PoolLimits(connections=connections, reserve=min(reserve, connections), waiting=5, speculations_waiting=5)
    house, inside, waiting = House(), list[bool](), dict[int, bool]()
    for ticket, (step, speculative, pick) in enumerate(steps):
        if step == "arrive":
            before, found = house, arrive(house, limits, ticket, speculative=speculative)
            if found is None:
                assert sum(kind == speculative for kind in waiting.values()) == 5
                continue
            house = found
            if house.real + house.speculative > before.real + before.speculative:
                inside.append(speculative)
            else:
                waiting[ticket] = speculative
            continue
        entered: tuple[int, ...] = ()
        if step == "leave" and inside:
            house, entered = admit(leave(house, speculative=inside.pop(pick % len(inside))), limits)
        elif step == "withdraw" and waiting:
            gone = sorted(waiting)[pick % len(waiting)]
            del waiting[gone]
            house = withdraw(house, gone)
        inside += [waiting.pop(each) for each in entered]
        assert list(house.real_waiting) == sorted(each for each, kind in waiting.items() if not kind)
        assert list(house.speculative_waiting) == sorted(each for each, kind in waiting.items() if kind)
        assert (house.real, house.speculative) == (inside.count(False), inside.count(True))
        assert len(inside) <= connections
        assert house.speculative <= limits.for_speculation
        if len(inside) < connections:
            assert not house.real_waiting
            assert not house.speculative_waiting or house.speculative == limits.for_speculation
