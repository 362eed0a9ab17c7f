"""A hundred early searches through slow services, while an agent streams on the same loop: nothing holds it up."""

import asyncio
import concurrent.futures
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import Place
from tests.aws.test_agents import QUESTION, agent_of

SEARCHES, BACKEND_SECONDS, MOST_LAG_SECONDS = 100, 0.5, 0.05
QUEUE_THREADS, TABLE_THREADS = 4, 6


class LoopsOwnPool(concurrent.futures.ThreadPoolExecutor):
    """The pool that the host's calls share, and who used it."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self.used: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        self.used.append(repr(fn))
        return super().submit(fn, *args, **kwargs)


class Slow:
    """Makes each call of some clients take its time, on the way out; counts how many did so at once."""

    def __init__(self, *clients: Any) -> None:
        self.calls: dict[str, int] = {}
        self._lock = threading.Lock()
        for client in clients:
            client.meta.events.register("before-send", self._before_send)

    def _before_send(self, **_: Any) -> None:
        thread = threading.current_thread().name
        with self._lock:
            self.calls[thread] = self.calls.get(thread, 0) + 1
        time.sleep(BACKEND_SECONDS)


@contextmanager
def turns() -> Iterator[list[float]]:
    """Processor seconds of this thread in each turn of the running loop: a lag that no other process adds to.

    That nothing sleeps or waits in a turn, the guard of all tests sees to.
    """
    taken = list[float]()

    async def tick() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            taken.append(time.thread_time() - before)
            await asyncio.sleep(0.001)

    task = asyncio.get_running_loop().create_task(tick())
    gc.disable()  # what the tests before this one have left is none of the loop's work
    try:
        yield taken
    finally:
        gc.enable()
        task.cancel()


@pytest.fixture
def services(place: Place) -> Iterator[tuple[SQSExecutor, DynamoDBCache]]:
    executor = place.executor(connections=QUEUE_THREADS)
    cache = place.cache(connections=TABLE_THREADS, lookup_seconds=0.2)
    yield executor, cache
    executor.close()
    cache.close()


async def streamed(agent: Any) -> int:
    return len([piece async for piece in agent.astream(QUESTION, stream_mode="messages")])


async def test_a_hundred_searches_hold_up_no_loop(
    services: tuple[SQSExecutor, DynamoDBCache], caplog: pytest.LogCaptureFixture
) -> None:
    """Calls of boto3 wait on a few threads of our own; the loop, and the pool that the host shares, have none of it."""
    executor, cache = services
    pool = LoopsOwnPool()
    asyncio.get_running_loop().set_default_executor(pool)
    machine = Machine(searching.search, executor=executor, cache=cache)
    bare = agent_of("bare", searching.documents, seconds=0.005)
    wrapped = with_prefetch(
        agent_of("streaming", searching.documents, seconds=0.005), ["documents"], executor=executor, cache=cache
    )
    expected = await streamed(bare)  # and what is imported or made at the first run is there
    first = machine.run()
    first.seal("the first of all")
    used = len(pool.used)
    slow = Slow(executor.connection.client, cache.connection.client)
    with turns() as taken:
        streaming = asyncio.create_task(streamed(wrapped))
        runs = [machine.run() for _ in range(SEARCHES)]  # kept: a run that is forgotten is over
        for number, run in enumerate(runs):
            run.seal(f"{number} of many")
            await asyncio.sleep(0)
        assert await streaming == expected
        for _ in range(6_000):
            if sum(executor.counts().values()) > SEARCHES:
                break
            await asyncio.sleep(0.01)
    assert executor.counts()["sent"] > SEARCHES, "with that of the agent, and of the first of all"
    assert executor.counts()["not_sent"] == 0
    assert max(taken) < MOST_LAG_SECONDS
    assert pool.used[used:] == []
    on_queue = [name for name in slow.calls if name.startswith("langgraph-prefetch-sqs")]
    assert 1 < len(on_queue) <= QUEUE_THREADS
    assert all(name.startswith("langgraph-prefetch-") for name in slow.calls), slow.calls
    for connection, threads in ((executor.connection, QUEUE_THREADS), (cache.connection, TABLE_THREADS)):
        assert connection.client.meta.config.max_pool_connections >= threads
    assert "pool is full" not in caplog.text
    assert len({first, *runs}) == SEARCHES + 1
    machine.close()
