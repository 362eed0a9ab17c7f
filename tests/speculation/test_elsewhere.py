"""Searches that run elsewhere, on a clock moved by hand: what is sent, what is waited for, what runs here after all."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.errors import NotDispatchedError, RemoteSearchError
from langgraph_prefetch.jobs import ABSENT, Form, Held, HeldState, Job
from langgraph_prefetch.ports import Caller, MayRunElsewhere
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.search import HandDrivenSearch
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig

LOOKUP = 0.05


class Elsewhere(HandDrivenSearch):
    """A search that may run elsewhere."""

    form = Form.MESSAGE

    def reads_beyond(self, configurable: Collection[str]) -> str | None:
        return None


class Dated(Elsewhere):
    """One that can tell the epoch of what it searches."""

    now = 1

    def epoch(self, caller: Caller) -> int:
        return self.now

    async def aepoch(self, caller: Caller) -> int:
        return self.now


class ScriptedQueue:
    """Takes every job, or refuses."""

    configurable: Collection[str] = ("tenant",)

    def __init__(self) -> None:
        self.sent: list[Job] = []
        self.refuses = False

    def takes(self, tool: str) -> bool:
        return tool == "search"

    async def send(self, job: Job) -> None:
        if self.refuses:
            raise NotDispatchedError("away")
        self.sent.append(job)


@dataclass
class Waiting:
    job: Job
    began: Callable[[float], None]
    ended: asyncio.Future[Held]


class ScriptedCache:
    """Says what the test tells it to, and writes down what it is asked."""

    lookup_seconds = LOOKUP
    works = True

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.held: Held | Exception = ABSENT
        self.begun: list[tuple[Job, bool]] = []
        self.waiting: list[Waiting] = []
        self.kept: list[tuple[Job, Output, float]] = []
        self.cancelled: list[tuple[str, str]] = []
        self.voided: list[str] = []

    async def begin(self, job: Job, *, here: bool = False) -> Held:
        self.begun.append((job, here))
        if isinstance(self.held, Exception):
            raise self.held
        return self.held

    async def wait(self, job: Job, began: Callable[[float], None]) -> Held:
        self.waiting.append(Waiting(job, began, asyncio.get_running_loop().create_future()))
        return await self.waiting[-1].ended

    def keep(self, job: Job, output: Output, *, age: float, took: float) -> None:
        self.kept.append((job, output, age))

    def cancel(self, job: Job, reason: str) -> None:
        self.cancelled.append((job.generation, reason))

    def void(self, scope_id: str) -> None:
        self.voided.append(scope_id)


class Bench(Rig):
    """A rig with a queue and a cache."""

    def __init__(
        self, *, search: type[HandDrivenSearch] = Elsewhere, limits: ExecutorLimits | None = None, **options: Any
    ) -> None:
        super().__init__(limits=limits)
        self.queue, self.cache = ScriptedQueue(), ScriptedCache(self.clock)
        self.search = search()
        given = {"executor": self.queue, "cache": self.cache} | options
        self.engine = self.another_engine(**given)

    def ready(self, output: Output, *, age: float = 0.4, took: float = 0.3, place: int = -1) -> None:
        """The result of a job that is waited for."""
        held = Held(state=HeldState.READY, generation="", age=age, took=took, output=output)
        self.cache.waiting[place].ended.set_result(held)
        self.loop.settle()

    def ends(self, held: Held | Exception) -> None:
        waiting = self.cache.waiting[-1].ended
        if isinstance(held, Exception):
            waiting.set_exception(held)
        else:
            waiting.set_result(held)
        self.loop.settle()

    def begins(self, seconds_ago: float = 0.0) -> None:
        """A worker has taken it up."""
        self.cache.waiting[-1].began(seconds_ago)
        self.loop.settle()


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(**options: Any) -> Bench:
        made.append(Bench(**options))
        return made[-1]

    yield make
    for each in made:
        each.engine.pause()
        each.loop.settle()
        each.shared.executor.close()
        each.loop.settle()
        each.loop.close()


def by_tenant(configurable: Mapping[str, Any]) -> Any:
    return configurable.get("tenant")


SHARING = {"scope": by_tenant, "reuse_seconds": 60.0}
MakeBench = Callable[..., Bench]


def test_a_worker_is_told_what_was_declared_and_nothing_else(bench: MakeBench) -> None:
    """Arguments, the declared configuration, the scope; not the secret beside it, nor who shares what."""
    rig = bench(scope=by_tenant)
    run = rig.run(tenant="a", secret="s")
    rig.seal(run, "bridge", tenant="a", secret="s")
    (job,) = rig.queue.sent
    assert (job.tool, job.form, dict(job.arguments)) == ("search", Form.MESSAGE, {"query": "bridge"})
    assert (job.scope, dict(job.configurable), job.scope_id) == ("a", {"tenant": "a"}, None)
    assert job.deadline == rig.clock() + 30
    assert rig.search.pending == []
    assert rig.cache.begun == []


def test_a_result_is_served_with_its_own_times(bench: MakeBench) -> None:
    """It began and ended where it ran: what it took, and how old it is, are not the way's."""
    rig = bench()
    run = rig.run()
    rig.seal(run, "bridge")
    rig.clock.pass_(5)
    rig.ready(Output("found"), age=0.4, took=0.3)
    assert rig.answer(run, "bridge") == "found"
    (answered,) = rig.answered()
    assert answered.retrieval_seconds == pytest.approx(0.3)


