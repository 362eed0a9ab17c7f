"""Bounds of private calls, their money, and the modes in which there are none."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool

from langgraph_prefetch import (
    ConfigurationError,
    NextCalls,
    Prefetcher,
    PrefetchMiddleware,
    Price,
    with_prefetch,
)
from langgraph_prefetch.events import NextCallEnded, NextCallFate, NextCallIgnored, NextCallStarted
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.guesses import Asked, ResultGuess, Tell
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation import next_call
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.values import Output
from tests.graph.cases.rigs import DONE, GO, calls, of_kind, tool_texts, until, watch
from tests.graph.next_call.rigs import ALWAYS, NOTHING_EARLY, options_for, slow
from tests.graph.next_call.watching import TWICE, agent, auntil, both, invoked, settled


def test_a_rate_limited_model_makes_no_private_calls() -> None:
    """A guess may not use up what real calls wait for."""
    limiter = InMemoryRateLimiter(requests_per_second=1_000, check_every_n_seconds=0.001, max_bucket_size=10)
    graph, prefetch = agent(ScriptedChatModel(script=TWICE, rate_limiter=limiter), CountingSearch())
    assert tool_texts(graph.invoke(GO)) == ["5 passages about x"] * 2
    assert settled(prefetch).next_calls_ignored == (("next call: rate limiter", 1),)


def test_a_provider_that_acts_by_itself() -> None:
    """A hosted tool might run in a call that nobody asks for."""

    @wrap_model_call
    def hosted(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={"mcp_servers": [{"url": "https://example.com"}]}))

    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch(), hosted)
    graph.invoke(GO)
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_ignored) == (0, (("next call: hosted tools", 1),))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"next_calls": NextCalls(per_run=0)}, "next call: budget: per_run"),
        ({"next_calls": NextCalls(max_wasted_share=0.01)}, "next call: too many wasted"),
        (
            {"next_calls": NextCalls(token_price=Price(money=1)), "value_of_second": Price(money=0.001)},
            "next call: not worth it",
        ),
        ({"dry_run": True}, "dry run"),
    ],
)
def test_what_keeps_it_back(options: Any, reason: str) -> None:
    """Each bound is told; what was not started is scored all the same, so that the gate learns for nothing."""
    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch(), options=options)
    events = watch(prefetch)
    graph.invoke(GO)
    assert settled(prefetch).next_calls == 0
    (ignored,) = of_kind(events, NextCallIgnored)
    assert (ignored.reason, ignored.guesses) == (reason, "stale")
    assert prefetch.next_calls is not None
    assert prefetch.next_calls.experience._all.right == 1


def test_a_search_that_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to hide, so no model call is spent on it."""
    monkeypatch.setattr(next_call, "LEAST_SECONDS", 60.0)
    ours = PrefetchMiddleware(["search"], **options_for())
    create_agent(ScriptedChatModel(script=TWICE), [CountingSearch().tool], middleware=[ours]).invoke(GO)
    assert settled(ours.prefetch).next_calls_ignored == (("next call: nothing to hide", 1),)


def test_results_that_are_all_at_hand() -> None:
    """Calls that are served at once leave nothing to run beside."""
    ours = PrefetchMiddleware(["search"], serve="verified")
    search = CountingSearch()
    llm = ScriptedChatModel(script=TWICE, seconds_per_token=0.01)
    slow(ours.prefetch)
    create_agent(llm, [search.tool], middleware=[ours]).invoke(GO)
    report = settled(ours.prefetch)
    assert (report.served, report.misses) == (2, 0)


class Knows:
    """A user's guesser; it may tell later, and on another thread."""

    def __init__(self, content: str, *, later: bool = False, fails: bool = False) -> None:
        self.content, self.later, self.fails = content, later, fails
        self.asked: list[Asked] = []

    def guess(self, asked: Asked, tell: Tell) -> None:
        self.asked.append(asked)
        if self.fails:
            raise RuntimeError
        guess = ResultGuess(output=Output(self.content), kind="near", probability=0.9)
        if self.later:
            threading.Thread(target=tell, args=(guess,)).start()
        else:
            tell(guess)


