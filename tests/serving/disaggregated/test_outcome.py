"""What a run of cache loading came to, by a run small enough to count."""

import pytest

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.disaggregated.hardware import Turn
from langgraph_prefetch.serving.disaggregated.outcome import LoadingResult, Served

TURN = Turn(1_000, 10, 5)


def result(**given: object) -> LoadingResult:
    """Ten turns, asked for every second and done four seconds later; two nodes read."""
    served = tuple(Served(asked_at=at, first_at=at + 1 + at / 10, done_at=at + 4, turn=TURN) for at in range(10))
    values: dict[str, object] = {
        "cluster": "1P1D",
        "model": "m",
        "loading": "basic",
        "seconds": 20.0,
        "served": served,
        "agent_seconds": (13.0,),
        "utilisation": {"storage": 0.4, "prefill": 0.5, "memory": 0.1},
        "reads": {"P0": ((0.0, 20.0, 2_000.0),), "D0": ((0.0, 20.0, 1_000.0),)},
    }
    return LoadingResult(**{**values, **given})  # type: ignore[arg-type]


def test_throughput_is_counted_until_a_share_of_the_turns_is_done() -> None:
    """The rest is a tail, which the whole run's rate has in it."""
    found = result()
    assert found.turns_per_second == 10 / 20
    assert found.throughput() == 8 / 11
    assert found.throughput(1.0) == 10 / 13
    assert found.throughput(0.01) == 1 / 4
    for share in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(SimulationError, match="share"):
            found.throughput(share)


def test_the_time_to_the_first_token_is_of_those_asked_for_within_a_part_of_the_run() -> None:
    """Its ends included; none of nothing."""
    found = result()
    assert found.seconds_to_first_token() == pytest.approx(1.45)
    assert found.seconds_to_first_token(0.1, 0.2) == pytest.approx(1.3)
    assert found.seconds_to_first_token(0.6, 0.9) == 0.0


def test_what_is_used_most_limits_and_below_a_half_nothing_does() -> None:
    """Then agents only wait for their own tokens."""
    assert result().limiting_resource == "prefill"
    assert result(utilisation={"storage": 0.49}).limiting_resource == "agents' own decoding"


def test_balance_is_the_most_over_the_mean_of_each_second() -> None:
    """What is read over several seconds counts in each of them; a second in which nothing is read counts in none."""
    assert result().storage_imbalance() == pytest.approx(2_000 / 1_500)
    one = ((2.0, 3.0, 500.0), (3.5, 4.5, 400.0))
    other = ((2.0, 3.0, 500.0), (8.0, 9.0, 10.0))
    found = result(reads={"P0": one, "D0": other})
    assert found.storage_imbalance() == pytest.approx((1 + 2 + 2 + 2) / 4), "seconds 2, 3, 4 and 8"
    assert found.storage_imbalance(begin=0.1, end=0.2) == pytest.approx(2.0), "second 3 alone"
    assert found.storage_imbalance(window_seconds=2.0, end=0.25) == pytest.approx(700 / 600)
    assert result(reads={"P0": (), "D0": ()}).storage_imbalance() == 1.0
    for window in (0.0, -1.0, float("nan")):
        with pytest.raises(SimulationError, match="window_seconds"):
            found.storage_imbalance(window_seconds=window)


def test_windows_end_where_they_end_whatever_a_floats_last_digit_says() -> None:
    """58 hundredths divided by one are 57.99 to a float, and the 58th window ends there."""
    at = 58 * 0.01
    assert int(at / 0.01) == 57
    found = result(seconds=1.0, reads={"P0": ((at, 0.585, 1.0),), "D0": ((0.581, 0.586, 1.0),)})
    assert found.storage_imbalance(window_seconds=0.01, begin=0.0, end=1.0) == pytest.approx(1.0)