def test_a_result_may_be_too_old_already(bench: MakeBench) -> None:
    """Its age counts from when its search began to read, wherever that was."""
    rig = bench(max_age_seconds=60.0)
    run = rig.run()
    rig.seal(run, "bridge")
    rig.ready(Output("old"), age=60.5)
    assert rig.answer(run, "bridge") is None


def test_a_call_waits_for_a_moment_if_no_worker_has_begun(bench: MakeBench) -> None:
    """As long as one look takes, counted from the dispatch; then the tool runs, and the message is called off."""
    rig = bench()
    run = rig.run()
    rig.seal(run, "bridge")
    call = rig.call(run, "bridge")
    task = rig.loop.create_task(call.aanswer())
    rig.loop.settle()
    assert not task.done()
    rig.clock.pass_(LOOKUP + 0.01)
    rig.loop.settle()
    assert task.result() is None
    call.ran(Output("the tool's own"))
    assert call.answered is not None
    assert call.answered.reason == "still queued"
    assert rig.cache.cancelled == [(rig.queue.sent[0].generation, "given up")]


def test_later_calls_do_not_wait_at_all_if_no_worker_has_begun(bench: MakeBench) -> None:
    rig = bench()
    run = rig.run()
    rig.seal(run, "bridge")
    rig.clock.pass_(LOOKUP)
    assert rig.answer(run, "bridge") is None
    assert rig.answered()[0].reason == "still queued"


def test_a_call_waits_for_a_worker_that_has_begun(bench: MakeBench) -> None:
    """Also for one that begins while the call gives it its moment."""
    for begun_before in (True, False):
        rig = bench()
        run = rig.run()
        rig.seal(run, "bridge")
        if begun_before:
            rig.begins()
        task = rig.loop.create_task(rig.call(run, "bridge").aanswer())
        rig.loop.settle()
        if not begun_before:
            rig.begins()
        rig.clock.pass_(LOOKUP + 0.01)
        rig.loop.settle()
        assert not task.done()
        rig.ready(Output("found"))
        assert task.result() == Output("found")


def test_a_failure_elsewhere_is_a_miss(bench: MakeBench) -> None:
    """Told, given up, or the cache gone: the call runs its tool."""
    ends: list[Held | Exception] = [
        Held(state=HeldState.FAILED, reason="OSError"),
        Held(state=HeldState.CANCELLED),
        Held(state=HeldState.READY, age=0.1),
        RemoteSearchError("the table does not work"),
        OSError(),
    ]
    for end in ends:
        rig = bench()
        run = rig.run()
        rig.seal(run, "bridge")
        rig.ends(end)
        assert rig.answer(run, "bridge") is None
        assert [fate for fate, _ in rig.fates()] == ["failed"]