@both
@pytest.mark.parametrize("later", [False, True])
def test_a_users_guesser(is_async: bool, later: bool) -> None:
    """It is asked first, before the search runs, and may tell at once or later."""
    prefetches: list[Prefetcher] = []

    def find(query: str) -> str:
        """Search."""
        until(lambda: prefetches[0].report().next_calls)
        return "found"

    async def afind(query: str) -> str:
        """Search."""
        await auntil(lambda: prefetches[0].report().next_calls)
        return "found"

    search = StructuredTool.from_function(find, afind, name="search", description="Search.")
    knows = Knows("found", later=later)
    graph, prefetch = agent(ScriptedChatModel(script=(calls("x"), DONE)), search, options={"guesser": knows})
    prefetches.append(prefetch)
    events = watch(prefetch)
    assert tool_texts(invoked(graph, is_async)) == ["found"]
    assert settled(prefetch).next_calls_adopted == 1
    assert [each.guesses for each in of_kind(events, NextCallStarted)] == ["near"]
    assert [(each.tool, each.query) for each in knows.asked] == [("search", "x")]


def test_a_guesser_that_fails_or_lies() -> None:
    """One that raises has no guess; one that is wrong costs tokens; neither is seen by the graph."""
    graph, prefetch = agent(
        ScriptedChatModel(script=TWICE), CountingSearch(), options={"guesser": Knows("", fails=True)}
    )
    assert tool_texts(graph.invoke(GO)) == ["5 passages about x"] * 2
    assert prefetch.report().troubles == 2
    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch(), options={"guesser": Knows("poison")})
    result = graph.invoke(GO)
    assert "poison" not in str(result)
    assert settled(prefetch).next_calls_adopted == 0


def test_similar_queries() -> None:
    """The result of a query of nearly the same words is a guess; of other words, of another tool or k it is none."""
    script = (
        calls("height of the Eiffel Tower"),
        calls("Eiffel Tower height of the"),
        Turn(calls=[Call("search", {"query": "Eiffel Tower height of the", "k": 9})]),
        calls("Louvre"),
        DONE,
    )
    graph, prefetch = agent(ScriptedChatModel(script=script), CountingSearch(answer=lambda query, k: "324 m"))
    events = watch(prefetch)
    graph.invoke(GO)
    assert [each.guesses for each in of_kind(events, NextCallStarted)] == ["similar"]
    assert settled(prefetch).next_calls_adopted == 1


def test_no_guess_crosses_runs_without_a_scope() -> None:
    """What one run found says nothing in the next; within a scope it does."""
    script = (calls("x"), DONE)
    graph, prefetch = agent(ScriptedChatModel(script=script), CountingSearch())
    for _ in range(2):
        graph.invoke(GO)
    assert settled(prefetch).next_calls == 0
    options = {"scope": lambda configurable: configurable.get("tenant")}
    graph, prefetch = agent(ScriptedChatModel(script=script), CountingSearch(), options=options)
    for tenant in ("one", "two", "one"):
        graph.invoke(GO, {"configurable": {"tenant": tenant}})
    assert settled(prefetch).next_calls_adopted == 1


def test_voided_results_are_guesses() -> None:
    """A speculation that another tool's run has voided answers no call, but may be what the call returns."""

    @tool
    def write(text: str) -> str:
        """Write."""
        return "written"

    search = CountingSearch()
    ours = PrefetchMiddleware(["search"], serve="verified", next_calls=ALWAYS)
    slow(ours.prefetch)
    first = Turn(reasoning="I need to search for alpha. Then I write it.", calls=[Call("write", {"text": "a"})])
    second = Turn(calls=[Call("search", {"query": "alpha"})])
    llm = ScriptedChatModel(script=(first, second, DONE), seconds_per_token=0.005)
    events = watch(ours.prefetch)
    create_agent(llm, [search.tool, write], middleware=[ours]).invoke(GO)
    started = [each.guesses for each in of_kind(events, NextCallStarted)]
    served = settled(ours.prefetch).served
    assert served == 1 or started == ["stale"]  # the call's own speculation may be ready before it comes


