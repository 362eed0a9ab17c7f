"""Shared searches that are joined or given up: what comes between a look and its write, over the wire."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.aws.beginnings import Beginnings
from langgraph_prefetch.aws.outputs import pack
from langgraph_prefetch.aws.table import Claim
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.jobs import ABSENT, Held, HeldState
from langgraph_prefetch.values import Output
from tests.aws.parts import Place, shared_job, until

MINE, THEIRS, THIRD = "mine", "theirs", "third"
SECONDS = 60.0
"""Patience; nothing here takes it."""


class Other:
    """Another process, which begins a search and sees to it."""

    def __init__(self, place: Place) -> None:
        self._place, self.cache = place, place.cache()
        self.table, self.job = self.cache.table, shared_job(self.cache, THEIRS)

    def begin(self, generation: str = THEIRS) -> None:
        asked = shared_job(self.cache, generation)
        assert self.table.begin(asked, self.cache.now(), here=False) is ABSENT

    def give_up(self) -> None:
        self.table.cancel(self.job, "given up", unless_joined=True)

    def claim(self) -> None:
        assert self.table.claim(self.job, "a worker", 300, self.cache.now()) is Claim.MINE

    def finish(self) -> None:
        self.claim()
        assert self.table.finish(
            self.job, "a worker", pack(Output("found"), 1_000), began=self.cache.now() - 1, took=0.1
        )

    def fail(self) -> None:
        self.claim()
        assert self.table.fail(self.job, "a worker", "OSError", self.cache.now())

    def vanish(self) -> None:
        key = self.table.key(self.job.id)
        self._place.aws.client("dynamodb").delete_item(TableName=self._place.table, Key={"pk": key})

    def give_way(self) -> None:
        """It gives up, and a third process begins."""
        self.give_up()
        self.begin(THIRD)

    def item(self) -> dict[str, Any]:
        key = self.table.key(self.job.id)
        found: dict[str, Any] = self._place.aws.client("dynamodb").get_item(
            TableName=self._place.table, Key={"pk": key}, ConsistentRead=True
        )["Item"]
        return found


@pytest.fixture
def other(place: Place) -> Iterator[Other]:
    made = Other(place)
    yield made
    made.cache.close()


@pytest.fixture
def cache(place: Place) -> Iterator[DynamoDBCache]:
    made = place.cache()
    yield made
    made.close()


def first_time(cache: DynamoDBCache, operation: str, act: Callable[[], None]) -> None:
    """Before the first call of ``operation`` leaves: ``act``."""
    left = [act]

    def before_send(**_: Any) -> None:
        if left:
            left.pop()()

    cache.connection.client.meta.events.register(f"before-send.dynamodb.{operation}", before_send)


def looked(cache: DynamoDBCache, generation: str = MINE) -> Held:
    return cache.table.begin(shared_job(cache, generation), cache.now(), here=False)


@pytest.mark.parametrize(
    ("between", "state", "generation"),
    [
        (Other.give_up, HeldState.ABSENT, ""),
        (Other.vanish, HeldState.ABSENT, ""),
        (Other.claim, HeldState.PENDING, THEIRS),
        (Other.finish, HeldState.READY, THEIRS),
        (Other.fail, HeldState.FAILED, THEIRS),
        (Other.give_way, HeldState.PENDING, THIRD),
    ],
)
def test_what_comes_between_a_look_and_its_mark(
    cache: DynamoDBCache, other: Other, between: Callable[[Other], None], state: HeldState, generation: str
) -> None:
    """The joiner is told what holds when it has joined; where nothing does, the search that stands there is its own."""
    other.begin()
    first_time(cache, "UpdateItem", lambda: between(other))
    held = looked(cache)
    assert (held.state, held.generation) == (state, generation)
    item = other.item()
    assert item["gen"]["S"] == (generation or MINE)
    assert ("joined" in item) == (state is HeldState.PENDING)
    if state is HeldState.PENDING:
        cache.table.cancel(shared_job(cache, held.generation), "given up", unless_joined=True)
        assert other.item()["state"]["S"] == "pending"


def test_a_mark_that_comes_before_the_call_off(cache: DynamoDBCache, other: Other) -> None:
    """The run has ended and its cancel is on its way when another process joins: the search goes on."""
    other.begin()
    first_time(other.cache, "UpdateItem", lambda: joined.append(looked(cache)))
    joined: list[Held] = []
    other.give_up()
    assert [held.generation for held in joined] == [THEIRS]
    other.finish()
    assert looked(cache, THIRD).output == Output("found")


def test_a_worker_that_takes_it_up_keeps_the_mark(cache: DynamoDBCache, other: Other) -> None:
    """Claimed, given back for another attempt, and claimed again: who joined at the start still counts."""
    other.begin()
    looked(cache)
    for _ in range(2):
        other.claim()
        assert other.table.release(other.job, "a worker")
    other.claim()
    other.give_up()
    assert other.table.extend(other.job, "a worker", 300, other.cache.now())


def test_a_worker_loses_what_was_given_up(other: Other) -> None:
    """Its next extension says so, and the result that it brings all the same is not taken."""
    other.begin()
    other.claim()
    other.give_up()
    assert not other.table.extend(other.job, "a worker", 300, other.cache.now())
    assert not other.table.finish(other.job, "a worker", pack(Output("late"), 1_000), began=other.cache.now(), took=0.1)


def test_an_old_call_off_ends_no_later_search(cache: DynamoDBCache, other: Other) -> None:
    """One that arrives when the search stands there for another dispatch does nothing."""
    other.begin()
    other.give_up()
    assert looked(cache) is ABSENT
    other.give_up()
    assert (other.item()["gen"]["S"], other.item()["state"]["S"]) == (MINE, "pending")


def test_what_joining_costs(place: Place, cache: DynamoDBCache, other: Other) -> None:
    """One write, of the first who joins a worker's search; nothing for a result, or where nothing is called off."""
    calls: Counter[str] = Counter()

    def count(request: Any, event_name: str, **_: Any) -> None:
        calls[event_name.rpartition(".")[2]] += 1

    def cost() -> dict[str, int]:
        now = dict(calls)
        calls.clear()
        return now

    cache.connection.client.meta.events.register("before-send.dynamodb", count)
    other.begin()
    assert (looked(cache).state, cost()) == (HeldState.PENDING, {"BatchGetItem": 1, "UpdateItem": 1})
    assert (looked(cache).state, cost()) == (HeldState.PENDING, {"BatchGetItem": 1})
    other.finish()
    assert (looked(cache).state, cost()) == (HeldState.READY, {"BatchGetItem": 1})
    other.vanish()
    assert other.table.begin(other.job, other.cache.now(), here=True) is ABSENT
    assert (looked(cache).state, cost()) == (HeldState.PENDING, {"BatchGetItem": 1})