@pytest.mark.parametrize("sharing", [{}, SHARING], ids=["alone", "sharing"])
def test_what_cannot_be_sent_runs_here(bench: MakeBench, sharing: dict[str, Any]) -> None:
    """The same speculation, in this process; where results are shared, others get it from here."""
    rig = bench(**sharing)
    rig.queue.refuses = True
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land("found here")
    assert rig.answer(run, "bridge", tenant="a") == "found here"
    assert [output for _, output, _ in rig.cache.kept] == ([Output("found here")] if sharing else [])


def test_what_runs_here_after_all_takes_a_place_of_this_process(bench: MakeBench) -> None:
    """Places elsewhere and here are counted apart, and both are given back."""
    rig = bench(limits=ExecutorLimits(max_running=1, max_queued=0, max_elsewhere=2))
    executor, run = rig.shared.executor, rig.run()
    rig.seal(run, "a")
    rig.seal(run, "b")
    assert (executor.running, executor._elsewhere) == (0, 2)
    rig.seal(run, "c")
    assert len(rig.queue.sent) == 2
    rig.ready(Output("a"), place=0)
    rig.queue.refuses = True
    rig.seal(run, "d")
    assert (executor.running, executor._elsewhere) == (1, 1)
    rig.seal(run, "e")
    assert (executor.running, executor._elsewhere) == (1, 1)
    rig.land("d")
    rig.ready(Output("b"), place=1)
    assert (executor.running, executor._elsewhere) == (0, 0)
    assert [rig.answer(run, query) for query in "abcde"] == ["a", "b", None, "d", None]


def test_a_cache_that_is_known_not_to_work_is_not_asked(bench: MakeBench) -> None:
    rig = bench(**SHARING)
    rig.cache.works = False
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land("here")
    assert rig.answer(run, "bridge", tenant="a") == "here"
    assert (rig.queue.sent, rig.cache.begun) == ([], [])


def test_a_tool_that_does_not_say_what_it_reads_runs_here(bench: MakeBench) -> None:
    assert not isinstance(HandDrivenSearch(), MayRunElsewhere)
    rig = bench(search=HandDrivenSearch)
    run = rig.run()
    rig.seal(run, "bridge")
    rig.land("here")
    assert rig.answer(run, "bridge") == "here"
    assert rig.queue.sent == []


# ---- sharing


def test_ids_are_random_without_sharing(bench: MakeBench) -> None:
    """A scope alone does not share between processes, nor does a time alone: an answer is for one call."""
    for options in ({}, {"scope": by_tenant}, {"reuse_seconds": 60.0}):
        rig = bench(**options)
        for _ in range(2):
            rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        ids = [job.id for job in rig.queue.sent]
        assert len(set(ids)) == len(ids)
        assert rig.cache.begun == []


def shared_id(bench: MakeBench, query: Any = "bridge", tool: type[HandDrivenSearch] = Elsewhere, **who: Any) -> str:
    rig = bench(search=tool, **SHARING)
    rig.seal(rig.run(**who), query, **who)
    (job, _) = rig.cache.begun[0]
    return job.id


def test_equal_searches_of_two_processes_have_one_id(bench: MakeBench) -> None:
    """Whatever makes another key makes another id: argument, its type, the caller's configuration, the scope."""
    assert shared_id(bench, tenant="a") == shared_id(bench, tenant="a")
    others = [
        shared_id(bench, "bridges", tenant="a"),
        shared_id(bench, 1, tenant="a"),
        shared_id(bench, "1", tenant="a"),
        shared_id(bench, tenant="b"),
        shared_id(bench, tenant="a", language="fr"),
        shared_id(bench, tenant="a"),
    ]
    assert len(set(others)) == len(others)


def test_the_scope_itself_is_part_of_the_id(bench: MakeBench) -> None:
    """Callers that are equal in all else, in two scopes (two epochs of an index, say), share nothing."""
    ids = []
    for scope in ("epoch 1", "epoch 2", 1, True):
        rig = bench(**SHARING | {"scope": lambda _, scope=scope: scope})
        rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        ids.append(rig.cache.begun[0][0].id)
    assert len(set(ids)) == 4


def test_what_only_this_process_knows_is_not_shared(bench: MakeBench) -> None:
    """A caller with an open connection in its configuration: the search goes to a worker, its result to nobody else."""
    rig = bench(**SHARING)
    rig.seal(rig.run(tenant="a", db=object()), "bridge", tenant="a", db=object())
    assert [job.scope_id for job in rig.queue.sent] == [None]
    assert rig.cache.begun == []


