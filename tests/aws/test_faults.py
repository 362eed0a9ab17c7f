"""Queue or table away, throttled, slow, or without credentials: searches run here, and calls are not held up."""

import logging
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.credentials import RefreshableCredentials

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.aws.messages import job_of
from langgraph_prefetch.aws.server_time import ServerTime
from langgraph_prefetch.breaker import BreakerRule
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.local_aws import REGION, LocalAws
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import PATIENCE, Faults, Place, stays_open, until

READY, FAILED = FlightState.READY, FlightState.FAILED
SHARING: dict[str, Any] = {"scope": lambda configurable: configurable["tenant"], "reuse_seconds": 60.0}
NOBODY = LocalAws("http://127.0.0.1:9")  # the discard port: nobody listens
THROTTLED, EXPIRED = "ProvisionedThroughputExceededException", "ExpiredTokenException"


@pytest.fixture
def machines(place: Place) -> Iterator[Any]:
    made: list[Machine] = []

    def make(**options: Any) -> Machine:
        given: dict[str, Any] = {"executor": place.executor(), "cache": place.cache(lookup_seconds=PATIENCE)} | options
        made.append(Machine(searching.search, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


def served_here(machine: Machine, query: str, configurable: Any = None) -> None:
    """The speculation ran in this process, and its result is the tool's own."""
    run = machine.run(configurable).sealed_and(READY, query)
    assert run.answer(query) == Output(searching.answer(query))


def test_queue_down(machines: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Prefetch goes on as without a queue, and says so in one line."""
    machine = machines(executor=SQSExecutor("http://127.0.0.1:9/queue", **NOBODY.reach()))
    stays_open(machine.prefetch.options.executor.connection)
    with caplog.at_level(logging.WARNING, "langgraph_prefetch"):
        for number in range(6):
            served_here(machine, f"queue down {number}")
    assert machine.prefetch.options.executor.connection.breaker.is_open
    assert machine.prefetch.options.executor.counts() == {"sent": 0, "not_sent": 6, "failed_calls": 3}
    assert [each.getMessage().split(" (")[0] for each in caplog.records] == ["sqs does not work"]


@pytest.mark.parametrize("options", [{}, SHARING], ids=["alone", "sharing"])
def test_table_down(machines: Any, options: dict[str, Any]) -> None:
    """What has been sent is a miss; as soon as the table is known to be away, searches run here."""
    machine = machines(cache=DynamoDBCache("results", **NOBODY.reach()), **options)
    cache = machine.prefetch.options.cache
    stays_open(cache.connection)
    for number in range(8):
        if not cache.works:
            break
        run = machine.run({"tenant": "a"})
        run.seal(f"table down {number}")
        until(lambda run=run: run.state() in (READY, FAILED))  # type: ignore[misc]
        assert run.answer(f"table down {number}") in (None, Output(searching.answer(f"table down {number}")))
    assert not cache.works
    served_here(machine, "table known to be down", {"tenant": "a"})


@pytest.mark.parametrize("code", [THROTTLED, "ThrottlingException", EXPIRED, "ResourceNotFoundException"])
def test_the_table_refuses(machines: Any, code: str) -> None:
    """Throttled, without credentials, or without the table: found out within a few looks, then left alone."""
    machine = machines()
    cache = machine.prefetch.options.cache
    stays_open(cache.connection)
    faults = Faults(cache.connection.client, code)
    run = machine.run()
    run.seal("refused")
    until(lambda: run.state() is FAILED)
    assert run.answer("refused") is None
    assert not cache.works
    asked = faults.seen
    served_here(machine, "left alone")
    assert (faults.seen, asked) == (asked, 3)


@pytest.mark.parametrize("code", ["RequestThrottled", EXPIRED, "AWS.SimpleQueueService.NonExistentQueue"])
def test_the_queue_refuses(machines: Any, code: str) -> None:
    """What the queue does not take runs here, the first of them too."""
    machine = machines()
    Faults(machine.prefetch.options.executor.connection.client, code)
    for number in range(5):
        served_here(machine, f"{code} {number}")


def test_the_table_works_again(machines: Any, place: Place) -> None:
    """After a while one call tries, and then all go on."""
    machine = machines(**SHARING)
    cache = machine.prefetch.options.cache
    cache.connection.breaker = Guard("dynamodb", BreakerRule(failures=3, open_seconds=0.2))
    faults = Faults(cache.connection.client, THROTTLED)
    for number in range(4):
        served_here(machine, f"throttled {number}", {"tenant": "a"})
    faults.stop()
    until(lambda: cache.works)
    run = machine.run({"tenant": "a"})
    run.seal("again")
    until(lambda: place.waiting(place.queue) > 0)


def test_a_call_does_not_wait_for_a_table_that_goes_away(machines: Any, place: Place) -> None:
    """The search had begun on a worker, the call waits for it, the table goes: the tool runs, and waited for little."""
    machine = machines()
    cache = machine.prefetch.options.cache
    run = machine.run()
    run.seal("going away")
    until(lambda: place.waiting(place.queue) > 0)
    _claim(cache, place)
    run.until(FlightState.RUNNING)
    Faults(cache.connection.client, THROTTLED)
    call = run.call("going away")
    assert call.answer() is None
    assert call.answered is None
    with call.running():
        call.ran(Output("the tool's own"))
    assert call.answered is not None
    assert call.answered.waited_seconds < machine.prefetch.options.max_wait_seconds / 2


def _claim(cache: DynamoDBCache, place: Place) -> None:
    client = place.aws.client("sqs")
    (message,) = client.receive_message(QueueUrl=place.queue, WaitTimeSeconds=20)["Messages"]
    cache.table.claim(job_of(message["Body"]), "a worker", 300, cache.now())


def test_a_call_does_not_wait_for_a_queue_without_workers(machines: Any, place: Place) -> None:
    """Nobody has begun the search: the call gives it no more than a look takes, runs its tool, and calls it off."""
    machine = machines(cache=place.cache(lookup_seconds=0.05))
    run = machine.run()
    run.seal("no workers")
    until(lambda: run.state() is FlightState.QUEUED)
    call = run.call("no workers")
    assert call.answer() is None
    with call.running():
        call.ran(Output("the tool's own"))
    assert call.answered is not None
    assert call.answered.reason == "still queued"
    until(lambda: _cancelled(place))


def _cancelled(place: Place) -> bool:
    client = place.aws.client("dynamodb")
    return [each["state"]["S"] for each in client.scan(TableName=place.table)["Items"]] == ["cancelled"]


def test_a_service_that_never_answers(place: Place) -> None:
    """It accepts connections and is silent: looks end at their own deadline, and searches run here."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        cache = DynamoDBCache("results", **LocalAws(url).reach())
        machine = Machine(searching.search, executor=place.executor(), cache=cache, **SHARING)
        served_here(machine, "silence", {"tenant": "a"})
        machine.close()


@pytest.mark.parametrize("hours", [-3, 3])
def test_clock_skew(place: Place, hours: int) -> None:
    """A machine whose clock is hours off takes the table's: its results are neither stale nor expired to others."""
    caches = place.cache(lookup_seconds=PATIENCE), place.cache(lookup_seconds=PATIENCE)
    caches[0].connection.time = ServerTime(lambda: time.time() + hours * 3_600)
    caches[0].check()
    caches[0].connection.call("describe_table", TableName=place.table)
    assert abs(caches[0].now() - caches[1].now()) < 900, "it was hours"
    first, second = (Machine(searching.search, cache=cache, **SHARING) for cache in caches)
    first.run({"tenant": "a"}).sealed_and(READY, "skewed")
    until(lambda: caches[0].connection.threads.unfinished == 0)
    run = second.run({"tenant": "a"}).sealed_and(READY, "skewed")
    call = run.call("skewed")
    assert call.answer() == Output(searching.answer("skewed"))
    first.close()
    second.close()


def test_credentials_that_refresh_themselves_go_on(place: Place) -> None:
    """The session is kept, not its keys: after the old ones expired calls are signed with new ones."""
    made: list[int] = []

    def refresh() -> dict[str, str]:
        made.append(1)
        soon = datetime.now(UTC) + timedelta(seconds=1)
        key = f"KEY{len(made)}"
        return {"access_key": key, "secret_key": "s", "token": "t", "expiry_time": soon.isoformat()}

    held: Any = botocore.session.get_session()
    held._credentials = RefreshableCredentials.create_from_metadata(refresh(), refresh, "test")
    session = boto3.Session(botocore_session=held, region_name=REGION)
    cache = DynamoDBCache(place.table, session=session, endpoint_url=place.aws.url)
    signed: list[str] = []
    cache.connection.client.meta.events.register(
        "before-send", lambda request, **_: signed.append(str(request.headers["Authorization"]))
    )
    for _ in range(2):
        cache.check()
    assert len({line.split("Credential=")[1].split("/")[0] for line in signed}) > 1
