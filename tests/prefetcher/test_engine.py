"""One engine behind many runs: scopes that fail closed, budgets that hold, a kill switch, and runs that never end."""

import asyncio
import gc
import logging
import threading
import tracemalloc
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_prefetch.config import Budgets, ExecutorLimits, PrefetchOptions
from langgraph_prefetch.events import Event, RunEnded, SpeculationStarted, StepEnded
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.prefetcher.open_runs import MAX_OPEN_RUNS
from langgraph_prefetch.speculation.shared import limit_process, process_wide
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import Output, TextDelta
from tests.speculation.rig import Rig, begin, finish, guess, rigged, seal

BUDGETS = Budgets(guesses_per_step=2, sealed_per_step=3, per_run=5, per_scope_per_minute=7, per_process_per_minute=9)


def tenant(configurable: Any) -> Any:
    return configurable.get("tenant")


@pytest.fixture
def rig() -> Iterator[Rig]:
    with rigged() as made:
        yield made


# ---- scopes


def test_without_a_scope_nothing_crosses_runs(rig: Rig) -> None:
    """Case 50: no scope is no sharing, not one bucket for all."""
    first, second = rig.run(), rig.run()
    rig.seal(first, "a")
    rig.land("found")
    assert rig.answer(second, "a") is None
    assert rig.answer(first, "a") == "found"


@pytest.mark.parametrize("options", [{}, {"reuse_seconds": 30.0}])
def test_a_scope_shares_within_and_never_across(options: dict[str, Any]) -> None:
    """Case 50: tenants a and b, the same query: b never sees what a found."""
    with rigged(scope=tenant, **options) as rig:
        first, same, other = rig.run(tenant="a"), rig.run(tenant="a"), rig.run(tenant="b")
        rig.seal(first, "q")
        rig.land("of a")
        assert rig.answer(other, "q") is None
        assert rig.answer(same, "q") == "of a"


@pytest.mark.parametrize("other", [True, 1.0, "1", (1,), b"1", frozenset({1})])
def test_tenants_are_told_apart_by_type(other: Any) -> None:
    """What Python takes for equal is still another tenant."""
    with rigged(scope=tenant) as rig:
        rig.seal(rig.run(tenant=1), "q")
        rig.land("of 1")
        assert rig.answer(rig.run(tenant=other), "q") is None
        assert rig.answer(rig.run(tenant=(1, True)), "q") is None
        assert rig.answer(rig.run(tenant=1), "q") == "of 1"


def raising(_: Any) -> Any:
    raise KeyError("tenant")


@pytest.mark.parametrize(
    ("scope", "troubles"), [(lambda _: None, 0), (tenant, 0), (raising, 2), (lambda _: ["unhashable"], 2)]
)
def test_a_scope_that_cannot_be_told_shares_nothing(scope: Any, troubles: int) -> None:
    """Case 50: missing, failing or unusable: the results stay within the run, and the run goes on."""
    with rigged(scope=scope) as rig:
        first, second = rig.run(), rig.run()
        rig.seal(first, "q")
        rig.land("found")
        assert rig.answer(second, "q") is None
        assert rig.answer(first, "q") == "found"
        assert rig.engine.report().troubles == troubles


def test_a_model_cannot_choose_its_scope() -> None:
    """Case 51: an argument named as the tenant is an argument."""
    with rigged(scope=tenant) as rig:
        run, other = rig.run(), rig.run(tenant="b")
        rig.seal(other, "q")
        rig.land("of b")
        made = run.call(rig.search, {"query": "q", "tenant": "b"}, None, PlainCaller())
        assert made is not None
        assert made.answer() is None


def test_a_waiter_of_another_run_keeps_its_answer() -> None:
    """Case 38: run 1 asked first and is closed; run 2, which waits for the same, still gets it."""
    with rigged(scope=tenant, reuse_seconds=30.0) as rig:
        first, second = rig.run(tenant="a"), rig.run(tenant="a")
        rig.seal(first, "q")
        waiting = rig.loop.create_task(rig.call(second, "q").aanswer())
        rig.loop.settle()
        first.close()
        rig.land("found")
        assert waiting.result() == Output("found")


def test_a_run_that_ends_gives_up_what_only_it_wanted() -> None:
    """Case 38: its own retrievals stop, one that another run asked for goes on, a ready one stays."""
    with rigged(scope=tenant) as rig:
        first, second = rig.run(tenant="a"), rig.run(tenant="a")
        rig.seal(first, "ready")
        rig.land("found")
        rig.seal(first, "mine")
        rig.seal(first, "ours")
        rig.seal(second, "ours")
        first.close()
        rig.loop.settle()
        assert [arguments["query"] for arguments, _, _ in rig.search.pending] == ["ours"]
        rig.land("found")
        assert [rig.answer(second, query) for query in ("ready", "ours", "mine")] == ["found", "found", None]


