"""The worker, in this process, on a real queue and table: each message ends in one way, and none is done twice."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.aws.messages import body_of
from langgraph_prefetch.aws.worker import Worker, WorkerSettings
from langgraph_prefetch.breaker import BreakerRule
from langgraph_prefetch.jobs import Form, Held, HeldState, Job
from langgraph_prefetch.testing.local_aws import LocalAws
from langgraph_prefetch.values import Output
from tests.aws.parts import PATIENCE, Faults, Place, until

_numbers = count()
QUICK = WorkerSettings(wait_seconds=1, visibility_seconds=30, drain_seconds=60)
VISIBILITIES = (2, 6, 18)
"""Seconds that a claim lasts where its end has to be waited for. A longer one is tried where the machine was too busy
for the shorter: what is to hold for every length has to hold for one of them."""


class Backend:
    """Searches as it is told, and counts."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.let_go = threading.Event()
        self.let_go.set()

    def __call__(self, job: Job) -> Output:
        query = job.arguments["query"]
        self.begun.append(query)
        assert self.let_go.wait(300)
        if "raises always" in query or ("raises once" in query and self.begun.count(query) == 1):
            raise ConnectionError("the backend is away")
        if "unportable" in query:
            return Output(object())
        if "large" in query:
            return Output("x" * 5_000_000)
        return Output(f"about {query}")


@pytest.fixture
def backend() -> Backend:
    return Backend()


class Sender:
    """Sends messages as an agent's executor does, or worse ones."""

    def __init__(self, place: Place) -> None:
        self.place, self.cache = place, place.cache(lookup_seconds=PATIENCE)
        self._client = place.aws.client("sqs")

    def job(self, query: str, **changes: Any) -> Job:
        name = f"{query}-{next(_numbers)}"
        job = Job(
            id=name,
            generation="1",
            tool="search",
            form=Form.MESSAGE,
            arguments={"query": query},
            deadline=self.cache.now() + 300,
            keep_seconds=600.0,
        )
        return replace(job, **changes)

    def send(self, *jobs: Job) -> None:
        for job in jobs:
            self.text(body_of(job))

    def text(self, body: str) -> None:
        self._client.send_message(QueueUrl=self.place.queue, MessageBody=body)

    async def ended(self, job: Job) -> Held:
        return await asyncio.wait_for(self.cache.wait(job, lambda _: None), 120)


@pytest.fixture
def sender(place: Place) -> Sender:
    return Sender(place)


@asynccontextmanager
async def working(
    place: Place, backend: Any, settings: WorkerSettings = QUICK, cache: DynamoDBCache | None = None
) -> AsyncIterator[Worker]:
    reach = place.aws.reach()
    worker = await asyncio.to_thread(lambda: Worker(place.queue, cache or place.cache(), backend, settings, **reach))
    await asyncio.to_thread(worker.check)
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    try:
        yield worker
    finally:
        stop.set()
        await running
        worker.close()


async def eventually(condition: Callable[[], object]) -> None:
    await asyncio.to_thread(until, condition, 120)


def adds_up(worker: Worker) -> bool:
    values = worker.counters.values()
    ends = ("served", "failed", "expired", "duplicate", "unreadable", "retried", "returned", "lost", "held")
    return values["received"] == sum(values[name] for name in ends)


async def test_a_batch_with_bad_messages(make_place: Callable[..., Place], backend: Backend) -> None:
    """Of ten, seven are good and done once; two cannot be read and one raises: those end in the dead-letter queue."""
    place = make_place(most_receives=2)
    sender = Sender(place)
    good = [sender.job(f"good {number}") for number in range(7)]
    poison = sender.job("raises always")
    sender.text("this is no JSON")
    sender.text(json.dumps({"v": 99, "id": "x"}))
    sender.send(poison, *good)
    async with working(place, backend) as worker:
        for job in good:
            assert (await sender.ended(job)).output == Output(f"about {job.arguments['query']}")
        assert (await sender.ended(poison)).reason == "ConnectionError"
        await eventually(lambda: place.waiting(place.dead) == 3)
        await eventually(lambda: place.waiting(place.queue) == 0)
    assert sorted(backend.begun) == sorted(["raises always"] * 2 + [f"good {number}" for number in range(7)])
    assert adds_up(worker), worker.counters.values()


