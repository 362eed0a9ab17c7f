"""Starts that compute begin in turn where that is sooner, and nothing waits for long that should not."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ColdError, ConfigurationError
from langgraph_prefetch.serving.warmup import Warmer
from langgraph_prefetch.serving.warmup.turns import begin_after, shared_seconds
from tests.serving.warmup.parts import Startable

HOURS = {"grader": 30_000.0, "embedder": 9_000.0, "search": 3_000.0}
"""Seconds that no test lives to see: what begins does so for another reason."""


def test_the_longest_begins_first_and_the_shortest_behind_another() -> None:
    """In closed form: at once after a + c/2, in turn after max(a, b + c)."""
    assert begin_after({"c": 0.25, "a": 3.0, "b": 1.0}, 2) == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert shared_seconds({"c": 0.25, "a": 3.0, "b": 1.0}, 2) == pytest.approx(3.125)


@pytest.mark.parametrize("seconds", [(4.0, 4.0, 4.0), (3.0, 3.0), (3.0, 2.9, 1.0), (0.0, 0.0, 0.0), ()])
def test_at_once_where_turns_would_gain_nothing(seconds: tuple[float, ...]) -> None:
    """Three that are equal would take a third longer in turn, and two have a processor each."""
    assert set(begin_after({str(n): each for n, each in enumerate(seconds)}, 2).values()) <= {0.0}


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8), st.integers(1, 4))
def test_never_later_than_at_once(lengths: list[int], processors: int) -> None:
    """And the longest never waits; in turn, no more of them run at a time than there are processors."""
    seconds = {str(n): each / 1e3 for n, each in enumerate(lengths)}
    begins, shared = begin_after(seconds, processors), shared_seconds(seconds, processors)
    assert shared >= max(*seconds.values(), sum(seconds.values()) / processors) * (1 - 1e-9)
    assert shared <= sum(seconds.values()) * (1 + 1e-9)
    assert begins[max(seconds, key=lambda each: seconds[each])] == 0.0
    if any(begins.values()):
        assert max(begins[name] + seconds[name] for name in seconds) < shared
        for now in begins.values():
            assert sum(begins[name] <= now < begins[name] + seconds[name] for name in seconds) <= processors


class Told(Startable):
    """Tells that it begins; is warm when it is let."""

    def __init__(self, let: threading.Event | None = None) -> None:
        super().__init__()
        self.begun, self.let = threading.Event(), let

    def warm(self) -> None:
        self.begun.set()
        if self.let is not None:
            assert self.let.wait(30)
        super().warm()


def test_the_next_begins_when_one_has_ended() -> None:
    """Long before its time, and not before."""
    let = {name: threading.Event() for name in HOURS}
    parts = {name: Told(let[name]) for name in HOURS}
    with Warmer(parts, computing=HOURS, processors=2) as warmer:
        started = warmer.warm(parts)
        assert parts["grader"].begun.wait(30)
        assert parts["embedder"].begun.wait(30)
        assert not parts["search"].begun.is_set()
        let["embedder"].set()
        assert parts["search"].begun.wait(30)
        for each in let.values():
            each.set()
        for future in started.values():
            future.result(30)
    assert [each.started for each in parts.values()] == [1, 1, 1]


@pytest.mark.parametrize("how", ["failed", "warm"])
def test_one_that_needs_no_processor_any_more_lets_the_next_begin(how: str) -> None:
    """It did not start, or was warm all along."""
    let = threading.Event()
    parts = {"grader": Told(let), "embedder": Told(), "search": Told()}
    parts["embedder"].failing = how == "failed"
    parts["embedder"].warm_now = how == "warm"
    with Warmer(parts, computing=HOURS, processors=2) as warmer:
        warmer.warm(parts)["search"].result(30)
        let.set()


def test_a_start_that_hangs_holds_no_other_up() -> None:
    """All three pass the barrier only together: the third begins at its time, whatever became of the others."""
    together = threading.Barrier(3)
    parts = {name: Startable(together) for name in HOURS}
    with Warmer(parts, computing={name: each / 1e6 for name, each in HOURS.items()}, processors=2) as warmer:
        for future in warmer.warm(parts).values():
            future.result(30)


def test_what_waits_for_something_else_than_a_processor_begins_at_once() -> None:
    """Only starts that are said to compute take turns, and only with those that are asked for with them."""
    let = threading.Event()
    parts = {**{name: Told(let) for name in HOURS}, "weights": Told()}
    with Warmer(parts, computing=HOURS, processors=2) as warmer:
        started = warmer.warm(["grader", "embedder", "weights"])
        started["weights"].result(30)
        alone = warmer.warm(["search"])
        assert parts["search"].begun.wait(30)
        let.set()
        alone["search"].result(30)


def test_what_waits_for_its_turn_is_not_started_when_the_warmer_closes() -> None:
    """It is told so."""
    let = threading.Event()
    parts = {name: Told(let) for name in HOURS}
    warmer = Warmer(parts, computing=HOURS, processors=2)
    waiting = warmer.warm(parts)["search"]
    assert parts["embedder"].begun.wait(30)
    closing = threading.Thread(target=warmer.close)
    closing.start()
    while not warmer._closed:
        closing.join(0.001)
    let.set()
    closing.join(30)
    with pytest.raises(ColdError, match="its warmer is closed"):
        waiting.result(30)
    assert parts["search"].started == 0


@pytest.mark.parametrize(
    ("computing", "processors", "says"),
    [
        ({"gradr": 1.0}, 2, "Did you mean 'grader'"),
        ({"grader": -1.0}, 2, "seconds that a start computes"),
        ({"grader": float("nan")}, 2, "seconds that a start computes"),
        ({"grader": 1.0}, 0, "processors from 1 on"),
    ],
)
def test_wrong_numbers_are_refused(computing: dict[str, float], processors: int, says: str) -> None:
    """When it is made."""
    with pytest.raises(ConfigurationError, match=says):
        Warmer({"grader": Startable()}, computing=computing, processors=processors)
