"""What a real call gets: its own result, once, and never later than the tool would have given it."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.events import Event, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.testing.search import PlainCaller
from langgraph_prefetch.values import Output, Source
from tests.speculation.rig import Rig, rigged


@pytest.fixture
def rig() -> Iterator[Rig]:
    with rigged() as made:
        yield made


@pytest.fixture
def reusing() -> Iterator[Rig]:
    with rigged(reuse_seconds=30.0) as made:
        yield made


# ---- served


def test_a_ready_result_is_served(rig: Rig) -> None:
    """The call gets the speculation's output at once, and the report says how much was hidden."""
    run = rig.run()
    rig.guess(run, "Colorado orogeny")
    rig.land("rock", after=0.5)
    rig.clock.pass_(0.5)
    assert rig.answer(run, "Colorado orogeny") == "rock"
    (answered,) = rig.answered()
    assert (answered.source, answered.late, answered.reason) == (Source.REASONING, False, "")
    assert (answered.waited_seconds, answered.retrieval_seconds, answered.lead_seconds) == (0.0, 0.5, 1.0)
    assert rig.fates() == [("served", "ready")]


def test_a_running_one_is_joined(rig: Rig) -> None:
    """The call waits for the rest of the retrieval instead of starting its own."""
    run = rig.run()
    rig.seal(run, "a")
    rig.clock.pass_(0.3)
    waiting = rig.loop.create_task(rig.call(run, "a").aanswer())
    rig.loop.settle()
    assert not waiting.done()
    rig.land("found", after=0.2)
    assert waiting.result() == Output("found")
    (answered,) = rig.answered()
    assert (answered.source, answered.late) == (Source.SEALED, True)
    assert answered.waited_seconds == pytest.approx(0.2)
    assert answered.hidden_seconds == pytest.approx(0.3)
    assert answered.hideable_seconds == pytest.approx(0.3)
    assert rig.fates() == [("served", "late")]


def test_a_speculation_answers_one_call(rig: Rig) -> None:
    """Case 44: a poll stays a poll. The second equal call runs the tool."""
    run = rig.run()
    rig.seal(run, "a")
    rig.land("first")
    assert [rig.answer(run, "a") for _ in range(5)] == ["first", None, None, None, None]
    assert rig.engine.report().misses == 4


def test_two_equal_calls_at_once(rig: Rig) -> None:
    """In one turn too, one of them is served and the other runs the tool."""
    run = rig.run()
    rig.seal(run, "a")
    first, second = (rig.loop.create_task(rig.call(run, "a").aanswer()) for _ in range(2))
    rig.loop.settle()
    rig.land("found")
    assert [first.result(), second.result()] == [Output("found"), None]


# ---- never another call's


@pytest.mark.parametrize("asked", [1, True, 1.0, "1", None, [1], {"1": 1}])
@pytest.mark.parametrize("speculated", [1, True, 1.0, "1", None, [1], {"1": 1}])
def test_types_are_told_apart(rig: Rig, speculated: Any, asked: Any) -> None:
    """Case 39: arguments that compare equal in Python are still different calls."""
    run = rig.run()
    rig.seal(run, speculated)
    rig.land("found")
    same = type(speculated) is type(asked) and speculated == asked
    assert rig.answer(run, asked) == ("found" if same else None)


def test_every_argument_counts(rig: Rig) -> None:
    """Case 59: a call that asks for more, or with a filter, is another call."""
    run = rig.run()
    rig.seal(run, "a")
    rig.land("narrow")
    made = run.call(rig.search, {"query": "a", "k": 10}, None, rig.search.asked[0].caller)
    assert made is not None
    assert made.answer() is None


def test_another_caller_is_not_answered(rig: Rig) -> None:
    """Case 50: same query, another user: the tool runs with that user's own configuration."""
    run = rig.run()
    rig.seal(run, "a", user="u1")
    rig.land("of u1")
    assert rig.answer(run, "a", user="u2") is None
    assert rig.answer(run, "a", user="u1") == "of u1"


