"""What a real call gets where speculation fails, hangs or is in its way: what the tool gives, no later."""

import asyncio
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig, rigged


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 30.0}])
def test_a_failure_is_never_handed_over(options: dict[str, Any]) -> None:
    """Case 57: the call after a failed speculation runs the tool, and only speculation is held back for a moment."""
    with rigged(**options) as rig:
        run = rig.run()
        rig.seal(run, "a")
        rig.land(ConnectionError("503"))
        assert rig.fates() == [("failed", "ConnectionError")]
        rig.seal(run, "a")
        assert rig.search.queries == ["a"]
        assert rig.engine.report().ignored == (("failed a moment ago", 1),)
        assert rig.answer(run, "a") is None
        assert rig.answered()[-1].reason == "speculation failed"


def test_the_back_off_ends(rig: Rig) -> None:
    """A moment later the same speculation may be tried again."""
    run = rig.run()
    rig.seal(run, "a")
    rig.land(ConnectionError("503"))
    rig.clock.pass_(2.1)
    rig.seal(run, "a")
    assert rig.search.queries == ["a", "a"]


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 30.0}])
@pytest.mark.parametrize("end", [ConnectionError("503"), asyncio.CancelledError()])
def test_waiters_of_a_failure_run_the_tool(options: dict[str, Any], end: BaseException) -> None:
    """Case 62: who waits for a leader that fails or gives up gets its own attempt, and a later caller starts afresh."""
    with rigged(**options) as rig:
        run = rig.run()
        rig.seal(run, "a")
        made = [rig.call(run, "a") for _ in range(3)]
        waiting = [rig.loop.create_task(each.aanswer()) for each in made]
        rig.loop.settle()
        rig.land(end)
        assert [task.result() for task in waiting] == [None] * 3
        for each in made:
            each.ran(None, failed=True)
        assert rig.answer(run, "a") is None


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 30.0}])
def test_a_hung_retrieval_costs_a_bounded_wait(options: dict[str, Any]) -> None:
    """Case 62: twice the tool's usual time, not the retrieval's; the next call is not held up by the same one."""
    with rigged(**options) as rig:
        run = rig.run()
        rig.seal(run, "before")
        rig.land(after=0.5)
        rig.seal(run, "a")
        made = rig.call(run, "a")
        waiting = rig.loop.create_task(made.aanswer())
        rig.loop.settle()
        rig.clock.pass_(0.9)
        rig.loop.settle()
        assert not waiting.done()
        rig.clock.pass_(0.2)
        rig.loop.settle()
        assert waiting.result() is None
        made.ran(None)
        assert rig.fates()[-1] == ("cancelled", "waited too long")
        assert rig.answer(run, "a") is None


def test_waiting_does_not_make_the_next_wait_longer(rig: Rig) -> None:
    """The tool's usual time is the tool's alone, without what its callers waited before."""
    run = rig.run()
    rig.seal(run, "a")
    made = rig.call(run, "a")
    waiting = rig.loop.create_task(made.aanswer())
    rig.loop.settle()
    rig.clock.pass_(10.1)
    rig.loop.settle()
    assert waiting.result() is None
    with made.running():
        rig.clock.pass_(0.5)
    made.ran(Output("found"))
    (answered,) = rig.answered()
    assert answered.retrieval_seconds == pytest.approx(0.5)
    assert answered.waited_seconds == pytest.approx(10.6)
    rig.seal(run, "b")
    waiting = rig.loop.create_task(rig.call(run, "b").aanswer())
    rig.loop.settle()
    rig.clock.pass_(1.1)
    rig.loop.settle()
    assert waiting.done()


def test_a_cancelled_caller_gives_its_retrieval_up(rig: Rig) -> None:
    """Case 38: nobody else can claim it, so it stops costing; the cancellation reaches the caller."""
    run = rig.run()
    rig.seal(run, "a")
    waiting = rig.loop.create_task(rig.call(run, "a").aanswer())
    rig.loop.settle()
    waiting.cancel()
    rig.loop.settle()
    assert waiting.cancelled()
    assert rig.fates() == [("cancelled", "the call was cancelled")]
    assert rig.search.pending == []


def test_an_interrupted_thread_gives_its_retrieval_up(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key pressed during a sync wait leaves nothing behind."""
    run = rig.run()
    rig.seal(run, "a")
    made = rig.call(run, "a")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("langgraph_prefetch.speculation.flight.Flight.wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.answer()
    rig.loop.settle()
    assert rig.fates() == [("cancelled", "the call was cancelled")]


def test_on_a_loops_own_thread_a_call_does_not_wait(rig: Rig) -> None:
    """A sync call in an event loop cannot wait for what may need that loop: it runs the tool."""
    run = rig.run()
    rig.seal(run, "a")
    assert rig.call(run, "a").answer(may_wait=False) is None


def test_a_queued_one_is_not_waited_for() -> None:
    """A retrieval that has not begun would take longer than the tool itself."""
    with rigged(limits=ExecutorLimits(max_running=1)) as rig:
        run = rig.run()
        rig.seal(run, "a")
        rig.seal(run, "b")
        assert rig.search.queries == ["a"]
        assert rig.answer(run, "b") is None
        assert rig.fates() == [("cancelled", "still queued")]
        rig.land("found")
        assert rig.search.pending == []


def test_a_real_call_sends_waiting_guesses_away() -> None:
    """Guesses in the queue would compete with a call that somebody waits for; exact calls keep their place."""
    with rigged(limits=ExecutorLimits(max_running=1)) as rig:
        run = rig.run()
        rig.seal(run, "running")
        rig.guess(run, "guess")
        rig.seal(run, "exact")
        rig.tool_runs(run, "other", "found")
        assert rig.fates() == [("cancelled", "a real call went first")]
        rig.land("found")
        assert rig.search.queries == ["running", "exact"]


def test_real_calls_keep_their_places() -> None:
    """While a real call runs on a backend of two, one speculation waits for it."""
    with rigged(policy=ToolPolicy(name="search", max_concurrency=2, reserve=1)) as rig:
        run = rig.run()
        made = rig.call(run, "real")
        assert made.answer() is None
        with made.running(), rig.call(run, "real too").running():
            rig.seal(run, "a")
            assert rig.search.queries == []
        made.ran(Output("found"))
        rig.loop.settle()
        assert rig.search.queries == ["a"]


def test_a_result_too_old_is_not_served() -> None:
    """What the world was like a minute ago is no answer."""
    with rigged(max_age_seconds=5.0) as rig:
        run = rig.run()
        rig.seal(run, "a")
        rig.land("old")
        rig.clock.pass_(5.1)
        assert rig.answer(run, "a") is None
        assert rig.fates() == [("wasted", "expired")]
