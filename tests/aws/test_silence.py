"""Whatever the table does while a call waits for a worker's search, the call waits no longer than for one look."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.aws.messages import job_of
from langgraph_prefetch.aws.outputs import pack
from langgraph_prefetch.breaker import BreakerRule
from langgraph_prefetch.jobs import Job
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import Place, until
from tests.aws.wire import Mode, Wire

BAD = [each for each in Mode if each is not Mode.PASS]
PATIENT: dict[str, Any] = {"max_wait_seconds": 300.0, "max_age_seconds": 300.0}
"""Without a bound of its own the call would wait for longer than the test may take."""


class Waiting:
    """An agent whose search a worker has begun; between the agent and the table there is a wire."""

    def __init__(self, place: Place, wire: Wire, lookup_seconds: float) -> None:
        self.table = place.cache()
        reach = place.aws.reach() | {"endpoint_url": wire.url}
        self.cache = DynamoDBCache(place.table, lookup_seconds=lookup_seconds, **reach)
        # The bound is the call's own: it holds long before, and without, anybody's knowing that the table is away.
        self.cache.connection.breaker = Guard("dynamodb", BreakerRule(failures=1_000))
        self.machine = Machine(searching.search, executor=place.executor(), cache=self.cache, **PATIENT)
        self.run = self.machine.run()
        self.run.seal("waited for")
        client = place.aws.client("sqs")
        (message,) = client.receive_message(QueueUrl=place.queue, WaitTimeSeconds=20)["Messages"]
        self.job: Job = job_of(message["Body"])
        self.table.table.claim(self.job, "a worker", 300, self.table.now())
        self.run.until(FlightState.RUNNING)

    def call(self) -> SearchCall:
        return self.run.call("waited for")

    @contextmanager
    def calling(self, form: str) -> Iterator[tuple[SearchCall, list[Output | None]]]:
        """A call that waits while the block runs; afterwards its answer is there."""
        call, answers = self.call(), list[Output | None]()

        def wait() -> None:
            answers.append(call.answer() if form == "thread" else asyncio.run(call.aanswer()))

        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: answers or any(each.called for each in self.cache._polling._waiters))
        yield call, answers
        thread.join(60)

    def finish(self) -> None:
        """The worker has its result."""
        self.table.table.finish(self.job, "a worker", pack(Output("found"), 1_000), began=self.table.now(), took=0.1)

    def close(self) -> None:
        self.machine.close()
        self.cache.close()
        self.table.close()


@pytest.fixture
def wire(place: Place) -> Iterator[Wire]:
    with Wire(place.aws.url) as wire:
        yield wire


@pytest.fixture
def waiting(place: Place, wire: Wire) -> Iterator[Waiting]:
    made = Waiting(place, wire, 0.1)
    yield made
    made.close()


def ran_itself(call: SearchCall) -> None:
    with call.running():
        call.ran(Output("the tool's own"))
    assert call.answered is not None
    assert call.answered.reason == "no word of it"


@pytest.mark.parametrize("mode", BAD)
def test_a_call_that_comes_then(waiting: Waiting, wire: Wire, mode: Mode) -> None:
    """The table has gone when the call comes: it has it asked, hears nothing, and the tool runs."""
    wire.mode = mode
    call = waiting.call()
    assert call.answer() is None
    ran_itself(call)


@pytest.mark.parametrize("mode", BAD)
@pytest.mark.parametrize("form", ["thread", "loop"])
def test_a_call_that_waits_then(waiting: Waiting, wire: Wire, mode: Mode, form: str) -> None:
    """The table goes while the call waits, on a thread or on a loop: it gives up one look later."""
    with waiting.calling(form) as (call, answers):
        wire.mode = mode
    assert answers == [None]
    ran_itself(call)


@pytest.mark.parametrize("form", ["thread", "loop"])
def test_a_call_waits_while_there_is_word(place: Place, wire: Wire, form: str) -> None:
    """A table that answers in time, again and again, is believed, and the worker's result is the answer."""
    waiting = Waiting(place, wire, lookup_seconds=60)
    with waiting.calling(form) as (call, answers):
        waiting.finish()
    assert answers == [Output("found")]
    assert call.answered is not None
    assert call.answered.late
    waiting.close()


def test_a_table_that_is_silent_for_a_moment_loses_nothing(waiting: Waiting) -> None:
    """Two looks in a row without an answer, and nobody waiting: the result is there when the call comes."""
    client, left = waiting.cache.connection.client, [1, 2]

    def unanswered(request: Any, **_: Any) -> None:
        if left:
            left.pop()
            raise ReadTimeoutError(endpoint_url=request.url)

    client.meta.events.register("before-send.dynamodb.BatchGetItem", unanswered)
    until(lambda: not left)
    waiting.finish()
    waiting.run.until(FlightState.READY)
    assert waiting.call().answer() == Output("found")
    assert waiting.cache.counts()["failed_calls"] == 2
