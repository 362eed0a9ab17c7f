"""Which way requests went, read off the visits alone."""

import pytest

from langgraph_prefetch.events import Event, RunStarted, StageVisited
from langgraph_prefetch.serving.flow.values import END, START
from langgraph_prefetch.serving.flow.visits import moves_of, seen_in


def visit(stage: str, number: int, round_: int | None = None, **fields: object) -> StageVisited:
    values: dict[str, object] = {
        "at": float(number),
        "request_id": "r",
        "visit": number,
        "waited_seconds": 0.0,
        "service_seconds": 0.5,
        "round": round_,
    }
    return StageVisited(stage=stage, **{**values, **fields})  # type: ignore[arg-type]


def test_visits_without_rounds_follow_each_other() -> None:
    """Pools tell in which order a request went, whatever the order of the events."""
    moves = moves_of([visit("b", 2), visit("a", 1), visit("a", 3)])
    assert moves == {(START, "a"): 1, ("a", "b"): 1, ("b", "a"): 1, ("a", END): 1}


def test_a_fan_out_multiplies_and_a_join_takes_its_part_of_each() -> None:
    """Three branches of one visit are three moves; the visit that joins them is a third of a move from each."""
    moves = moves_of([visit("map", 1, 1), *(visit("work", n, 2) for n in (2, 3, 4)), visit("join", 5, 3)])
    assert moves["map", "work"] == 3
    assert moves["work", "join"] == pytest.approx(1)
    assert sum(count for (source, _), count in moves.items() if source == "work") == pytest.approx(1)


def test_the_graph_tells_which_branch_is_followed() -> None:
    """Of two that ran side by side, only the one with an edge leads there; the other one ends."""
    edges = {(START, "a"), (START, "b"), ("a", "c"), ("c", END), ("b", END)}
    visits = [visit("a", 1, 1), visit("b", 2, 1), visit("c", 3, 2)]
    assert moves_of(visits, edges) == {
        (START, "a"): 1,
        (START, "b"): 1,
        ("a", "c"): 1,
        ("b", END): 1,
        ("c", END): 1,
    }
    assert moves_of(visits)["b", "c"] == 0.5


def test_a_join_waits_for_the_branch_that_was_done_early() -> None:
    """A branch that ended two rounds before counts as followed by the join, not as ended."""
    edges = {("fork", "short"), ("fork", "long"), ("long", "longer"), ("longer", "join"), ("short", "join")}
    moves = moves_of(
        [visit("fork", 1, 1), visit("short", 2, 2), visit("long", 3, 2), visit("longer", 4, 3), visit("join", 5, 4)],
        edges,
    )
    assert moves["short", "join"] == moves["longer", "join"] == 0.5
    assert ("short", END) not in moves


def test_an_attempt_after_a_failure_is_a_move_to_itself() -> None:
    """The load of a stage that is retried is that of all attempts, and what comes next follows the last one."""
    moves = moves_of([visit("a", 1, 1, failed=True), visit("a", 2, 1), visit("b", 3, 2)])
    assert moves == {(START, "a"): 1, ("a", "a"): 1, ("a", "b"): 1, ("b", END): 1}


def test_requests_of_several_recordings_are_told_apart() -> None:
    """Requests are put together by their id, in whatever order files come; events of other kinds are passed over."""
    events: list[Event] = [
        RunStarted(run_id="x", at=0.0),
        visit("a", 1, request_id="one"),
        visit("a", 1, request_id="two", failed=True),
        visit("b", 2, request_id="one"),
    ]
    seen = seen_in(events)
    assert seen.requests == 2
    assert seen.moves == {(START, "a"): 2, ("a", "b"): 1, ("a", END): 1, ("b", END): 1}
    assert seen.seconds == {"a": [0.5, 0.5], "b": [0.5]}
    assert seen.failed["a"] == 1


def test_no_more_visits_are_read_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without end costs bounded memory, and what was left out is counted."""
    monkeypatch.setattr("langgraph_prefetch.serving.flow.visits.MAX_VISITS", 2)
    seen = seen_in([visit("a", number, request_id=str(number)) for number in range(5)])
    assert (seen.requests, seen.left_out) == (2, 3)
