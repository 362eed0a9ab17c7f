"""Searches that run elsewhere, on a clock moved by hand: what is sent, what is waited for, what runs here after all."""

from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.errors import RemoteSearchError
from langgraph_prefetch.jobs import Form, Held, HeldState
from langgraph_prefetch.ports import MayRunElsewhere
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.search import HandDrivenSearch
from langgraph_prefetch.values import Output
from tests.speculation.elsewhere_rig import LOOKUP, SHARING, MakeBench, by_tenant


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


def test_a_call_does_not_wait_without_word(bench: MakeBench) -> None:
    """The cache was heard of before the call came, and says nothing when it is asked: the tool runs."""
    rig = bench()
    run = rig.run()
    rig.seal(run, "bridge")
    rig.begins()
    word = rig.cache.waiting[-1].word
    word.heard_at, word.answer_seconds = 0.0, 0.0
    call = rig.call(run, "bridge")
    task = rig.loop.create_task(call.aanswer())
    rig.loop.settle()
    assert task.result() is None
    with call.running():
        call.ran(Output("the tool's own"))
    assert rig.answered()[0].reason == "no word of it"
    rig.loop.settle()
    assert rig.cache.cancelled


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