def test_another_tool_is_not_answered(rig: Rig) -> None:
    """Case 39: two tools with equal names and arguments are two tools."""
    other = Rig()
    run = rig.run()
    rig.seal(run, "a")
    rig.land("found")
    made = run.call(other.search, {"query": "a"}, None, rig.search.asked[0].caller)
    assert made is not None
    assert made.answer() is None
    other.close()


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 30.0}, {"scope": lambda _: "all"}])
def test_colliding_hashes_make_no_wrong_answer(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With every key in one hash bucket each call still gets its own result."""
    monkeypatch.setattr(SearchKey, "__hash__", lambda _: 1)
    with rigged(limits=ExecutorLimits(max_running=64), **options) as rig:
        run = rig.run()
        for number in range(12):
            rig.seal(run, str(number), user=str(number % 3))
        while rig.search.pending:
            arguments, caller, _ = rig.search.pending[0]
            rig.land((arguments["query"], caller.configurable["user"]))
        for number in reversed(range(12)):
            for user in "012":
                expected = (str(number), user) if str(number % 3) == user else None
                assert rig.answer(run, str(number), user=user) == expected


def test_arguments_without_a_form_are_never_answered(rig: Rig) -> None:
    """A call that cannot be keyed is simply run."""
    loop: list[Any] = []
    loop.append(loop)
    run = rig.run()
    for odd in (object(), {1: 2}, {1, 2}, b"bytes", loop):
        assert run.call(rig.search, {"query": odd}, None, PlainCaller()) is None


# ---- when speculation fails


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


# ---- what may be kept


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


# ---- interrupted tool nodes


def test_the_same_call_again_after_an_interrupt(rig: Rig) -> None:
    """Case 26: the call id that was answered before the interrupt gets the same answer, without the backend."""
    run = rig.run(thread_id="t1")
    rig.seal(run, "a")
    rig.land([{"title": "x"}])
    made = rig.call(run, "a", call_id="call_1")
    output = made.answer()
    assert output is not None
    run.answered(made, output)
    rig.tool_runs(run, "b", "ran", call_id="call_2")
    run.node_ended(interrupted=True)
    output.content.append("changed by the agent")
    run.close()
    resumed = rig.run(thread_id="t1")
    assert rig.answer(resumed, "a", call_id="call_1") == [{"title": "x"}]
    assert rig.answer(resumed, "b", call_id="call_2") == "ran"
    assert rig.answered()[-1].reason == "resumed"
    assert rig.search.queries == ["a"]


@pytest.mark.parametrize(
    ("thread", "call_id", "query", "user"),
    [
        ("t2", "call_1", "a", "u1"),
        ("t1", "call_2", "a", "u1"),
        ("t1", "call_1", "b", "u1"),
        ("t1", "call_1", "a", "u2"),
    ],
)
def test_anything_else_after_an_interrupt_is_another_call(
    rig: Rig, thread: str, call_id: str, query: str, user: str
) -> None:
    """Case 47: an edited query, another thread, another id or another user never gets the first one's answer."""
    run = rig.run(thread_id="t1")
    rig.tool_runs(run, "a", "found", call_id="call_1", user="u1")
    run.node_ended(interrupted=True)
    assert rig.answer(rig.run(thread_id=thread), query, call_id=call_id, user=user) is None


def test_without_an_interrupt_nothing_is_remembered(rig: Rig) -> None:
    """A node that ended is over; a call of the same id is a call."""
    run = rig.run(thread_id="t1")
    rig.tool_runs(run, "a", "found", call_id="call_1")
    run.node_ended(interrupted=False)
    assert rig.answer(rig.run(thread_id="t1"), "a", call_id="call_1") is None


# ---- accounts


def test_every_speculation_has_one_end(rig: Rig) -> None:
    """Started and ended events pair up, and the numbers of the report add up."""
    run = rig.run()
    for query in "abcdef":
        rig.seal(run, query)
    rig.land("found", place=0)
    rig.land("found", place=0)
    rig.land(ConnectionError("503"), place=0)
    assert rig.answer(run, "a") == "found"
    run.close()
    started = [event.speculation_id for event in rig.events if isinstance(event, SpeculationStarted)]
    ended = [event.speculation_id for event in rig.events if isinstance(event, SpeculationEnded)]
    assert sorted(started) == sorted(ended)
    report = rig.engine.report()
    fates = (report.served_speculations, report.wasted, report.failed, report.cancelled, report.unsettled)
    assert fates == (1, 1, 1, 3, 0)


def test_rejected_speculations_are_not_counted_as_started() -> None:
    """A full queue is a reason why nothing started."""
    with rigged(limits=ExecutorLimits(max_running=1, max_queued=1)) as rig:
        run = rig.run()
        for query in "abcd":
            rig.seal(run, query)
        report = rig.engine.report()
        assert (report.speculations, report.ignored) == (2, (("rejected: queue full", 2),))
        assert rig.shared.ledger.counts(None) == (0, 2)


def test_queries_stay_out_of_events_unless_asked_for(rig: Rig) -> None:
    """Reasoning may hold what must not be logged."""
    run = rig.run()
    rig.guess(run, "my secret")
    rig.land("found")
    rig.answer(run, "my secret")
    assert not any("my secret" in repr(event) for event in rig.events)
    with rigged(log_queries=True) as open_rig:
        run = open_rig.run()
        open_rig.guess(run, "my secret")
        open_rig.land("found")
        open_rig.answer(run, "my secret")
        assert sum("my secret" in repr(event) for event in open_rig.events) == 2
