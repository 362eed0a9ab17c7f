"""The gate in the machine: what is started, watched and counted, by the events and by the report."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from langgraph_prefetch.config import Budgets, ExecutorLimits, Price, ToolPolicy
from langgraph_prefetch.events import DRY_RUN, SearchCallAnswered, SpeculationIgnored, SpeculationStarted
from langgraph_prefetch.ports import Work
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation.watching import MAX_WATCHED
from langgraph_prefetch.values import Source
from tests.speculation.rig import MODEL_CALL, Rig, begin, rigged

NO_CREDIT, NOT_WORTH_IT = "gate: no credit yet", "gate: not worth it"
PRICED = ToolPolicy(name="search", price=Price(money=0.2))
ON: dict[str, Any] = {"policy": PRICED, "value_of_second": Price(money=1.0)}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with rigged(**ON) as rig:
        yield rig


def ignored(rig: Rig) -> list[str]:
    return [event.reason for event in rig.events if isinstance(event, SpeculationIgnored)]


def started(rig: Rig) -> list[SpeculationStarted]:
    return [event for event in rig.events if isinstance(event, SpeculationStarted)]


def asks(rig: Rig, run: Run, query: str, *, lead: float = 1.0, takes: float = 0.5, **who: Any) -> SearchCallAnswered:
    """The run's model says ``query``, and ``lead`` later its call comes, which the tool itself answers."""
    rig.guess(run, query, **who)
    rig.clock.pass_(lead)
    call = rig.call(run, query, **who)
    task = rig.loop.create_task(call.aanswer())
    rig.loop.settle()
    assert task.result() is None
    with call.running():
        rig.clock.pass_(takes)
    call.ran(None)
    assert call.answered is not None
    return call.answered


def earn(rig: Rig, run: Run, query: str = "first") -> None:
    """The gate begins by watching; one right guess gives it credit for one start."""
    answered = asks(rig, run, query)
    assert answered.forgone == NO_CREDIT


def test_without_prices_nothing_is_weighed() -> None:
    """The defaults start as they always did, and their events carry no numbers of a gate."""
    with rigged() as rig:
        run = rig.run()
        rig.guess(run, "alpha")
        (event,) = started(rig)
        assert (event.p_served, event.saved_seconds, event.gain, event.loss) == (None, None, None, None)
        assert rig.engine.report().net_value is None


def test_it_begins_by_watching(rig: Rig) -> None:
    """The first guess is not started; once the call shows that it was right, the next one is."""
    run = rig.run()
    earn(rig, run)
    assert (ignored(rig), started(rig)) == ([NO_CREDIT], [])
    rig.guess(run, "second")
    assert len(started(rig)) == 1


def test_what_a_watched_guess_would_have_hidden_is_told(rig: Rig) -> None:
    """Watched seconds are min(retrieval, lead, hideable), as those of a speculation are."""
    run = rig.run()
    assert asks(rig, run, "alpha", lead=0.2, takes=0.5).forgone_seconds == pytest.approx(0.2)
    with rigged(**ON) as other:
        assert asks(other, other.run(), "alpha", lead=3.0, takes=0.5).forgone_seconds == pytest.approx(0.5)


def test_every_decision_tells_its_numbers(rig: Rig) -> None:
    """Started or not, a weighed signal's event has P(served), seconds, gain and loss, and they decide."""
    run = rig.run()
    for number in range(30):
        rig.guess(run, f"guess {number}")
        if number % 3 == 0:
            rig.answer(run, f"guess {number}")
        run.other_tool("write")
    weighed = [event for event in rig.events if isinstance(event, SpeculationStarted | SpeculationIgnored)]
    assert len(weighed) == 30
    for event in weighed:
        assert event.gain is not None
        assert event.loss is not None
        assert event.p_served is not None
        assert event.saved_seconds is not None
        assert event.gain == pytest.approx(event.p_served * event.saved_seconds)
        assert event.loss == pytest.approx((1 - event.p_served) * 0.2)
        held_back = isinstance(event, SpeculationIgnored) and event.reason == NOT_WORTH_IT
        assert (event.gain <= event.loss) == held_back


