"""Shared searches whose run ends before its call: a real worker drops what nobody else joined, and only that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import Place, StartWorker, searched, until

TENANT = {"tenant": "a"}
SHARING: dict[str, Any] = {"scope": lambda configurable: configurable["tenant"], "reuse_seconds": 60.0}
PATIENCE = 60.0
pytestmark = pytest.mark.slow


@pytest.fixture
def machines(place: Place) -> Iterator[Any]:
    made: list[Machine] = []

    def make(tool: Any = searching.documents) -> Machine:
        made.append(Machine(tool, executor=place.executor(), cache=place.cache(lookup_seconds=PATIENCE), **SHARING))
        return made[-1]

    yield make
    for each in made:
        each.close()


def sent(place: Place, machine: Machine, query: str) -> Any:
    """A run whose search is in the queue, and in the table."""
    before = place.waiting(place.queue)
    run = machine.run(TENANT)
    run.seal(query)
    until(lambda: place.waiting(place.queue) > before, PATIENCE)
    return run


def states(place: Place) -> dict[str, int]:
    """How many searches stand how."""
    items = place.aws.client("dynamodb").scan(TableName=place.table, ConsistentRead=True)["Items"]
    found = [item["state"]["S"] for item in items if "state" in item]
    return {state: found.count(state) for state in found}


def cache_of(machine: Machine) -> DynamoDBCache:
    cache = machine.prefetch.options.cache
    assert isinstance(cache, DynamoDBCache)
    return cache


def test_what_waits_for_a_worker(machines: Any, place: Place, start_worker: StartWorker, log: Path) -> None:
    """Two runs end before a worker has come. The search of one was joined by another process: it alone is made."""
    one, other = machines(), machines()
    dropped, wanted = sent(place, one, "dropped"), sent(place, one, "wanted")
    joining = other.run(TENANT)
    joining.seal("wanted")
    until(lambda: cache_of(other).counts()["joined"] == 1, PATIENCE)
    for run in (dropped, wanted):
        run.run.close()
    until(lambda: cache_of(one).connection.threads.unfinished == 0, PATIENCE)
    until(lambda: states(place) == {"cancelled": 1, "pending": 1}, PATIENCE)
    worker = start_worker(place).ready()
    until(lambda: joining.state() is FlightState.READY, PATIENCE)
    served = joining.answer("wanted")
    assert served is not None
    assert served.content == searching.answer("wanted")
    until(lambda: place.waiting(place.queue) == 0, PATIENCE)
    assert worker.stop() == 0
    assert [line["begins"] for line in searching.lines(log) if "begins" in line] == ["wanted"]


def test_what_a_worker_is_at(machines: Any, place: Place, start_worker: StartWorker, log: Path) -> None:
    """It is stopped at the worker's next extension; the next who wants it has a search of its own, which is made."""
    machine = machines()
    worker = start_worker(place, "--visibility-seconds", "3", seconds=300).ready()
    run = sent(place, machine, "under way")
    until(lambda: searched(log, "under way"), PATIENCE)
    run.until(FlightState.RUNNING)
    run.run.close()
    until(lambda: place.waiting(place.queue) == 0, PATIENCE)
    assert states(place) == {"cancelled": 1}
    before = len(searched(log, "under way"))
    again = sent(place, machine, "under way")
    until(lambda: len(searched(log, "under way")) > before, PATIENCE)
    again.run.close()
    until(lambda: place.waiting(place.queue) == 0, PATIENCE)
    assert worker.stop() == 0
    assert [line for line in searching.lines(log) if "ends" in line] == []


def test_a_call_that_no_worker_has_begun(machines: Any, place: Place) -> None:
    """The tool runs, and the message is called off, where results are shared too."""
    machine = machines()
    run = sent(place, machine, "too late")
    call = run.call("too late")
    assert call.answer(may_wait=False) is None
    with call.running():
        call.ran(Output("the tool's own"))
    until(lambda: states(place) == {"cancelled": 1}, PATIENCE)
