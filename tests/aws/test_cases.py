"""Cases that other projects ran into, each over the wire: what must come of them here."""

import logging
import time
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.aws.messages import MOST_BYTES
from langgraph_prefetch.aws.outputs import pack
from langgraph_prefetch.aws.server_time import ServerTime
from langgraph_prefetch.aws.table import Claim
from langgraph_prefetch.jobs import HeldState, Job
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import PATIENCE, Faults, Place, shared_job, stays_open, until

EXPIRED = "ExpiredTokenException"
KEEP_SECONDS = 6_000.0


def a_job(cache: DynamoDBCache, generation: str) -> Job:
    return shared_job(cache, generation, keep_seconds=KEEP_SECONDS)


def kept(cache: DynamoDBCache, job: Job, content: str) -> None:
    now = cache.now()
    assert cache.table.begin(job, now, here=False).state is HeldState.ABSENT
    assert cache.table.claim(job, "w", 300, now) is Claim.MINE
    assert cache.table.finish(job, "w", pack(Output(content), 1_000), began=now, took=0.1)


def test_an_item_that_the_table_still_has_past_its_time(place: Place) -> None:
    """A miss, read with the clock; who wants it begins it anew over what is there. TTL is in whole epoch seconds."""
    cache = place.cache()
    kept(cache, a_job(cache, "first"), "old")
    client = place.aws.client("dynamodb")
    (item,) = (each for each in client.scan(TableName=place.table)["Items"] if "state" in each)
    assert item["expires_at"]["N"].isdigit()
    assert abs(int(item["expires_at"]["N"]) - time.time() - KEEP_SECONDS) < 900
    expired = {"N": str(int(cache.now()) - 1)}
    client.put_item(TableName=place.table, Item=item | {"expires_at": expired})
    looked, _ = cache.table.look(["one"], cache.now())["one"]
    assert looked.state is HeldState.ABSENT
    (present,) = (each for each in client.scan(TableName=place.table)["Items"] if "state" in each)
    assert present["expires_at"] == expired
    kept(cache, a_job(cache, "second"), "new")
    held = cache.table.begin(a_job(cache, "third"), cache.now(), here=False)
    assert (held.state, held.output) == (HeldState.READY, Output("new"))


def test_an_old_receipt_deletes_nothing_that_matters(place: Place) -> None:
    """A worker whose time with a message is over deletes it all the same: the search is neither lost nor made twice."""
    cache, client = place.cache(), place.aws.client("sqs")
    client.send_message(QueueUrl=place.queue, MessageBody="a job")
    old = client.receive_message(QueueUrl=place.queue, WaitTimeSeconds=20)["Messages"][0]["ReceiptHandle"]
    client.change_message_visibility(QueueUrl=place.queue, ReceiptHandle=old, VisibilityTimeout=0)
    job = a_job(cache, "first")
    assert cache.table.begin(job, cache.now(), here=False).state is HeldState.ABSENT
    assert cache.table.claim(job, "second worker", 300, cache.now()) is Claim.MINE
    client.receive_message(QueueUrl=place.queue, WaitTimeSeconds=20)
    client.delete_message_batch(QueueUrl=place.queue, Entries=[{"Id": "0", "ReceiptHandle": old}])
    assert cache.table.claim(job, "first worker", 300, cache.now()) is Claim.BUSY
    assert cache.table.finish(job, "second worker", pack(Output("found"), 100), began=cache.now(), took=0.1)


@pytest.mark.parametrize("query", ["x" * 300_000, "🌉" * (MOST_BYTES // 4)], ids=["ascii", "emoji"])
def test_a_query_that_no_message_takes(place: Place, query: str) -> None:
    """Nothing is sent and nothing raised: the search runs here, and the call is answered."""
    executor = place.executor()
    machine = Machine(searching.search, executor=executor, cache=place.cache())
    run = machine.run().sealed_and(FlightState.READY, query)
    assert run.answer(query) == Output(searching.answer(query))
    assert executor.counts() == {"sent": 0, "not_sent": 1, "failed_calls": 0}
    assert place.waiting(place.queue) == 0
    machine.close()


def test_a_static_token_that_expires_in_the_middle(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """It is found out within a few calls, said in one line, and the agent goes on by itself."""
    cache: Any = place.cache(lookup_seconds=PATIENCE)
    scope: dict[str, Any] = {"scope": lambda configurable: "here", "reuse_seconds": 60.0}
    machine = Machine(searching.search, cache=cache, **scope)
    machine.run().sealed_and(FlightState.READY, "before")
    until(lambda: cache.connection.threads.unfinished == 0)
    stays_open(cache.connection)
    faults = Faults(cache.connection.client, EXPIRED)
    with caplog.at_level(logging.WARNING, "langgraph_prefetch"):
        for number in range(8):
            run = machine.run().sealed_and(FlightState.READY, f"after {number}")
            assert run.answer(f"after {number}") == Output(searching.answer(f"after {number}"))
    assert not cache.works
    assert faults.seen == 3
    assert [each.getMessage().split(" (")[0] for each in caplog.records] == ["dynamodb does not work"]
    machine.close()


def test_closing_is_idempotent_and_no_end(place: Place) -> None:
    """Both may be closed twice, and are open again when they are used again."""
    executor, cache = place.executor(), place.cache()
    for _ in range(2):
        executor.check()
        cache.check()
        for each in (executor, cache):
            each.close()
            each.close()
    machine = Machine(searching.search, executor=executor, cache=cache)
    machine.run().seal("again")
    until(lambda: place.waiting(place.queue) == 1)
    machine.close()
    machine.close()
    executor.close()
    cache.close()


def test_the_clock_that_expiry_is_read_with_is_the_tables(place: Place) -> None:
    """An agent whose clock is hours ahead does not take what is fresh for expired."""
    cache, ahead = place.cache(), place.cache()
    ahead.connection.time = ServerTime(lambda: time.time() + 7_200)
    ahead.check()
    ahead.connection.call("describe_table", TableName=place.table)
    kept(cache, a_job(cache, "first"), "fresh")
    looked, _ = ahead.table.look(["one"], ahead.now())["one"]
    assert looked.state is HeldState.READY
