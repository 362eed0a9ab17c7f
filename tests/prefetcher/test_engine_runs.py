"""Runs that end, that never end, and that are many at once."""

import asyncio
import gc
import logging
import threading
import tracemalloc
from collections import deque
from typing import Any

import pytest

from langgraph_prefetch.config import Budgets, ExecutorLimits, PrefetchOptions
from langgraph_prefetch.events import Event, RunEnded, SpeculationStarted, StepEnded
from langgraph_prefetch.ports import Work
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.prefetcher.open_runs import MAX_OPEN_RUNS
from langgraph_prefetch.speculation.shared import limit_process, process_wide
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import TextDelta
from tests.speculation.rig import Rig, begin, finish, guess, rigged, seal, tenant


def test_closing_is_idempotent_and_leaves_nothing(rig: Rig) -> None:
    """Whatever was under way is settled, once, and what comes afterwards starts nothing."""
    run = rig.run()
    rig.seal(run, "a")
    rig.guess(run, "b")
    run.close()
    run.close()
    rig.seal(run, "c")
    rig.guess(run, "d")
    rig.loop.settle()
    assert rig.search.pending == []
    assert sum(isinstance(event, RunEnded) for event in rig.events) == 1
    assert rig.engine.report().unsettled == 0
    assert run._session.own is not None
    assert len(run._session.own) == 0


