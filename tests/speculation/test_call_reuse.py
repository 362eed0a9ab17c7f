"""What may be kept for further calls, for how long, and what voids it."""

import threading
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.events import Event, SpeculationEnded
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig, rigged


def test_by_default_nothing_is_kept(rig: Rig) -> None:
    """A tool's own run answers no later call."""
    run = rig.run()
    rig.tool_runs(run, "a", "found")
    assert rig.answer(run, "a") is None


def test_repeats_are_answered_within_the_time_given(reusing: Rig) -> None:
    """Case 44: five equal calls, one backend call, five equal results; the source says reuse."""
    run = reusing.run()
    reusing.tool_runs(run, "a", [{"title": "x"}])
    assert [reusing.answer(run, "a") for _ in range(4)] == [[{"title": "x"}]] * 4
    report = reusing.engine.report()
    assert (report.search_calls, report.served_reuse, report.misses, report.speculations) == (5, 4, 1, 0)
    reusing.clock.pass_(30.1)
    assert reusing.answer(run, "a") is None


def test_a_served_speculation_answers_repeats_too(reusing: Rig) -> None:
    """The first answer counts for its source, the others for reuse; its age counts from when it was read."""
    run = reusing.run()
    reusing.seal(run, "a")
    reusing.land("found", after=1.0)
    reusing.clock.pass_(20)
    assert [reusing.answer(run, "a") for _ in range(3)] == ["found"] * 3
    report = reusing.engine.report()
    assert (report.served_sealed, report.served_reuse, report.served_speculations) == (1, 2, 1)
    reusing.clock.pass_(9.1)
    assert reusing.answer(run, "a") is None


def test_another_tool_voids_what_was_read(reusing: Rig) -> None:
    """After anything else ran, a read must be a read again."""
    run = reusing.run()
    reusing.tool_runs(run, "a", "before")
    reusing.seal(run, "b")
    run.other_tool("write")
    assert [reusing.answer(run, query) for query in ("a", "b")] == [None, None]
    assert reusing.fates() == [("cancelled", "tool write ran")]


def test_a_read_that_began_before_a_write_is_not_kept(reusing: Rig) -> None:
    """A tool's run that another tool's run overlaps answers its own call alone."""
    run = reusing.run()
    made = reusing.call(run, "a")
    assert made.answer() is None
    with made.running():
        run.other_tool("write")
    made.ran(Output("before"))
    assert reusing.answer(run, "a") is None


def test_kept_results_are_out_of_reach(reusing: Rig) -> None:
    """Case 56: whoever changes the answer it got changes nobody else's."""
    run = reusing.run()
    original = [{"title": "a"}]
    made = reusing.call(run, "a")
    assert made.answer() is None
    with made.running():
        pass
    made.ran(Output(original))
    original.append({"title": "added"})
    first = reusing.answer(run, "a")
    first[0]["title"] = "changed"
    assert reusing.answer(run, "a") == [{"title": "a"}]


def test_what_cannot_be_copied_is_served_but_not_kept(reusing: Rig, rig: Rig) -> None:
    """Case 56: an uncopyable result answers the call it was made for, and under reuse no call at all."""
    lock = threading.Lock()
    run = rig.run()
    rig.seal(run, "a")
    rig.land(lock)
    assert rig.answer(run, "a") is lock
    run = reusing.run()
    reusing.seal(run, "a")
    reusing.land(lock)
    assert reusing.answer(run, "a") is None
    assert reusing.answered()[-1].reason == "cannot be copied"
    reusing.tool_runs(run, "b", lock)
    assert reusing.answer(run, "b") is None


@pytest.mark.parametrize("empty", ["", "[]", []])
def test_empty_results_are_not_kept(reusing: Rig, empty: Any) -> None:
    """Case 58: what was not found a moment ago is asked again; the call it was made for gets it."""
    run = reusing.run()
    reusing.seal(run, "a")
    reusing.land(empty)
    assert reusing.answer(run, "a") == empty
    assert reusing.answer(run, "a") is None
    reusing.tool_runs(run, "b", empty)
    assert reusing.answer(run, "b") is None


def test_callers_of_the_same_moment_share_an_empty_result(reusing: Rig) -> None:
    """Case 58: those who wait for one retrieval get what it found."""
    run = reusing.run()
    reusing.seal(run, "a")
    waiting = [reusing.loop.create_task(reusing.call(run, "a").aanswer()) for _ in range(3)]
    reusing.loop.settle()
    reusing.land([])
    assert [task.result() for task in waiting] == [Output([])] * 3


def test_a_failed_run_is_not_kept(reusing: Rig) -> None:
    """Case 57: the tool's own failure answers nobody; who waited for it makes its own attempt."""
    run = reusing.run()
    leader = reusing.call(run, "a")
    assert leader.answer() is None
    late = reusing.call(run, "a")
    follower = reusing.loop.create_task(late.aanswer())
    reusing.loop.settle()
    with pytest.raises(ConnectionError), leader.running():
        raise ConnectionError("503")
    leader.ran(None, failed=True)
    reusing.loop.settle()
    assert follower.result() is None
    assert reusing.answered()[0].failed
    late.ran(Output("found"))
    assert reusing.answer(run, "a") == "found"


def test_twenty_tasks_make_one_backend_call(reusing: Rig) -> None:
    """Case 53: of many that miss the same key at once one runs the tool, the others get its result."""
    run = reusing.run()
    calls = [reusing.call(run, "a") for _ in range(20)]
    tasks = [reusing.loop.create_task(made.aanswer()) for made in calls]
    reusing.loop.settle()
    leaders = [made for made, task in zip(calls, tasks, strict=True) if task.done()]
    assert leaders == calls[:1]
    with leaders[0].running():
        pass
    leaders[0].ran(Output("found"))
    reusing.loop.settle()
    assert [task.result() for task in tasks] == [None, *[Output("found")] * 19]


def test_after_a_miss_on_a_queued_one_the_result_is_kept() -> None:
    """The first of five equal calls found its speculation still waiting: there is one backend call all the same."""
    with rigged(reuse_seconds=30.0, limits=ExecutorLimits(max_running=1)) as rig:
        run = rig.run()
        rig.seal(run, "running")
        rig.seal(run, "a")
        rig.tool_runs(run, "a", "found")
        assert [rig.answer(run, "a") for _ in range(4)] == ["found"] * 4


def test_a_miss_leaves_another_call_s_run_alone() -> None:
    """While one call gives a queued speculation up, an equal one begins to run the tool: its result is kept."""
    with rigged(reuse_seconds=30.0, limits=ExecutorLimits(max_running=1)) as rig:
        run = rig.run()
        rig.seal(run, "running")
        rig.seal(run, "a")
        leader = rig.call(run, "a")

        def lead(event: Event) -> None:
            if isinstance(event, SpeculationEnded) and event.reason == "still queued":
                assert leader.answer() is None

        rig.engine.subscribe(lead)
        assert rig.call(run, "a").answer() is None
        with leader.running():
            pass
        leader.ran(Output("found"))
        assert rig.answer(run, "a") == "found"
