"""Who waits at a pool, and which replica serves whom."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from langgraph_prefetch.errors import ConfigurationError, QueueFullError
from langgraph_prefetch.serving.queueing.desk import Desk, Serving
from langgraph_prefetch.serving.queueing.policies import EarliestDeadline, FirstCome
from langgraph_prefetch.serving.queueing.waiting import Waiting


def waiting(name: str, at: float = 0.0, *, speculative: bool = False) -> Waiting:
    return Waiting(request_id=name, stage="s", arrived_at=at, queued_at=at, speculative=speculative)


def served(desk: Desk, now: float = 0.0) -> list[Serving]:
    """All that can begin."""
    found = []
    while (serving := desk.serve(now)) is not None:
        found.append(serving)
    return found


def test_replicas_serve_as_many_as_they_can_at_once() -> None:
    """The others wait for a place."""
    desk = Desk("p", policy=FirstCome(), replicas=2, concurrency=2)
    for name in "abcde":
        desk.join(waiting(name))
    first = served(desk)
    assert [each.waiting.request_id for each in first] == list("abcd")
    assert sorted(each.replica for each in first) == [0, 0, 1, 1]
    desk.done(first[0])
    assert [each.waiting.request_id for each in served(desk)] == ["e"]


def test_a_full_queue_refuses_and_refuses_speculation_earlier() -> None:
    """What would wait in vain is told at once."""
    desk = Desk("p", policy=FirstCome(), replicas=0, max_waiting=4)
    for name in "ab":
        desk.join(waiting(name))
    with pytest.raises(QueueFullError, match="pool 'p': 2 requests wait already"):
        desk.join(waiting("s", speculative=True))
    for name in "cd":
        desk.join(waiting(name))
    with pytest.raises(QueueFullError, match="4 requests"):
        desk.join(waiting("e"))
    assert desk.pressure(1.0).refused == 2


def test_speculation_leaves_the_reserve_free() -> None:
    """Demand finds a place at once, however much is guessed."""
    desk = Desk("p", policy=FirstCome(), replicas=2, demand_reserve=1)
    for name in "ab":
        desk.join(waiting(name, speculative=True))
    assert len(served(desk)) == 1
    desk.join(waiting("c"))
    assert [each.waiting.request_id for each in served(desk)] == ["c"]


def test_stateful_requests_return_to_their_replica() -> None:
    """Even where another is free, until they are forgotten."""
    desk = Desk("p", policy=FirstCome(), replicas=2, stateful=True)
    desk.join(waiting("a"))
    (first,) = served(desk)
    desk.done(first)
    desk.join(waiting("b"))
    (other,) = served(desk)
    assert other.replica == first.replica, "the least loaded, by busy places alone"
    desk.join(waiting("a", 1))
    assert served(desk) == [], "its replica is busy, the other is not its own"
    desk.done(other)
    (again,) = served(desk)
    assert again.replica == first.replica
    desk.done(again)
    desk.forget("a")
    desk.forget("a")


def test_predicted_returns_count_as_load() -> None:
    """A newcomer goes where fewer are expected back."""
    desk = Desk("p", policy=FirstCome(), replicas=2, stateful=True, returns=0.5)
    for name in "abc":
        desk.join(waiting(name))
        (serving,) = served(desk)
        assert serving.replica == {"a": 0, "b": 1, "c": 0}[name]
        desk.done(serving)
    desk.forget("a")
    desk.forget("c")
    desk.join(waiting("d"))
    assert served(desk)[0].replica == 0


def test_shrinking_lets_replicas_end_what_they_have_begun() -> None:
    """A resident's replica stays until the resident has left the flow."""
    desk = Desk("p", policy=FirstCome(), replicas=2, stateful=True)
    for name in "ab":
        desk.join(waiting(name))
    first, second = served(desk)
    desk.resize(0)
    assert (desk.replicas, len(desk.numbers), desk.places) == ((), 2, 0)
    desk.done(first)
    desk.forget("a")
    assert len(desk.numbers) == 1
    desk.join(waiting("c"))
    assert served(desk) == []
    desk.done(second)
    desk.join(waiting("b"))
    (again,) = served(desk)
    assert again.replica == second.replica, "a resident is served by the replica that is on its way out"
    desk.resize(1)
    assert desk.replicas == (second.replica,), "the one on its way out stays instead of a new one"
    desk.done(again)
    assert [each.waiting.request_id for each in served(desk)] == ["c"]


def test_a_lost_replica_loses_its_residents() -> None:
    """They are served by another; what it was serving may be over before or after."""
    desk = Desk("p", policy=FirstCome(), replicas=2, stateful=True)
    desk.join(waiting("a"))
    (serving,) = served(desk)
    desk.lost(serving.replica)
    desk.done(serving)
    desk.join(waiting("a"))
    assert served(desk)[0].replica != serving.replica