async def test_a_search_that_raises_once_is_tried_again(place: Place, sender: Sender, backend: Backend) -> None:
    """A fault that passes costs an attempt, not the search."""
    job = sender.job("raises once")
    sender.send(job)
    async with working(place, backend) as worker:
        assert (await sender.ended(job)).output == Output("about raises once")
        await eventually(lambda: place.waiting(place.queue) == 0)
    assert worker.counters.values()["retried"] == 1


async def test_duplicates_are_harmless(place: Place, sender: Sender, backend: Backend) -> None:
    """A message that is delivered many times, to two workers, is one search and one result.

    So far as claims last as long as they say: a process that is held up for longer has lost its own.
    """
    for seconds in VISIBILITIES:
        job = sender.job(f"delivered often {seconds}")
        query = job.arguments["query"]
        sender.send(*[job] * 8)
        settings = replace(QUICK, visibility_seconds=seconds)
        async with working(place, backend, settings) as one, working(place, backend, settings) as other:
            assert (await sender.ended(job)).state is HeldState.READY
            await eventually(lambda: place.waiting(place.queue) == 0)
        assert adds_up(one)
        assert adds_up(other)
        if backend.begun.count(query) == 1:
            return
    pytest.fail("searched again and again, however long a claim lasts")


async def test_over_another_server(second_opinion: LocalAws, backend: Backend) -> None:
    """Queue, claims, results and dead letters by another implementation of the protocols."""
    queue, dead = second_opinion.make_queue(most_receives=2)
    place = Place(second_opinion, second_opinion.make_table(), queue, dead)
    sender = Sender(place)
    jobs = [sender.job(f"second {number}") for number in range(4)]
    sender.send(*jobs)  # no duplicates: this server does not check and write in one step
    sender.text("this is no JSON")
    async with working(place, backend) as worker:
        for job in jobs:
            assert (await sender.ended(job)).output == Output(f"about {job.arguments['query']}")
        await eventually(lambda: place.waiting(place.dead) == 1 and place.waiting(place.queue) == 0)
    assert sorted(backend.begun) == [f"second {number}" for number in range(4)]
    assert adds_up(worker), worker.counters.values()


async def test_late_work_is_dropped(place: Place, sender: Sender, backend: Backend) -> None:
    """After its deadline a message is deleted; a search that runs into it is told as failed."""
    backend.let_go.clear()
    slow = sender.job("late", deadline=sender.cache.now() - 1)
    sender.send(slow)
    async with working(place, backend) as worker:
        await eventually(lambda: worker.counters.values()["expired"] == 1)
        for number, seconds in enumerate((2, 8, 32), start=2):  # until the worker has begun one in time
            slow = sender.job("slow", deadline=sender.cache.now() + seconds)
            sender.send(slow)
            await eventually(lambda number=number: worker.counters.values()["expired"] == number)  # type: ignore[misc]
            if backend.begun:
                break
        assert (await sender.ended(slow)).reason == "it did not end in time"
        await eventually(lambda: place.waiting(place.queue) == 0)
        backend.let_go.set()
    assert backend.begun == ["slow"]
    assert place.waiting(place.dead) == 0


@pytest.mark.slow
async def test_a_search_longer_than_the_visibility(place: Place, sender: Sender, backend: Backend) -> None:
    """Message and claim are extended while it runs: it comes to no second worker, and none begins it."""
    for seconds in VISIBILITIES:
        job = sender.job(f"long {seconds}")
        query = job.arguments["query"]
        backend.let_go.clear()
        sender.send(job)
        settings = replace(QUICK, visibility_seconds=seconds)
        async with working(place, backend, settings) as one, working(place, backend, settings) as other:
            await eventually(lambda query=query: query in backend.begun)  # type: ignore[misc]
            await asyncio.sleep(2.5 * seconds)
            backend.let_go.set()
            assert (await sender.ended(job)).state is HeldState.READY
            await eventually(lambda: place.waiting(place.queue) == 0)
        received = one.counters.values()["received"] + other.counters.values()["received"]
        if (backend.begun.count(query), received) == (1, 1):
            return
    pytest.fail("it came to another, however long its message and claim last")


async def test_a_search_that_was_given_up_is_stopped(place: Place, sender: Sender) -> None:
    """A running search of a job that nobody wants any more is cancelled at the next extension."""
    began, stopped = asyncio.Event(), asyncio.Event()

    async def search(job: Job) -> Output:
        began.set()
        try:
            await asyncio.sleep(300)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return Output("never")

    job = sender.job("given up")
    sender.send(job)
    async with working(place, search, replace(QUICK, visibility_seconds=3)) as worker:
        await asyncio.wait_for(began.wait(), PATIENCE)
        sender.cache.cancel(job, "given up")
        await asyncio.wait_for(stopped.wait(), PATIENCE)
        await eventually(lambda: worker.counters.values()["lost"] >= 1)
        await eventually(lambda: place.waiting(place.queue) == 0)
    assert place.waiting(place.queue) == 0