def test_tokens_and_money() -> None:
    """Adopted: the message has the provider's usage, once. Cancelled: the tokens are told, and count against it."""
    numbers = iter("1234")
    price = {
        "next_calls": NextCalls(max_wasted_share=1.0, token_price=Price(money=1e-9)),
        "value_of_second": Price(money=1),
    }
    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch(), options=price)
    usage = graph.invoke(GO)["messages"][-1].usage_metadata
    assert usage["output_tokens"] > 0
    report = settled(prefetch)
    assert (report.wasted_input_tokens, report.wasted_output_tokens) == (0, 0)
    graph, prefetch = agent(
        ScriptedChatModel(script=TWICE), CountingSearch(answer=lambda query, k: next(numbers)), options=price
    )
    assert graph.invoke(GO)["messages"][-1].usage_metadata == usage
    report = settled(prefetch)
    assert report.wasted_input_tokens > 0
    assert report.net_value == pytest.approx(
        report.hidden_seconds - (report.wasted_input_tokens + report.wasted_output_tokens) * 1e-9
    )
    assert "cancelled 1" in str(report)


def test_every_private_call_ends_once() -> None:
    """Started = adopted + cancelled + failed, by the events as by the report."""
    numbers = iter(range(20))
    search = CountingSearch(answer=lambda query, k: str(next(numbers) // 3))
    script = (*[calls("x")] * 9, DONE)
    graph, prefetch = agent(ScriptedChatModel(script=script), search)
    events = watch(prefetch)
    graph.invoke(GO)
    report = settled(prefetch)
    started = [each.next_call_id for each in of_kind(events, NextCallStarted)]
    ended = of_kind(events, NextCallEnded)
    assert sorted(started) == sorted(each.next_call_id for each in ended)
    assert report.next_calls == len(started) == 8
    adopted = [each for each in ended if each.fate is NextCallFate.ADOPTED]
    assert report.next_calls_adopted == len(adopted) == 6
    assert all(each.hidden_seconds >= 0 for each in adopted)


def test_a_compiled_graph_is_refused() -> None:
    """with_prefetch cannot own a model call: one error, at once, that says what to use."""
    graph = create_agent(ScriptedChatModel(script=TWICE), [CountingSearch().tool])
    with pytest.raises(ConfigurationError, match=r"PrefetchMiddleware.*or in a graph of your own.*model\(llm\)"):
        with_prefetch(graph, tools=["search"], serve="verified")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"serve": "verifed"}, "Did you mean 'verified'"),
        ({"next_calls": NextCalls(per_run=1)}, "are for serve='verified'"),
        ({"serve": "verified", "next_calls": 3}, "next_calls takes a NextCalls object"),
        ({"serve": "verified", "guesser": "memory"}, "an object with a method guess"),
        ({"serve": "verified", "next_calls": NextCalls(token_price=Price(money=1))}, "add value_of_second=Price"),
    ],
)
def test_wrong_options(options: Any, says: str) -> None:
    """Each says what is wrong and what to do."""
    with pytest.raises(ConfigurationError, match=says):
        Prefetcher(["search"], **options)


def test_nothing_of_it_runs_under_exact() -> None:
    """The default keeps no results and owns no model."""
    ours = PrefetchMiddleware(["search"], budgets=NOTHING_EARLY)
    graph = create_agent(ScriptedChatModel(script=TWICE), [CountingSearch().tool], middleware=[ours])
    graph.invoke(GO)
    assert ours.prefetch.next_calls is None
    assert ours.prefetch.earlier is None
    assert ours.prefetch.report().next_calls == 0


def gone(*held: weakref.ref[Run]) -> bool:
    """Whether nothing holds them; the thread that reads streams may do so for a moment."""
    gc.collect()
    return all(each() is None for each in held)


def test_nothing_is_left_of_a_run() -> None:
    """Neither of one that ended, nor of one that was dropped without an end."""
    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch())
    runs: list[weakref.ref[Run]] = []
    opens = prefetch.open_run

    def opened(configurable: Any = None) -> Run:
        run = opens(configurable)
        runs.append(weakref.ref(run))
        return run

    prefetch.open_run = opened  # type: ignore[method-assign]
    graph.invoke(GO)
    settled(prefetch)
    until(lambda: gone(*runs))

    by_hand = Prefetcher(["search"], **options_for())
    llm = by_hand.model(ScriptedChatModel(script=TWICE))
    run = by_hand.open_run()
    ref = weakref.ref(run)
    listener = StreamListener(by_hand, run)

    # As a node of a graph would call it, which is then never heard of again.
    def think(text: str) -> Any:
        return llm.invoke(text)

    RunnableLambda(think).invoke("go", {"callbacks": [listener]})
    assert run.kept
    del run, listener
    until(lambda: gone(ref))