def test_wrong_guesses_stop_by_themselves(rig: Rig) -> None:
    """An agent whose guesses are never asked for costs nothing at all."""
    for _ in range(20):
        run = rig.run()
        rig.guess(run, "nobody asks this")
        run.close()
    assert started(rig) == []
    assert ignored(rig)[-1] == NOT_WORTH_IT


def test_served_speculations_feed_the_gate(rig: Rig) -> None:
    """A start that is served earns credit for more than one further start."""
    run = rig.run()
    earn(rig, run)
    for query in ("second", "third", "fourth"):
        rig.guess(run, query)
        rig.land("found", after=1.0)
        assert rig.answer(run, query) == "found"
        run.drop_step(MODEL_CALL)
        begin(run)
    for query in ("fifth", "sixth", "seventh"):
        rig.guess(run, query)
    assert len(started(rig)) == 6


def test_sealed_calls_pass_without_credit(rig: Rig) -> None:
    """A call that is certain to come is started at once, and its numbers are told."""
    run = rig.run()
    rig.seal(run, "alpha")
    (event,) = started(rig)
    assert (event.p_served, event.loss) == (1.0, 0.0)


def test_a_watched_guess_that_is_sealed_counts_as_right(rig: Rig) -> None:
    """The call that proves a guess right may itself be served, by what its closed arguments started."""
    run = rig.run()
    rig.guess(run, "alpha")
    rig.clock.pass_(0.3)
    rig.seal(run, "alpha")
    rig.land("found", after=0.5)
    assert rig.answer(run, "alpha") == "found"
    (answered,) = rig.answered()
    assert (answered.source, answered.forgone) == (Source.SEALED, NO_CREDIT)
    rig.guess(run, "beta")
    assert len(started(rig)) == 2


def test_a_dry_run_tells_a_held_back_guess_from_its_sealed_call() -> None:
    """The gate holds the guess back, the closed call would have been started: the call is one that would be served."""
    with rigged(dry_run=True, **ON) as rig:
        run = rig.run()
        rig.guess(run, "alpha")
        rig.clock.pass_(0.3)
        rig.seal(run, "alpha")
        assert asks(rig, run, "alpha", lead=0.1).forgone == DRY_RUN
        report = rig.engine.report()
        assert (report.would_start, report.would_serve) == (1, 1)
        assert report.would_hide_seconds == pytest.approx(0.1)
        rig.guess(run, "beta")
        assert rig.engine.report().would_start == 2


@pytest.mark.parametrize("end", ["close", "other tool", "too old"])
def test_what_nobody_asks_for_was_wrong(rig: Rig, end: str) -> None:
    """A watched guess ends as a speculation would: with its run, when another tool runs, or by its age."""
    run = rig.run()
    rig.guess(run, "alpha")
    if end == "close":
        run.close()
        run = rig.run()
    elif end == "other tool":
        run.other_tool("write")
    else:
        rig.clock.pass_(rig.engine.options.max_age_seconds + 1)
    assert asks(rig, run, "beta").forgone is not None
    assert rig.answer(run, "alpha") is None
    assert rig.answered()[-1].forgone is None
    rig.guess(run, "gamma")
    rig.guess(run, "delta")
    assert len(started(rig)) == 1  # one right and one wrong guess leave credit for one


def test_a_pause_teaches_nothing(rig: Rig) -> None:
    """The kill switch is no evidence against anyone's guesses."""
    run = rig.run()
    earn(rig, run)
    rig.guess(run, "second")
    assert len(started(rig)) == 1
    rig.engine.pause()
    rig.engine.resume()
    again = rig.run()
    rig.guess(again, "third")
    rig.guess(again, "fourth")
    assert len(started(rig)) == 3


def test_a_failure_is_a_wrong_guess(rig: Rig) -> None:
    """A retrieval that raises served nobody, and cost what it cost."""
    run = rig.run()
    earn(rig, run)
    rig.guess(run, "second")
    rig.land(RuntimeError("down"))
    rig.guess(run, "third")
    rig.guess(run, "fourth")
    assert (len(started(rig)), ignored(rig)[-1]) == (2, NO_CREDIT)


