"""Searches on a worker, as one agent process sees them: served, late, shared, kept apart."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from langgraph_prefetch.config import Budgets, ExecutorLimits
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.local_aws import LocalAws
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import PATIENCE, Place, WorkerProcess, searched, until

SECONDS, WORKER_SEARCHES = 0.3, 8
"""How long each takes, and how many the worker makes at once."""
READY, RUNNING, QUEUED = FlightState.READY, FlightState.RUNNING, FlightState.QUEUED


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers") / "searches.jsonl"


@pytest.fixture(scope="module")
def place(aws: LocalAws, log: Path) -> Iterator[Place]:
    """A queue and a table with one worker, for all tests of this module; each has queries of its own."""
    queue, dead = aws.make_queue()
    made = Place(aws, aws.make_table(), queue, dead)
    at_once = ("--concurrency", str(WORKER_SEARCHES), "--prefetch", "4")
    worker = WorkerProcess(made, log, *at_once, retriever="tests.aws.searching:every", seconds=SECONDS).ready()
    yield made
    worker.kill()


@pytest.fixture
def machines(place: Place) -> Iterator[Any]:
    made: list[Machine] = []

    def make(tool: Any = searching.search, **options: Any) -> Machine:
        given: dict[str, Any] = {"executor": place.executor(), "cache": place.cache(lookup_seconds=PATIENCE)} | options
        made.append(Machine(tool, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_hit(machines: Any, log: Path) -> None:
    """A result that is ready is served, and the search was made once, on the other side, as an early one."""
    machine = machines()
    run = machine.run().sealed_and(READY, "hit")
    assert run.answer("hit") == Output(searching.answer("hit"))
    options = machine.prefetch.options
    assert options.executor.counts() == {"sent": 1, "not_sent": 0, "failed_calls": 0}
    assert options.cache.counts() == {
        "begun": 0,
        "found": 0,
        "joined": 0,
        "received": 1,
        "failed": 0,
        "failed_calls": 0,
    }
    begun = [line for line in searching.lines(log) if line.get("begins") == "hit"]
    assert [(line["pid"] == os.getpid(), line["early"]) for line in begun] == [(False, True)]


def test_late(machines: Any, log: Path) -> None:
    """A call that comes while the worker searches waits for it."""
    machine = machines()
    call = machine.run().sealed_and(RUNNING, "held late").call("held late")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call.answer)
        until(lambda: any(each.called for each in machine.prefetch.options.cache._polling._waiters))
        searching.let_go(log)
        assert answer.result(PATIENCE) == Output(searching.answer("held late"))
    assert call.answered is not None
    assert call.answered.late
    assert call.answered.retrieval_seconds > 0


def test_the_search_is_timed_where_it_runs(machines: Any) -> None:
    """What a report calls retrieval time is the worker's own, without the way there and back."""
    run = machines().run().sealed_and(READY, "timed")
    call = run.call("timed")
    call.answer()
    assert call.answered is not None
    assert call.answered.retrieval_seconds >= SECONDS


def test_false_positive(machines: Any) -> None:
    """A search that nobody asks for answers nothing else."""
    run = machines().run().sealed_and(READY, "a guess")
    assert run.answer("the real one") is None


def test_content_and_artifact(machines: Any) -> None:
    """Both parts of a tool's message come back as they were, documents with their types."""
    run = machines(searching.documents).run().sealed_and(READY, "parts")
    text = searching.answer("parts")
    document = Document(page_content=text, metadata={"page": 3, "score": 0.5}, id="d1")
    assert run.answer("parts") == Output(text, [document])


@pytest.mark.parametrize("size", [399_000, 401_000, 3_000_000])
def test_large_results(machines: Any, size: int) -> None:
    """Below, at and far above what an item holds, the agent has the whole result."""
    query = f"large {size} é🌉"
    run = machines().run().sealed_and(READY, query)
    served = run.answer(query)
    assert served is not None
    assert served.content.startswith(searching.answer(query))
    assert len(served.content) >= size


