"""The acceptance suite of a cache of results: what an agent's process and a worker may rely on, whatever keeps them."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Protocol

from langchain_core.documents import Document

from langgraph_prefetch.jobs import Form, Held, HeldState, Job, ResultCache
from langgraph_prefetch.testing.contract import Contract, fixture
from langgraph_prefetch.values import Output

_names = itertools.count(1)
MOST_SECONDS = 20.0
ROUNDS = 10
"""Of what happens at the same moment."""


class WorkerSide(Protocol):
    """What a worker does with a job. All of it blocks."""

    def claim(self, job: Job) -> bool:
        """Take it up; False: it is done, given up, or another's."""
        ...

    def finish(self, job: Job, output: Output) -> bool:
        """Hand the result over; False: nobody wants it any more."""
        ...

    def fail(self, job: Job, reason: str) -> None:
        """It failed."""
        ...


@dataclass(frozen=True, slots=True)
class Results:
    """An implementation under test.

    Attributes:
        cache: as an agent's process uses it.
        worker: the other end of it.
        pass_: lets so many seconds of the cache's clock pass.
        settle: waits until what is done "soon" is done.
    """

    cache: ResultCache
    worker: WorkerSide
    pass_: Callable[[float], None]
    settle: Callable[[], None]


class ResultsContract(Contract):
    """Subclass it and give the fixture ``results``: an empty cache with its other end."""

    @fixture
    def results(self) -> Results:
        """The implementation under test."""
        raise NotImplementedError("give the suite a fixture named results")

    def test_one_begins_and_the_next_hears_of_it(self, results: Results) -> None:
        """The second who wants the same search does not start it again, and learns whose it is."""
        job = a_job(results)
        assert began(results, job).state is HeldState.ABSENT
        held = began(results, another(job))
        assert (held.state, held.generation, held.age) == (HeldState.PENDING, job.generation, None)

    def test_what_is_searched_by_its_beginner_has_begun(self, results: Results) -> None:
        """Who begins and searches itself lets others wait for it."""
        job = a_job(results)
        asyncio.run(results.cache.begin(job, here=True))
        assert began(results, another(job)).age is not None

    def test_a_result_comes_to_those_who_wait(self, results: Results) -> None:
        """Who waits hears of the begin once, and gets an equal result."""
        job, heard, has_begun = a_job(results), list[float](), asyncio.Event()
        output = Output("text", {"a": [1, 2.5, None, True], "d": [Document(page_content="p", metadata={"n": 1})]})

        def hear(seconds_ago: float) -> None:
            heard.append(seconds_ago)
            has_begun.set()

        async def run() -> Held:
            await results.cache.begin(job)
            waiting = asyncio.create_task(results.cache.wait(job, hear))
            assert await asyncio.to_thread(results.worker.claim, job)
            await has_begun.wait()
            assert await asyncio.to_thread(results.worker.finish, job, output)
            return await waiting

        held = ended(run())
        assert (held.state, held.output) == (HeldState.READY, output)
        assert len(heard) == 1
        assert None not in (held.age, held.took)

    def test_a_ready_result_is_found(self, results: Results) -> None:
        """Who comes later has it at once; what the finder is given no change of another reaches."""
        job = a_job(results)
        done(results, job, Output(["x"], [1]))
        first = began(results, another(job))
        assert first.output == Output(["x"], [1])
        assert first.output is not None
        first.output.content.append("y")
        assert began(results, another(job)).output == Output(["x"], [1])

    def test_of_two_claims_one_holds(self, results: Results) -> None:
        """A message that comes twice is worked on once."""
        job = a_job(results)
        began(results, job)
        claims = in_threads([lambda: results.worker.claim(job)] * 6)
        assert sum(claims) == 1
        assert results.worker.finish(job, Output("once"))
        assert not results.worker.claim(job)
        assert not results.worker.finish(job, Output("twice"))
        assert began(results, another(job)).output == Output("once")

    def test_only_one_of_many_begins(self, results: Results) -> None:
        """Of many processes that miss the same search at once, one starts it."""
        job = a_job(results)
        states = in_threads([lambda: began(results, another(job)).state] * 12)
        assert states.count(HeldState.ABSENT) == 1

    def test_another_generation_is_another_search(self, results: Results) -> None:
        """A late message of an earlier dispatch neither takes up nor ends the present one."""
        job = a_job(results)
        began(results, job)
        late = another(job)
        assert not results.worker.claim(late)
        assert results.worker.claim(job)
        assert not results.worker.finish(late, Output("stale"))
        assert results.worker.finish(job, Output("right"))

    def test_a_job_that_was_given_up_is_not_taken_up(self, results: Results) -> None:
        """Cancelled before a worker had it: nobody begins it. The next who wants it begins afresh."""
        alone = a_job(results, shared=False)
        results.cache.cancel(alone, "given up")
        results.settle()
        assert not results.worker.claim(alone)
        job = a_job(results)
        began(results, job)
        results.cache.cancel(job, "failed")
        results.settle()
        assert not results.worker.claim(job)
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_what_nobody_joined_ends_with_who_began_it(self, results: Results) -> None:
        """Given up unless joined, before or after a worker had it: it is over, and the next begins a search of its own.

        Who joined an earlier search of the same id does not count.
        """
        job = a_job(results)
        began(results, job)
        began(results, another(job))
        assert results.worker.claim(job)
        results.worker.fail(job, "OSError")
        results.pass_(5)
        for claimed in (False, True):
            job = another(job)
            assert began(results, job).state is HeldState.ABSENT
            assert not claimed or results.worker.claim(job)
            give_up(results, job)
            results.settle()
            assert not results.worker.claim(job)
            assert not results.worker.finish(job, Output("nobody wants it"))
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_what_was_joined_goes_on(self, results: Results) -> None:
        """Whoever began it may be gone: of a search that others were told of the result comes, to all of them."""
        for claimed in (False, True):
            job = a_job(results)
            began(results, job)
            assert not claimed or results.worker.claim(job)
            for _ in range(2):
                assert began(results, another(job)).generation == job.generation
            give_up(results, job)
            results.settle()
            assert claimed or results.worker.claim(job)
            assert results.worker.finish(job, Output("found"))
            assert began(results, another(job)).output == Output("found")

    def test_what_failed_where_it_was_begun_is_over_for_all(self, results: Results) -> None:
        """A cancel without reserve is told to those who joined: nobody searches any more."""
        job = a_job(results)

        async def run() -> Held:
            await results.cache.begin(job, here=True)
            assert (await results.cache.begin(another(job))).state is HeldState.PENDING
            results.cache.cancel(job, "failed")
            return await results.cache.wait(job, lambda _: None)

        assert ended(run()).state is HeldState.CANCELLED

    def test_a_search_is_joined_or_given_up_and_never_both(self, results: Results) -> None:
        """At the same moment: either the joiner waits for what goes on, or it has begun a search of its own."""
        for _ in range(ROUNDS):
            job = a_job(results)
            mine = another(job)
            began(results, job)
            held = joined_while_given_up(results, mine, job)
            results.settle()
            joined = held.state is HeldState.PENDING
            assert held.state is (HeldState.PENDING if joined else HeldState.ABSENT)
            assert results.worker.claim(job) == joined
            assert results.worker.claim(mine) != joined

    def test_what_is_given_up_while_it_is_begun(self, results: Results) -> None:
        """Its caller is cancelled in the middle: no search that nobody makes stands in the way of the next."""
        job = a_job(results)

        async def run() -> None:
            beginning = asyncio.create_task(results.cache.begin(job))
            await asyncio.sleep(0)
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
            give_up(results, job)

        asyncio.run(run())
        results.settle()
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_a_result_outlives_a_cancel(self, results: Results) -> None:
        """What has ended is not taken back."""
        job = a_job(results)
        done(results, job, Output("kept"))
        results.cache.cancel(job, "given up")
        results.settle()
        assert began(results, another(job)).output == Output("kept")

    def test_a_failure_comes_to_those_who_wait(self, results: Results) -> None:
        """It is told, and holds others back for a moment only."""
        job = a_job(results)

        async def run() -> Held:
            await results.cache.begin(job)
            await asyncio.to_thread(results.worker.claim, job)
            await asyncio.to_thread(results.worker.fail, job, "OSError")
            return await results.cache.wait(job, lambda _: None)

        held = ended(run())
        assert (held.state, held.reason, held.output) == (HeldState.FAILED, "OSError", None)
        results.pass_(5)
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_expiry(self, results: Results) -> None:
        """A result answers for so long as it may, counted from when its search began; then the next begins afresh."""
        job = a_job(results)
        done(results, job, Output("found"))
        results.pass_(job.keep_seconds - 10)
        assert began(results, another(job)).state is HeldState.READY
        results.pass_(10)
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_a_pending_one_past_its_deadline_has_nobody(self, results: Results) -> None:
        """Whoever began it is gone; the next begins."""
        job = a_job(results)
        began(results, job)
        results.pass_(job.deadline - results.cache.now() + 1)
        assert began(results, another(job)).state is HeldState.ABSENT

    def test_what_was_read_before_a_write_is_not_found(self, results: Results) -> None:
        """Voiding a scope takes what is ready and what is under way in it, and nothing of another scope."""
        ready, pending, other = a_job(results), a_job(results), a_job(results, scope_id="there")
        done(results, ready, Output("old"))
        began(results, pending)
        done(results, other, Output("stays"))
        results.cache.void("here")
        assert began(results, another(ready)).state is HeldState.ABSENT
        assert began(results, another(pending)).state is HeldState.ABSENT
        assert began(results, another(other)).state is HeldState.READY

    def test_a_result_found_here_is_kept(self, results: Results) -> None:
        """Who searched itself hands its result on, with the age it has."""
        job = a_job(results)
        asyncio.run(results.cache.begin(job, here=True))
        results.cache.keep(job, Output("mine"), age=3.0, took=2.0)
        results.settle()
        held = began(results, another(job))
        assert held.output == Output("mine")
        assert (held.age or 0.0) >= 2.9
        assert abs((held.took or 0.0) - 2.0) < 0.01

    def test_results_have_ids_of_their_own(self, results: Results) -> None:
        """Under another id nothing is found."""
        job = a_job(results)
        done(results, job, Output("a"))
        assert began(results, a_job(results)).state is HeldState.ABSENT