def test_a_result_of_another_process_is_taken(bench: MakeBench) -> None:
    rig = bench(**SHARING)
    rig.cache.held = Held(state=HeldState.READY, generation="theirs", age=2.0, took=0.5, output=Output("theirs"))
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    assert rig.answer(run, "bridge", tenant="a") == "theirs"
    assert rig.queue.sent == []


def test_a_search_of_another_process_is_waited_for(bench: MakeBench) -> None:
    """Under the generation that it has; nothing of it is called off from here."""
    rig = bench(**SHARING)
    rig.cache.held = Held(state=HeldState.PENDING, generation="theirs")
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    assert rig.queue.sent == []
    assert rig.cache.waiting[0].job.generation == "theirs"
    rig.engine.pause()
    rig.loop.settle()
    assert rig.cache.cancelled == []


def test_a_look_that_fails_or_hangs_leaves_the_search_here(bench: MakeBench) -> None:
    rig = bench(**SHARING)
    rig.cache.held = NotDispatchedError("away")
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land("here")
    assert rig.answer(run, "bridge", tenant="a") == "here"


def test_a_cache_alone_shares_what_is_found_here(bench: MakeBench) -> None:
    """Without workers: looked up, marked as under way here, searched here, kept for others."""
    rig = bench(executor=None, **SHARING)
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    ((job, here),) = rig.cache.begun
    assert here
    rig.land("here")
    assert rig.answer(run, "bridge", tenant="a") == "here"
    assert [(kept.generation, output) for kept, output, _ in rig.cache.kept] == [(job.generation, Output("here"))]


def test_a_search_that_fails_here_holds_nobody_up(bench: MakeBench) -> None:
    rig = bench(executor=None, **SHARING)
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land(OSError())
    assert [reason for _, reason in rig.cache.cancelled] == ["failed"]


def test_another_tool_makes_the_scope_void_for_all(bench: MakeBench) -> None:
    """In the cache too, where results are shared; a run's own scope concerns nobody else."""
    rig = bench(**SHARING)
    rig.run(tenant="a").other_tool("write")
    assert len(rig.cache.voided) == 1
    rig.run().other_tool("write")
    assert len(rig.cache.voided) == 1
    alone = bench(scope=by_tenant)
    alone.run(tenant="a").other_tool("write")
    assert alone.cache.voided == []


# ---- tools that tell their epoch


def settled(rig: Bench, condition: Callable[[], object]) -> None:
    """An epoch is read on a thread of its own."""
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)
        rig.loop.settle()


def test_the_epoch_is_read_before_the_search_is_sent(bench: MakeBench) -> None:
    """A result of a worker stands only as long as the epoch that was in force before it was asked for."""
    for change, answer in ((0, "found"), (1, None)):
        rig = bench(search=Dated)
        run = rig.run()
        rig.seal(run, "bridge")
        settled(rig, lambda rig=rig: rig.cache.waiting)  # type: ignore[misc]
        rig.ready(Output("found"))
        Dated.now += change
        assert rig.answer(run, "bridge") == answer


def test_the_epoch_is_part_of_a_shared_id(bench: MakeBench) -> None:
    ids = []
    for _ in range(2):
        rig = bench(search=Dated, **SHARING)
        rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        settled(rig, lambda rig=rig: rig.cache.begun)  # type: ignore[misc]
        ids.append(rig.cache.begun[0][0].id)
        Dated.now += 1
    assert ids[0] != ids[1]


def test_states(bench: MakeBench) -> None:
    """Queued until a worker has it, then running, then ready."""
    rig = bench()
    run = rig.run()
    rig.seal(run, "bridge")
    (entry,) = run.session.cache.entries()
    states = [entry.state]
    rig.begins(1.5)
    states.append(entry.state)
    assert entry.as_of == rig.clock() - 1.5
    rig.ready(Output("found"))
    states.append(entry.state)
    assert states == [FlightState.QUEUED, FlightState.RUNNING, FlightState.READY]
    assert entry.flight.output == Output("found")