def test_a_rejected_start_frees_its_reserve() -> None:
    """Where the executor has no room, the credit is there for the next guess."""
    with rigged(limits=ExecutorLimits(max_running=1, max_queued=0), **ON) as rig:
        run = rig.run()
        earn(rig, run)
        blocker = rig.run()
        rig.seal(blocker, "blocks")
        rig.guess(run, "second")
        rig.guess(run, "another")
        assert ignored(rig)[-2:] == ["rejected: queue full"] * 2
        rig.land("done")
        rig.guess(run, "third")
        assert len(started(rig)) == 2


def test_a_tool_that_cannot_be_prepared_frees_its_reserve(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that fails before it began is none."""
    run = rig.run()
    earn(rig, run)

    def broken(*_: Any) -> Work:
        raise RuntimeError("no context")

    with monkeypatch.context() as patched:
        patched.setattr(rig.search, "prepare", broken)
        for query in ("second", "another"):
            with suppress(RuntimeError):
                rig.guess(run, query)
    rig.guess(run, "third")
    assert len(started(rig)) == 1


def test_budgets_hold_with_the_gate() -> None:
    """The gate comes on top of the budgets, and guesses that are only watched use none of them."""
    with rigged(budgets=Budgets(guesses_per_step=1), **ON) as rig:
        run = rig.run()
        earn(rig, run)
        rig.guess(run, "second")
        rig.guess(run, "third")
        assert len(started(rig)) == 1
        assert ignored(rig) == [NO_CREDIT, "budget: guesses_per_step"]


def test_a_dry_run_starts_nothing_and_counts_what_would_have_been() -> None:
    """Would-be starts, serves, seconds and net value stand in the report; no tool is run early."""
    with rigged(dry_run=True, **ON) as rig:
        run = rig.run()
        earn(rig, run)
        for query in ("second", "third"):
            assert asks(rig, run, query).forgone == DRY_RUN
        rig.guess(run, "nobody asks this")
        run.close()
        report = rig.engine.report()
        assert (started(rig), rig.search.pending) == ([], [])
        assert (report.speculations, report.would_start, report.would_serve) == (0, 3, 2)
        assert report.would_hide_seconds == pytest.approx(1.0)
        assert report.net_value == pytest.approx(1.0 - 0.2)
        assert "would have started 3, served 2, hidden 1.00 s" in str(report)
        assert "net value       +0.8 money" in str(report)


def test_a_dry_run_without_prices_counts_every_guess() -> None:
    """Nothing to weigh: everything would have been started, closed calls as well, each once."""
    with rigged(dry_run=True) as rig:
        run = rig.run()
        rig.guess(run, "alpha")
        rig.seal(run, "alpha")
        rig.seal(run, "beta")
        report = rig.engine.report()
        assert (report.would_start, report.net_value, ignored(rig)) == (2, None, [DRY_RUN, DRY_RUN])


def test_counters_equal_a_recount_of_the_events(rig: Rig) -> None:
    """The net value is what the raw events say: seconds hidden less the price of each unserved speculation."""
    run = rig.run()
    earn(rig, run)
    for number in range(8):
        before = len(started(rig))
        rig.guess(run, f"q{number}")
        if number % 2 and len(started(rig)) > before:
            rig.land("found", place=-1, after=0.5)
            rig.answer(run, f"q{number}")
    run.close()
    served = {event.speculation_id for event in rig.answered() if event.speculation_id}
    unserved = [event for event in started(rig) if event.speculation_id not in served]
    hidden = sum(event.hidden_seconds for event in rig.answered())
    assert rig.engine.report().net_value == pytest.approx(hidden - 0.2 * len(unserved))


def test_what_is_watched_is_bounded(rig: Rig) -> None:
    """A run that guesses without end keeps a bounded number in sight; the oldest turn out wrong."""
    run = rig.run()
    for number in range(MAX_WATCHED + 40):
        rig.guess(run, f"q{number}")
    watch = run._session.watch
    assert watch is not None
    assert len(watch._held) == MAX_WATCHED
