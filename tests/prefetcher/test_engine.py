"""One engine behind many runs: scopes that fail closed, budgets that hold, and a kill switch."""

import threading
from typing import Any

import pytest

from langgraph_prefetch.config import Budgets, ExecutorLimits, PrefetchOptions
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig, begin, guess, rigged, seal, tenant

BUDGETS = Budgets(guesses_per_step=2, sealed_per_step=3, per_run=5, per_scope_per_minute=7, per_process_per_minute=9)


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
