"""What a real call gets: its own result, once, and never later than the tool would have given it."""

from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.events import SpeculationEnded, SpeculationStarted
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.testing.search import PlainCaller
from langgraph_prefetch.values import Output, Source
from tests.speculation.rig import Rig, rigged


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