def test_a_start_that_overlaps_the_end_is_given_up(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token heard in one thread while another ends the run leaves no retrieval behind."""
    run = rig.run()
    prepare = rig.search.prepare

    def prepare_slowly(*args: Any) -> Any:
        run.close()
        return prepare(*args)

    monkeypatch.setattr(rig.search, "prepare", prepare_slowly)
    rig.seal(run, "a")
    assert (rig.search.pending, rig.engine.report().unsettled) == ([], 0)


def test_a_search_is_wanted_as_long_as_its_run_lasts(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches its loop later is not begun there: see the executor."""
    run, handed_over = rig.run(), list[Work]()
    executor = run._session.shared.executor
    monkeypatch.setattr(executor, "submit", lambda flight, work, *_: handed_over.append(work))
    rig.seal(run, "a")
    (work,) = handed_over
    assert work.wanted()
    run.close()
    assert not work.wanted()


def test_an_idle_run_says_so_once(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """Case 3: a model that does not stream is reported, with what to do about it; a run that was cut off is not."""
    for _ in range(3):
        run = rig.engine.open_run()
        run.begin_step("m")
        run.end_step("m")
        run.close()
    cut_off = rig.engine.open_run()
    cut_off.begin_step("m")
    cut_off.hear("m", [TextDelta("I ")], PlainCaller)
    cut_off.close()
    failed = rig.engine.open_run()
    failed.begin_step("m")
    failed.hear("m", [TextDelta("I ")], PlainCaller)
    failed.drop_step("m")
    failed.close()
    cut_off_at_once = rig.engine.open_run()
    cut_off_at_once.begin_step("m")
    cut_off_at_once.close()
    failed_at_once = rig.engine.open_run()
    failed_at_once.begin_step("m")
    failed_at_once.drop_step("m")
    failed_at_once.close()
    rig.engine.open_run().close()
    assert rig.engine.report().idle_runs == 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "idle: no tokens seen" in caplog.text


def test_a_dropped_run_is_ended(rig: Rig) -> None:
    """Case 38: a consumer that goes away without a word leaves no retrieval running and no count open."""
    run = rig.run()
    rig.seal(run, "a")
    del run
    gc.collect()
    assert rig.engine.report().unsettled == 0
    rig.loop.settle()
    assert rig.search.pending == []
    assert rig.fates() == [("cancelled", "run ended")]


@pytest.mark.slow
def test_runs_that_never_end() -> None:
    """Case 21: 10,000 runs started, fed five tokens and never ended: memory is bounded, the oldest are dropped."""
    held: deque[Run] = deque(maxlen=MAX_OPEN_RUNS + 100)
    budgets = Budgets(guesses_per_step=1, per_process_per_minute=100_000)

    def start(rig: Rig, runs: range) -> None:
        for number in runs:
            run = rig.engine.open_run()
            held.append(run)
            begin(run)
            for each in range(5):
                guess(run, f"{number} {each}")
            rig.clock.pass_(0.05)
            if number % 50 == 0:
                rig.loop.settle(2)
                rig.events.clear()

    with rigged(budgets=budgets) as rig:
        start(rig, range(9_500))
        tracemalloc.start()
        try:
            start(rig, range(9_500, 10_000))
            grown = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        # Each of these 500 took the place of one that was there before, and those had been made untraced.
        assert grown < 500 * 20_000
        assert len(rig.engine._runs) == MAX_OPEN_RUNS
        assert held[0]._closed
        assert not held[-1]._closed


def test_model_calls_that_never_end(rig: Rig) -> None:
    """Within one run too, the oldest model calls are forgotten."""
    run = rig.engine.open_run()
    for number in range(1_000):
        run.begin_step(number)
        run.hear(number, [TextDelta("x")], PlainCaller)
    assert len(run._steps) == 32
    run.end_step(0)
    run.drop_step(1)
    assert not any(isinstance(event, StepEnded) for event in rig.events)


def test_a_failed_model_call_says_nothing_later(rig: Rig) -> None:
    """Case 96: what a broken stream said is forgotten, and the retry that repeats it starts one retrieval."""
    run = rig.run()
    rig.seal(run, "a")
    run.drop_step("model call")
    rig.seal(run, "a")
    run.end_step("model call")
    assert rig.search.queries == ["a"]
    assert rig.engine.report().steps == 2


def test_two_interleaved_runs_stay_apart(rig: Rig) -> None:
    """Case 22: alternating tokens of two runs make two clean queries, each for its own user."""
    first, second = rig.run(), rig.run()
    for query in ("alpha", "beta"):
        rig.seal(first, f"{query} 1", user="u1")
        rig.seal(second, f"{query} 2", user="u2")
    started = [event for event in rig.events if isinstance(event, SpeculationStarted)]
    assert [event.run_id for event in started] == [first.id, second.id] * 2
    assert [asked.caller for asked in rig.search.asked] == [
        PlainCaller({"user": "u1"}),
        PlainCaller({"user": "u2"}),
    ] * 2


async def test_fifty_runs_at_once_on_one_loop() -> None:
    """Case 17: every run is served its own results, on the loop it runs on."""
    here = asyncio.get_running_loop()

    async def search(query: str) -> str:
        assert asyncio.get_running_loop() is here
        await asyncio.sleep(0.01)
        return f"found {query}"

    engine = PrefetchEngine(PrefetchOptions())
    tool = engine.tools["search"] = FunctionSearch(search, loop=here)

    async def agent(number: int) -> int:
        run, served = engine.open_run(), 0
        caller = PlainCaller({"user": number})
        for step in range(3):
            begin(run, str(step))
            seal(run, f"q {step}", caller, model_call=str(step))
            await asyncio.sleep(0)
            run.end_step(str(step))
            made = run.call(tool, {"query": f"q {step}"}, None, caller)
            assert made is not None
            output = await made.aanswer()
            if output is None:
                with made.running():
                    output = await tool.arun({"query": f"q {step}"}, caller)
                made.ran(output)
            else:
                served += 1
            assert output.content == f"found q {step}"
        run.close()
        return served

    served = sum(await asyncio.gather(*map(agent, range(50))))
    report = engine.report()
    assert (report.search_calls, report.served, report.runs, report.steps) == (150, served, 50, 150)
    assert served > 0
    assert (report.unsettled, report.troubles) == (0, 0)


@pytest.mark.parametrize("shared", [False, True])
def test_fifty_runs_at_once_on_threads(shared: bool) -> None:
    """Case 17: tokens from pool threads reach the executor, every call gets its own user's result, numbers add up."""
    options: dict[str, Any] = {"scope": tenant, "reuse_seconds": 30.0} if shared else {}
    engine = PrefetchEngine(PrefetchOptions(**options))
    engine.tools["search"] = FunctionSearch(lambda query: f"found {query}")
    wrong: list[Any] = []

    def agent(number: int) -> None:
        run = engine.open_run({"tenant": number % 3})
        caller = PlainCaller({"user": number % 5})
        for step in range(4):
            query = f"q {step} of {number % 5}"
            begin(run, str(step))
            seal(run, query, caller, model_call=str(step))
            run.end_step(str(step))
            if (found := finish(engine, run, query, caller)) != f"found {query}":
                wrong.append((query, found))
        run.close()

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    report = engine.report()
    assert wrong == []
    assert report.search_calls == 200
    assert report.troubles == 0
    ended = report.served_speculations + report.wasted + report.failed + report.cancelled
    assert ended + report.unsettled == report.speculations
    assert shared or report.unsettled == 0


def test_limits_of_the_process_can_be_set() -> None:
    """They hold for what starts afterwards, in every engine without parts of its own."""
    before = process_wide()
    try:
        limit_process(ExecutorLimits(max_running=1, max_queued=0))
        go = threading.Event()

        def search(query: str) -> str:
            go.wait(30)
            return query

        engine = PrefetchEngine(PrefetchOptions())
        engine.tools["search"] = FunctionSearch(search)
        assert engine.shared is not before
        run = engine.open_run()
        seal(run, "a")
        seal(run, "b")
        assert dict(engine.report().ignored) == {"rejected: queue full": 1}
        go.set()
        engine.close()
    finally:
        limit_process(ExecutorLimits())


def test_events_reach_every_sink_and_can_be_stopped(rig: Rig) -> None:
    """A sink that is taken away hears no more."""
    heard: list[Event] = []
    stop = rig.engine.subscribe(heard.append)
    rig.run()
    stop()
    stop()
    rig.run()
    assert len(heard) == 2