def test_places_are_those_of_the_replicas_that_stay() -> None:
    """However they come and go: a pool's load is counted against them."""
    desk = Desk("p", policy=FirstCome(), replicas=3, concurrency=4, stateful=True)
    assert desk.places == 12
    desk.join(waiting("a"))
    (serving,) = served(desk)
    desk.lost(next(number for number in desk.replicas if number != serving.replica))
    assert desk.places == 8
    desk.resize(0)
    desk.resize(1)
    assert (desk.places, desk.numbers) == (4, (serving.replica,)), "the one on its way out stays"
    desk.resize(0)
    desk.lost(serving.replica)
    assert desk.places == 0


def test_requests_of_a_stateless_pool_go_to_whoever_is_free() -> None:
    """And no replica is kept for them."""
    desk = Desk("p", policy=FirstCome(), replicas=2)
    for name in "ab":
        desk.join(waiting(name))
    first, second = served(desk)
    desk.done(second)
    desk.join(waiting("a"))
    assert [each.replica for each in served(desk)] == [second.replica], "not to the busy one that served it first"
    desk.resize(1)
    desk.done(first)
    assert len(desk.numbers) == 1


def test_pressure_counts_from_the_last_time() -> None:
    """How many wait, for how long, and what happened meanwhile."""
    desk = Desk("p", policy=FirstCome(), replicas=1)
    for at, name in enumerate("abc"):
        desk.join(waiting(name, float(at), speculative=name == "c"))
    (serving,) = served(desk, 2.0)
    desk.done(serving)
    told = desk.pressure(5.0)
    assert (told.waiting, told.speculative, told.oldest_seconds, told.busy) == (2, 1, 4.0, 0)
    assert (told.arrived, told.served, told.replicas, told.places) == (3, 1, 1, 1)
    again = desk.pressure(0.0)
    assert (again.arrived, again.served, again.oldest_seconds) == (0, 0, 0.0), (
        "a clock that went back: nobody waits yet"
    )


def test_wrong_sizes() -> None:
    """Each is refused with a reason."""
    wrongs: tuple[dict[str, Any], ...] = (
        {"concurrency": 0},
        {"max_waiting": 0},
        {"demand_reserve": -1},
        {"replicas": -1},
    )
    for wrong in wrongs:
        with pytest.raises(ConfigurationError, match="pool 'p'"):
            Desk("p", policy=FirstCome(), **wrong)


class DeskMachine(RuleBasedStateMachine):
    """Joins, leaves, visits and sizes in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk("p", policy=EarliestDeadline(), replicas=2, concurrency=2, stateful=True, max_waiting=20)
        self.under_way: list[Serving] = []
        self.joined: list[Waiting] = []
        self.homes: dict[str, int] = {}
        self.ended = self.left = self.now = 0

    @rule(name=st.sampled_from("abcdefgh"), speculative=st.booleans())
    def join(self, name: str, speculative: bool) -> None:
        self.now += 1
        request = waiting(name, self.now, speculative=speculative)
        try:
            self.desk.join(request)
        except QueueFullError:
            return
        self.joined.append(request)

    @rule()
    def serve(self) -> None:
        for serving in served(self.desk, self.now):
            name = serving.waiting.request_id
            assert self.homes.setdefault(name, serving.replica) == serving.replica
            self.under_way.append(serving)

    @precondition(lambda self: self.under_way)
    @rule(place=st.integers(0, 100))
    def done(self, place: int) -> None:
        self.desk.done(self.under_way.pop(place % len(self.under_way)))
        self.ended += 1

    @precondition(lambda self: self.desk.waiting)
    @rule(place=st.integers(0, 100))
    def leave(self, place: int) -> None:
        request = self.desk.waiting[place % len(self.desk.waiting)]
        assert self.desk.leave(request)
        assert not self.desk.leave(request)
        self.left += 1

    @rule(replicas=st.integers(0, 4))
    def resize(self, replicas: int) -> None:
        self.desk.resize(replicas)
        assert len(self.desk.replicas) == replicas

    @rule(name=st.sampled_from("abcdefgh"))
    def forget(self, name: str) -> None:
        busy = [each.waiting.request_id for each in self.under_way]
        if name not in busy:
            self.desk.forget(name)
            self.homes.pop(name, None)

    @invariant()
    def nobody_is_lost(self) -> None:
        assert len(self.joined) == len(self.desk.waiting) + len(self.under_way) + self.ended + self.left
        assert self.desk.busy == len(self.under_way)
        for number in self.desk.numbers:
            assert sum(each.replica == number for each in self.under_way) <= 2


TestDesk = DeskMachine.TestCase
