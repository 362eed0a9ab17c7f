"""How many tokens make a piece."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.granularity import Chunker, Grain, Granularity


def test_pieces_grow_under_load_and_shrink_when_idle() -> None:
    """Between the two bounds of the load they stay."""
    granularity = Granularity(Grain(most=8, memory_seconds=0.1))
    looks = [1.0] * 5 + [0.8] * 2 + [0.1] * 4
    assert [granularity.see(load, now) for now, load in enumerate(looks)] == [1, 2, 4, 8, 8, 8, 8, 4, 2, 1, 1]


def test_one_burst_is_smoothed_and_forgotten() -> None:
    """A look at a single moment says little."""
    granularity = Granularity()
    granularity.see(0.0, 0.0)
    assert granularity.see(50.0, 0.1) == 1
    assert granularity.load == pytest.approx(0.19, abs=0.001)
    assert granularity.see(float("nan"), 0.2) == 1
    assert granularity.load == pytest.approx(0.19, abs=0.001)


def test_the_size_changes_a_few_times_a_second_at_most_and_not_by_a_clock_that_goes_back() -> None:
    """However often the load is looked at."""
    granularity = Granularity(Grain(memory_seconds=1.0))
    sizes = [granularity.see(2.0, number / 1_000) for number in range(2_000)]
    assert len(set(sizes)) <= 8
    before = granularity.size
    assert granularity.see(0.0, -3_600.0) == before
    assert granularity.see(0.0, -3_599.0) < before


def test_the_first_token_never_waits() -> None:
    """However large pieces are by now."""
    granularity = Granularity(Grain(least=8))
    chunker: Chunker[str] = Chunker(granularity)
    assert chunker.take(0.0) == ()
    chunker.add("a", 0.0)
    assert chunker.take(0.0) == ("a",)
    chunker.add("b", 1.0)
    assert chunker.take(1.1) == ()
    assert chunker.due_in(1.1) == pytest.approx(0.15)
    assert chunker.take(1.25) == ("b",), "held long enough"


def test_a_full_piece_and_the_end_are_not_held() -> None:
    """And what has gathered goes along."""
    granularity = Granularity(Grain(least=2, most=3))
    chunker: Chunker[int] = Chunker(granularity)
    for token in range(8):
        chunker.add(token, 0.0)
    assert [chunker.take(0.0) for _ in range(2)] == [(0, 1, 2), (3, 4, 5)]
    chunker.take(0.0)
    chunker.add(8, 0.0)
    assert chunker.take(0.0) == ()
    chunker.end()
    assert chunker.take(0.0) == (8,)


def test_a_clock_that_goes_back_holds_nothing() -> None:
    """Nobody knows how long it was held."""
    chunker: Chunker[str] = Chunker(Granularity(Grain(least=8)))
    chunker.add("a", 0.0)
    chunker.take(0.0)
    chunker.add("b", 100.0)
    assert chunker.take(50.0) == ("b",)


@given(
    loads=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40),
    least=st.integers(1, 9),
    more=st.integers(0, 90),
)
def test_sizes_stay_within_their_bounds(loads: list[float], least: int, more: int) -> None:
    """Whatever loads are seen."""
    granularity = Granularity(Grain(least=least, most=least + more))
    assert all(least <= granularity.see(load, float(at)) <= least + more for at, load in enumerate(loads))


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 0.2)), max_size=40), st.integers(1, 6))
def test_no_token_is_lost_or_out_of_order(moves: list[tuple[int, float]], least: int) -> None:
    """Pieces put together are the stream."""
    chunker: Chunker[int] = Chunker(Granularity(Grain(least=least, most=8)))
    now, sent = 0.0, 0
    got: list[int] = []
    for count, passed in moves:
        now += passed
        for _ in range(count):
            chunker.add(sent, now)
            sent += 1
        got.extend(chunker.take(now))
    chunker.end()
    while piece := chunker.take(now):
        got.extend(piece)
    assert got == list(range(sent))


@pytest.mark.parametrize(
    "wrong",
    [{"least": 0}, {"most": 0}, {"idle_below": 0.95}, {"factor": 1.0}, {"hold_seconds": -1.0}, {"memory_seconds": 0.0}],
)
def test_rules_out_of_range(wrong: dict[str, Any]) -> None:
    """Each is refused."""
    with pytest.raises(ConfigurationError):
        Grain(**wrong)