def a_job(results: Results, *, shared: bool = True, scope_id: str = "here") -> Job:
    """A job of an id of its own."""
    name = f"job{next(_names)}"
    return Job(
        id=name,
        generation=f"{name}-1",
        tool="search",
        form=Form.MESSAGE,
        arguments={"query": name},
        deadline=results.cache.now() + 30,
        keep_seconds=60.0,
        scope_id=scope_id if shared else None,
    )


def another(job: Job) -> Job:
    """The same search, wanted by somebody else."""
    return replace(job, generation=f"{job.id}-{next(_names)}")


def began(results: Results, job: Job) -> Held:
    """What ``begin`` says."""
    return asyncio.run(results.cache.begin(job))


def give_up(results: Results, job: Job) -> None:
    """The run that began it is over."""
    results.cache.cancel(job, "given up", unless_joined=True)


def joined_while_given_up(results: Results, joiner: Job, job: Job) -> Held:
    """What the joiner is told."""
    told = in_threads([lambda: began(results, joiner), lambda: give_up(results, job)])
    return next(each for each in told if isinstance(each, Held))


def done(results: Results, job: Job, output: Output) -> None:
    """Begin it, take it up, finish it."""
    began(results, job)
    assert results.worker.claim(job)
    assert results.worker.finish(job, output)


def ended(work: Coroutine[Any, Any, Held]) -> Held:
    """Run it, for a bounded time."""
    return asyncio.run(asyncio.wait_for(work, MOST_SECONDS))


def in_threads(calls: list[Callable[[], Any]]) -> list[Any]:
    """All at once."""
    ready, found = threading.Barrier(len(calls)), list[Any]()

    def run(call: Callable[[], Any]) -> None:
        ready.wait()
        found.append(call())

    threads = [threading.Thread(target=run, args=(each,)) for each in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