@pytest.mark.parametrize("query", ["unportable", "large"])
async def test_a_result_that_cannot_be_kept(place: Place, sender: Sender, backend: Backend, query: str) -> None:
    """It is a failure, told at once, and not tried again."""
    job = sender.job(query)
    sender.send(job)
    async with working(place, backend):
        assert (await sender.ended(job)).state is HeldState.FAILED
        await eventually(lambda: place.waiting(place.queue) == 0)
    assert backend.begun == [query]


async def test_a_throttled_write_does_not_repeat_the_search(place: Place, sender: Sender, backend: Backend) -> None:
    """The result is written when the table takes it."""
    cache = place.cache()
    backend.let_go.clear()
    job = sender.job("throttled")
    sender.send(job)
    async with working(place, backend, cache=cache):
        await eventually(lambda: backend.begun)
        Faults(cache.connection.client, "ProvisionedThroughputExceededException", "UpdateItem", most=2)
        backend.let_go.set()
        assert (await sender.ended(job)).state is HeldState.READY
    assert backend.begun == ["throttled"]


async def test_a_fault_of_the_worker_itself_loses_no_message(
    place: Place, sender: Sender, backend: Backend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The worker goes on, and the message comes again when its time with this worker is over."""
    job = sender.job("comes again")
    sender.send(job)
    async with working(place, backend, replace(QUICK, visibility_seconds=1, attempts=9)) as worker:
        with monkeypatch.context() as broken:
            broken.setattr(worker._handling, "_handled", None)
            await eventually(lambda: "was not handled: TypeError" in caplog.text)
        assert (await sender.ended(job)).output == Output("about comes again")
    assert set(backend.begun) == {"comes again"}


async def test_a_table_that_is_away_wears_no_message_out(place: Place, sender: Sender, backend: Backend) -> None:
    """While the table does not work nothing is taken from the queue; afterwards all is done."""
    cache = place.cache()
    cache.connection.breaker = Guard("dynamodb", BreakerRule(failures=3, open_seconds=0.5))
    calls = ("UpdateItem", "PutItem", "BatchGetItem")
    Faults(cache.connection.client, "InternalServerError", *calls, status=500, most=6)
    jobs = [sender.job(f"waits {number}") for number in range(5)]
    sender.send(*jobs)
    settings = replace(QUICK, concurrency=1, prefetch=0)
    async with working(place, backend, settings, cache) as worker:
        await eventually(lambda: worker.counters.values()["receive_errors"] >= 1)
        for job in jobs:
            assert (await sender.ended(job)).state is HeldState.READY
    assert place.waiting(place.dead) == 0


async def test_stopping_gives_back_what_was_not_begun(place: Place, sender: Sender, backend: Backend) -> None:
    """The search under way ends, its result is kept; the messages behind it are for others at once."""

    async def let_go_as_it_stops() -> None:
        await eventually(lambda: worker.state()["ready"] == "it is stopping")
        backend.let_go.set()

    backend.let_go.clear()
    jobs = [sender.job(f"stop {number}") for number in range(4)]
    sender.send(*jobs)
    async with working(place, backend, replace(QUICK, concurrency=1, prefetch=3)) as worker:
        await eventually(lambda: backend.begun and worker.counters.values()["held"] == 4)
        stopping = asyncio.create_task(let_go_as_it_stops())
    await stopping
    assert len(backend.begun) == 1
    assert worker.counters.values()["returned"] == 3
    assert adds_up(worker), worker.counters.values()
    async with working(place, backend):
        for job in jobs:
            assert (await sender.ended(job)).state is HeldState.READY
    assert len(backend.begun) == 4


async def test_stopping_does_not_wait_for_ever(place: Place, sender: Sender, backend: Backend) -> None:
    """A search that outlives the drain is given up, and its message and claim are free for others."""
    backend.let_go.clear()
    job = sender.job("endless")
    sender.send(job)
    async with working(place, backend, replace(QUICK, drain_seconds=0.2)) as worker:
        await eventually(lambda: backend.begun)
    assert worker.counters.values()["returned"] == 1
    backend.let_go.set()
    async with working(place, backend):
        assert (await sender.ended(job)).state is HeldState.READY
    assert backend.begun == ["endless"] * 2