async def test_a_call_off_comes_after_what_it_calls_off(place: Place, other: Other) -> None:
    """The run ends while its beginning is on its way into the table, where it arrives last."""
    cache = place.cache()
    at_it, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        at_it.set()
        assert go_on.wait(SECONDS)

    first_time(cache, "PutItem", hold)
    beginning = asyncio.create_task(cache.begin(other.job))
    assert await asyncio.to_thread(at_it.wait, SECONDS)
    beginning.cancel()
    await asyncio.wait([beginning])
    cache.cancel(other.job, "given up", unless_joined=True)
    await asyncio.to_thread(until, lambda: cache.connection.threads.unfinished == 1)  # the beginning: nothing overtakes
    go_on.set()
    await asyncio.to_thread(until, lambda: cache.connection.threads.unfinished == 0, SECONDS)
    assert other.item()["state"]["S"] == "cancelled"
    cache.close()


@pytest.mark.parametrize(("held", "called"), [(ABSENT, True), (Held(state=HeldState.READY), False), (OSError(), True)])
async def test_what_may_have_been_begun_is_called_off(held: Held | OSError, called: bool) -> None:
    """What was another's, or was there already, needs no write."""
    beginnings, go_on, told = Beginnings(threads := Threads("test", 1)), threading.Event(), list[str]()

    def begin() -> Held:
        assert go_on.wait(SECONDS)
        if isinstance(held, OSError):
            raise held
        return held

    beginning = asyncio.ensure_future(beginnings.run("mine", begin))
    await asyncio.sleep(0)
    beginnings.after("mine", lambda: told.append("called off"))
    assert told == []
    go_on.set()
    await asyncio.gather(beginning, return_exceptions=True)
    await asyncio.to_thread(until, lambda: threads.unfinished == 0)
    assert bool(told) == called
    beginnings.after("mine", lambda: told.append("at once"))
    assert told[-1] == "at once"
    threads.close()


async def test_what_was_never_begun_is_not_called_off() -> None:
    """Cancelled while it still waited for a thread."""
    beginnings, go_on, told = Beginnings(threads := Threads("test", 1)), threading.Event(), list[str]()
    threads.submit(lambda: go_on.wait(SECONDS))
    beginning = asyncio.ensure_future(beginnings.run("mine", lambda: ABSENT))
    await asyncio.sleep(0)
    beginnings.after("mine", lambda: told.append("called off"))
    beginning.cancel()
    await asyncio.wait([beginning])
    go_on.set()
    await asyncio.to_thread(until, lambda: threads.unfinished == 0)
    assert told == []
    threads.close()