def test_two_runs_share_nothing_without_a_scope(machines: Any, log: Path) -> None:
    """The same query in two runs is two searches, also in one process."""
    machine = machines()
    first, second = machine.run(), machine.run()
    first.sealed_and(READY, "alone")
    second.sealed_and(READY, "alone")
    assert len(searched(log, "alone")) == 2


def by_tenant(configurable: Any) -> Any:
    return configurable["tenant"]


SHARING = {"scope": by_tenant, "reuse_seconds": 60.0}


def test_processes_share_within_a_scope(machines: Any, log: Path) -> None:
    """Another process has the result at once, with the age that it has."""
    one, other = machines(**SHARING), machines(**SHARING)
    one.run({"tenant": "a"}).sealed_and(READY, "shared")
    run = other.run({"tenant": "a"}).sealed_and(READY, "shared")
    assert run.answer("shared") == Output(searching.answer("shared"))
    assert len(searched(log, "shared")) == 1
    assert [each.prefetch.options.cache.counts()["found"] for each in (one, other)] == [0, 1]


def test_processes_that_miss_at_once_search_once(machines: Any, log: Path) -> None:
    """The second process waits for the first one's search."""
    runs = [machines(**SHARING).run({"tenant": "a"}) for _ in range(3)]
    for run in runs:
        run.seal("single")
    for run in runs:
        run.until(READY)
        assert run.answer("single") == Output(searching.answer("single"))
    assert len(searched(log, "single")) == 1


def test_tenants_are_kept_apart(machines: Any, place: Place, log: Path) -> None:
    """The same query of two tenants is two searches, each with its tenant's own configuration."""
    answers = []
    for tenant in ("a", "b"):
        machine = machines(searching.tenants, executor=place.executor(configurable=("tenant",)), **SHARING)
        run = machine.run({"tenant": tenant, "secret": object}).sealed_and(READY, "whose")
        answers.append(run.answer("whose"))
    assert answers == [Output(f"{tenant}: {searching.answer('whose')}") for tenant in ("a", "b")]
    assert len(searched(log, "whose")) == 2


def test_a_write_makes_what_was_read_before_void(machines: Any, log: Path) -> None:
    """After another tool ran in the scope, in whatever process, earlier results are not found any more."""
    one, other = machines(**SHARING), machines(**SHARING)
    one.run({"tenant": "w"}).sealed_and(READY, "written")
    other.run({"tenant": "w"}).run.other_tool("write")
    third = machines(**SHARING)
    until(lambda: len(other.prefetch.options.cache._voids._open) == 0)
    third.run({"tenant": "w"}).sealed_and(READY, "written")
    assert len(searched(log, "written")) == 2


def test_a_run_that_wrote_never_reads_what_it_had_read(machines: Any, log: Path) -> None:
    """Not even when it looks at once, before the table could have heard of the write."""
    machine = machines(**SHARING)
    run = machine.run({"tenant": "w2"}).sealed_and(READY, "own write")
    run.run.other_tool("write")
    run.sealed_and(READY, "own write")
    assert len(searched(log, "own write")) == 2


def test_what_nobody_wants_any_more_is_not_begun(machines: Any, place: Place, log: Path) -> None:
    """The run ends before a worker takes its searches up: none does, but those that it was at."""

    def begun() -> int:
        return len([line for line in searching.lines(log) if line.get("begins", "").startswith("held back")])

    log.with_suffix(".go").unlink(missing_ok=True)
    machine = machines(limits=ExecutorLimits(max_elsewhere=64), budgets=Budgets(sealed_per_step=64, per_run=64))
    executor, cache = machine.prefetch.options.executor, machine.prefetch.options.cache
    run = machine.run()
    for number in range(WORKER_SEARCHES + 20):
        run.seal(f"held back {number}")
    until(lambda: executor.counts()["sent"] == WORKER_SEARCHES + 20)
    until(lambda: begun() == WORKER_SEARCHES)
    run.run.close()
    until(lambda: not cache._polling._waiters and cache.connection.threads.unfinished == 0)
    searching.let_go(log)
    until(lambda: place.waiting(place.queue) == 0)
    assert begun() == WORKER_SEARCHES