def test_two_graphs_share_a_process_not_their_switches() -> None:
    """Case 39: engines made anew per request share executor and cache; each has its own report."""
    with rigged(scope=tenant) as rig:
        other = rig.another_engine(scope=tenant)
        rig.seal(rig.run(tenant="a"), "q")
        rig.land("found")
        run = other.open_run({"tenant": "a"})
        assert rig.answer(run, "q") == "found"
        assert (rig.engine.report().search_calls, other.report().served_sealed) == (0, 1)
        other.close()


# ---- budgets


def test_budgets_of_a_step_and_a_run() -> None:
    """Guesses and exact calls per step, and all of a run; the reasons are counted."""
    with rigged(budgets=BUDGETS, limits=ExecutorLimits(max_running=64)) as rig:
        run = rig.run()
        for number in range(4):
            rig.guess(run, f"guess {number}")
            rig.seal(run, f"call {number}")
        assert rig.engine.report().speculations == 5
        begin(run, "second model call")
        seal(run, "one more", model_call="second model call")
        report = rig.engine.report()
        assert report.speculations == 5
        assert dict(report.ignored) == {
            "budget: guesses_per_step": 2,
            "budget: sealed_per_step": 1,
            "budget: per_run": 1,
        }


def test_budgets_of_a_scope_and_the_process() -> None:
    """All runs of a scope together, and all of the process; a minute later there is room again."""
    with rigged(budgets=BUDGETS, scope=tenant, limits=ExecutorLimits(max_running=64)) as rig:
        for number in range(5):
            run = rig.run(tenant="a")
            for each in range(3):
                rig.seal(run, f"{number} {each}")
        assert rig.engine.report().speculations == 7
        run = rig.run(tenant="b")
        for number in range(3):
            rig.seal(run, f"b {number}")
        assert rig.engine.report().speculations == 9
        assert dict(rig.engine.report().ignored) == {
            "budget: per_scope_per_minute": 8,
            "budget: per_process_per_minute": 1,
        }
        rig.clock.pass_(60)
        rig.seal(rig.run(tenant="a"), "later")
        assert rig.engine.report().speculations == 10


def test_model_calls_at_the_same_time_cannot_exceed_a_run_s_budget() -> None:
    """Sixteen threads feed one run; exactly its budget starts."""
    engine = PrefetchEngine(PrefetchOptions(budgets=Budgets(per_run=20)))
    engine.tools["search"] = FunctionSearch(lambda query: query)
    run, ready = engine.open_run(), threading.Barrier(16)

    def feed(number: int) -> None:
        begin(run, str(number))
        ready.wait()
        for each in range(8):
            seal(run, f"{number} {each}", model_call=str(number))

    threads = [threading.Thread(target=feed, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = engine.report()
    engine.close()
    assert report.speculations + dict(report.ignored).get("rejected: queue full", 0) == 20
    assert engine.report().unsettled == 0


# ---- switches


def test_the_kill_switch(rig: Rig) -> None:
    """Nothing starts, what is under way is given up, calls run their tools; resumed, all is as before."""
    run = rig.run()
    rig.seal(run, "a")
    rig.engine.pause()
    rig.seal(run, "b")
    assert [rig.answer(run, query) for query in "ab"] == [None, None]
    assert rig.fates() == [("cancelled", "paused")]
    rig.engine.resume()
    rig.seal(run, "c")
    rig.land("found")
    assert rig.answer(run, "c") == "found"


@pytest.mark.parametrize("value", ["off", "OFF", "0", "false"])
def test_the_environment_s_off_switch(rig: Rig, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Operations can stop every prefetcher without a release."""
    monkeypatch.setenv("LANGGRAPH_PREFETCH", value)
    run = rig.run()
    rig.seal(run, "a")
    assert rig.search.queries == []
    monkeypatch.setenv("LANGGRAPH_PREFETCH", "on")
    rig.seal(run, "a")
    assert rig.search.queries == ["a"]


def test_only_named_tools_run_early(rig: Rig) -> None:
    """Case 114: a call of any other tool starts nothing, whatever the thought says."""
    run = rig.run()
    for tool in ("send_email", "delete_row", "unknown"):
        seal(run, "q", tool=tool)
    assert rig.engine.report().speculations == 0
    rig.engine.refuse("search", "it needs approval")
    rig.engine.refuse("search", "said once")
    seal(run, "q")
    guess(run, "q")
    assert rig.engine.report().refusals == (("search", "it needs approval"),)
    assert rig.engine.report().speculations == 0


def test_a_trouble_is_counted_and_said_once(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """Case 16: a thousand equal failures of ours are a counter and one line, without their text."""
    for _ in range(1_000):
        rig.engine.trouble("token", ValueError("secret"))
    rig.engine.trouble("token", KeyError("x"))
    assert rig.engine.report().troubles == 1_001
    assert [record.getMessage() for record in caplog.records] == [
        "prefetch failed in token (ValueError); the agent goes on without it",
        "prefetch failed in token (KeyError); the agent goes on without it",
    ]


# ---- the end of runs


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
        start(rig, range(9_500, 10_000))
        grown = tracemalloc.get_traced_memory()[0]
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


# ---- many at once


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
