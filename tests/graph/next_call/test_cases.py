"""Verified serving where something goes wrong, stops, or comes again."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware, ModelRetryMiddleware, before_model, wrap_model_call
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, interrupt

from langgraph_prefetch import (
    ConfigurationError,
    NextCalls,
    Prefetcher,
    PrefetchMiddleware,
    Price,
    Report,
    prefetching_tool_node,
    speculating,
    with_prefetch,
)
from langgraph_prefetch.events import NextCallEnded, NextCallFate, NextCallIgnored, NextCallStarted
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.next_call import ahead
from langgraph_prefetch.graph.next_call.private import PrivateCall
from langgraph_prefetch.guesses import Asked, ResultGuess, Tell
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation import next_call
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.values import Output
from tests.graph.cases.rigs import DONE, GO, calls, held, of_kind, plain, tool_texts, until, watch
from tests.graph.matrix.compare import assert_same
from tests.graph.matrix.kinds import World
from tests.graph.matrix.styles import STYLES
from tests.graph.next_call.rigs import ALWAYS, KINDS, NOTHING_EARLY, options_for, react, repeating, slow

TWICE = (calls("x"), calls("x"), DONE)


def settled(prefetch: Prefetcher) -> Report:
    """The report once every private call has stopped."""
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert report.troubles == 0
    return report


async def auntil(holds: Callable[[], Any]) -> None:
    """Wait until ``holds()`` without blocking the loop."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - what it waits for happens on other threads
            await asyncio.sleep(0.002)


def agent(llm: Any, search: Any, *middleware: Any, options: Any = None, **compiled: Any) -> tuple[Any, Prefetcher]:
    """An agent with verified serving, innermost."""
    ours = PrefetchMiddleware(["search"], **options_for(force_streaming=True, **(options or {})))
    found = search.tool if isinstance(search, CountingSearch) else search
    graph = create_agent(llm, [found], middleware=[*middleware, ours], **compiled)
    return graph, slow(ours.prefetch)


def invoked(graph: Any, is_async: bool, given: Any = GO, config: Any = None) -> Any:
    return asyncio.run(graph.ainvoke(given, config)) if is_async else graph.invoke(given, config)


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Watched(ScriptedChatModel):
    """Tells a function of each call's beginning, which may raise."""

    begins: Callable[[list[BaseMessage]], None]

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        self.begins(messages)
        yield from super()._stream(messages, *args, **kwargs)

    async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.begins(messages)
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk


# --- failures


@both
def test_a_private_failure_is_no_failure(is_async: bool) -> None:
    """A rate limit met in private: the call is made as usual, and the provider is left alone for a while."""

    def begins(messages: list[BaseMessage]) -> None:
        if speculating.get():
            raise RuntimeError("429")

    llm = Watched(script=[calls("x"), calls("x"), calls("x"), DONE], begins=begins)
    graph, prefetch = agent(llm, CountingSearch())
    events = watch(prefetch)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_failed, report.next_calls_adopted) == (1, 1, 0)
    assert report.next_calls_ignored == (("next call: failed a moment ago", 1),)
    assert [each.reason for each in of_kind(events, NextCallEnded)] == ["RuntimeError"]


@both
def test_a_failure_before_the_first_word(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adopted while it says nothing yet, and then refused by the provider: the call is made as usual."""
    adopted, adopt = threading.Event(), PrivateCall.adopt

    def adopts(call: PrivateCall) -> bool:
        adopted.set()
        return adopt(call)

    monkeypatch.setattr(PrivateCall, "adopt", adopts)

    class Refused(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            if speculating.get():
                adopted.wait(5)
                raise RuntimeError("429")
            yield from super()._stream(messages, *args, **kwargs)

        async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            if speculating.get():
                await auntil(adopted.is_set)
                raise RuntimeError("429")
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk

    graph, prefetch = agent(Refused(script=TWICE), CountingSearch())
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_failed, report.next_calls_adopted) == (1, 1, 0)
    assert adopted.is_set()


FAILS = (calls("x"), calls("x"), Turn(text="It stands in", error=ValueError("cut off")))


@pytest.mark.parametrize("kind", ["agent", "drawn"])
@pytest.mark.parametrize("style", ["invoke", "stream-everything", "ainvoke", "astream_events-v2", "stream_events-v3"])
def test_a_model_that_fails_in_the_middle(kind: str, style: str) -> None:
    """Before or after adoption: tokens, events and the error are those of the bare run."""
    seen: list[Prefetcher] = []
    assert_same(
        KINDS[kind].bare,
        lambda made: KINDS[kind].wrapped(made, seen),
        STYLES[style],
        lambda: World(FAILS),
    )
    settled(seen[0])


class Broken(ScriptedChatModel):
    """Says the beginning of its last turn, waits for the gate, and fails."""

    gate: Any

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        stream = super()._stream(messages, *args, **kwargs)
        if sum(isinstance(message, AIMessage) for message in messages) < 2:
            yield from stream
            return
        yield next(stream)
        self.gate.wait(5)
        raise ValueError("cut off")


def test_a_failure_after_adoption_surfaces() -> None:
    """What the graph has begun to show cannot be taken back: the error comes as it would from a bare run."""
    with held() as gate:
        llm = Broken(script=(calls("x"), calls("x"), Turn(text="It is done")), gate=gate)
        graph, prefetch = agent(llm, CountingSearch())
        shown: list[str] = []

        def read() -> None:
            for chunk, _ in graph.stream(GO, stream_mode="messages"):
                shown.append(chunk.text)
                if chunk.text.startswith("It"):
                    gate.set()

        with pytest.raises(ValueError, match="cut off"):
            read()
        assert shown[-1] == "It "
        assert settled(prefetch).next_calls_adopted == 1


@both
def test_retries_and_fallbacks(is_async: bool) -> None:
    """A user's retry or fallback around the model call sees each call once, and calls again as it would."""
    tried: list[bool] = []

    def begins(messages: list[BaseMessage]) -> None:
        if not speculating.get():
            tried.append(True)
            if len(tried) == 1:
                raise RuntimeError("busy")

    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    graph, prefetch = agent(Watched(script=TWICE, begins=begins), CountingSearch(), retry)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    assert (len(tried), settled(prefetch).next_calls_adopted) == (3, 1)  # refused, asked again, and the second search

    def never(messages: list[BaseMessage]) -> None:
        raise RuntimeError("down")

    fallback = ModelFallbackMiddleware(ScriptedChatModel(script=TWICE))
    graph, prefetch = agent(Watched(script=TWICE, begins=never), CountingSearch(), fallback)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    settled(prefetch)


# --- what stops


def blocking(gate: threading.Event, entered: threading.Event) -> BaseTool:
    """A search whose second run waits at a gate."""
    numbers: list[int] = []

    def find(query: str) -> str:
        """Search."""
        numbers.append(1)
        if len(numbers) == 2:
            entered.set()
            gate.wait(5)
        return "found"

    async def afind(query: str) -> str:
        """Search."""
        numbers.append(1)
        if len(numbers) == 2:
            entered.set()
            await auntil(gate.is_set)
        return "found"

    return StructuredTool.from_function(find, afind, name="search", description="Search.")


async def test_cancelling_the_run_ends_the_private_call() -> None:
    """Nobody pays for the rest of it."""
    with held() as gate:
        entered = threading.Event()
        llm = ScriptedChatModel(script=(calls("x"), calls("x"), Turn(text="word " * 200)), seconds_per_token=0.02)
        graph, prefetch = agent(llm, blocking(gate, entered))
        run = asyncio.ensure_future(graph.ainvoke(GO))
        await auntil(lambda: entered.is_set() and prefetch.report().next_calls)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await auntil(lambda: not prefetch.report().next_calls_unsettled)
    report = prefetch.report()
    assert (report.next_calls, report.next_calls_cancelled, report.troubles) == (1, 1, 0)
    assert report.wasted_output_tokens < 200


def test_a_sync_call_is_abandoned_at_its_next_piece() -> None:
    """A thread cannot be broken off sooner; it stops, and the pieces it had are counted."""
    answers = iter(("one", "two"))
    pieces = threading.Event()

    def find(query: str, k: int) -> str:
        answer = next(answers)
        if answer == "two":
            until(lambda: prefetch.report().next_calls)
            pieces.wait(0.05)
        return answer

    llm = ScriptedChatModel(script=(calls("x"), calls("x"), Turn(text="word " * 300)), seconds_per_token=0.001)
    graph, prefetch = agent(llm, CountingSearch(answer=find))
    events = watch(prefetch)
    assert len(graph.invoke(GO)["messages"]) == 6
    report = settled(prefetch)
    assert [each.reason for each in of_kind(events, NextCallEnded)] == ["a tool returned something else"]
    assert (report.next_calls_cancelled, report.next_calls_adopted) == (1, 0)
    assert report.wasted_output_tokens < 300


def test_pause_ends_the_private_call() -> None:
    """The kill switch is for model calls too."""
    with held() as gate:
        entered = threading.Event()
        llm = ScriptedChatModel(script=(calls("x"), calls("x"), Turn(text="word " * 100)), seconds_per_token=0.005)
        graph, prefetch = agent(llm, blocking(gate, entered))
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(graph.invoke(GO)))
        thread.start()
        until(lambda: prefetch.report().next_calls)
        prefetch.pause()
        gate.set()
        thread.join(10)
    assert tool_texts(results[0]) == ["found", "found"]
    assert settled(prefetch).next_calls_cancelled == 1


def test_what_nobody_asks_for_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that goes elsewhere after its tools is not followed for ever."""
    monkeypatch.setattr(ahead, "UNCLAIMED_SECONDS", 0.0)
    left = threading.Event()

    @before_model
    def linger(state: Any, runtime: Any) -> None:
        if len(state["messages"]) == 5:
            left.wait(5)

    llm = ScriptedChatModel(script=(calls("x"), calls("x"), Turn(text="word " * 50)), seconds_per_token=0.002)
    graph, prefetch = agent(llm, CountingSearch(), linger)
    events = watch(prefetch)
    prefetch.subscribe(lambda event: left.set() if isinstance(event, NextCallEnded) else None)
    assert graph.invoke(GO)["messages"][-1].content.startswith("word")
    assert [each.reason for each in of_kind(events, NextCallEnded)] == ["nobody asked for it"]


@both
def test_recursion_limit(is_async: bool) -> None:
    """The run ends where the bare one does, and the private call with it."""
    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch())
    with pytest.raises(GraphRecursionError):
        invoked(graph, is_async, GO, {"recursion_limit": 4})
    prefetch.close()
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_adopted) == (1, 0)


# --- what comes again


@both
def test_interrupts(is_async: bool) -> None:
    """A tool that asks a person: nothing is adopted before the answer, and everything is as in the bare run."""

    def build(*middleware: Any) -> Any:
        asked: list[str] = []

        def find(query: str) -> str:
            """Search."""
            asked.append(query)
            return f"{query}: {interrupt('may I?')}" if query == "y" else "found"

        async def afind(query: str) -> str:
            """Search."""
            return find(query)

        search = StructuredTool.from_function(find, afind, name="search", description="Search.")
        script = (calls("x"), calls("x", "y"), calls("x", "y"), DONE)
        return create_agent(
            ScriptedChatModel(script=script), [search], middleware=middleware, checkpointer=InMemorySaver()
        )

    def run(graph: Any) -> list[Any]:
        config: Any = {"configurable": {"thread_id": "1"}}
        shown = [invoked(graph, is_async, GO, config)["__interrupt__"][0].value]
        shown += [plain(invoked(graph, is_async, Command(resume=each), config)["messages"]) for each in ("yes", "no")]
        history = [(state.next, plain(state.values.get("messages", ()))) for state in graph.get_state_history(config)]
        return [*shown, history]

    ours = PrefetchMiddleware(["search"], **options_for())
    slow(ours.prefetch)
    assert run(build(ours)) == run(build())
    ours.prefetch.close()
    settled(ours.prefetch)


def test_checkpoints_and_time_travel() -> None:
    """The history is the bare run's, and a run that is taken up again from the middle goes on as it would."""

    def run(kind: str, seen: list[Prefetcher] | None) -> list[Any]:
        world = repeating(options={"checkpointer": InMemorySaver()})
        graph = KINDS[kind].bare(world) if seen is None else KINDS[kind].wrapped(world, seen)
        config: Any = {"configurable": {"thread_id": "1"}}
        result = graph.invoke({"messages": [HumanMessage("q", id="q")]}, config)
        history = list(graph.get_state_history(config))
        again = graph.invoke(None, history[-4].config)
        states = [(state.next, state.metadata, plain(state.values.get("messages", ()))) for state in history]
        return [plain(result["messages"]), plain(again["messages"]), states]

    for kind in ("agent", "drawn", "react_v2"):
        seen: list[Prefetcher] = []
        assert run(kind, seen) == run(kind, None)
        assert settled(seen[0]).next_calls_adopted >= 2


# --- what a private call must not do


@both
def test_nobody_hears_it(is_async: bool) -> None:
    """No callback, no custom stream and no tracer: what it writes is said when it is adopted, in its place."""

    class Writing(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            get_stream_writer()(f"asked {len(messages)}")
            yield from super()._stream(messages, *args, **kwargs)

        async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            get_stream_writer()(f"asked {len(messages)}")
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk

    def written(answer: Any) -> list[str]:
        graph, prefetch = agent(Writing(script=TWICE), CountingSearch(answer=answer))

        async def go() -> list[str]:
            return [each async for each in graph.astream(GO, stream_mode="custom")]

        found = asyncio.run(go()) if is_async else list(graph.stream(GO, stream_mode="custom"))
        assert settled(prefetch).next_calls == 1
        return found

    numbers = iter("12345")
    assert written(lambda query, k: "same") == ["asked 1", "asked 3", "asked 5"]
    assert written(lambda query, k: next(numbers)) == ["asked 1", "asked 3", "asked 5"]


def test_a_model_inside_a_tool_is_left_alone() -> None:
    """A tool that asks the same model neither adopts nor ends the agent's private call."""
    prefetch = slow(Prefetcher(["search"], **options_for()))
    llm = prefetch.model(ScriptedChatModel(script=(calls("x"), calls("x"), DONE)))

    call = {"name": "search", "args": {"query": "x"}, "id": "call_2_0"}
    asked = [AIMessage("", tool_calls=[call]), ToolMessage("hm", tool_call_id="call_2_0"), AIMessage("hm")]

    @tool
    def search(query: str) -> str:
        """Search."""
        return str(llm.invoke([HumanMessage("hm"), *asked]).content)

    graph = react(llm, prefetching_tool_node([search], prefetch), version="v2")
    result = graph.with_config(callbacks=[prefetch.handler()]).invoke(GO)
    assert tool_texts(result) == [DONE.text, DONE.text]
    assert settled(prefetch).next_calls_adopted == 1


def test_requests_that_a_middleware_changes() -> None:
    """A system prompt that differs each time is a different request; cache marks in the settings are kept."""
    asked: list[Any] = []
    numbers = iter(range(10))

    @wrap_model_call
    def stamped(request: Any, handler: Any) -> Any:
        return handler(request.override(system_message=SystemMessage(f"call {next(numbers)}")))

    @wrap_model_call
    def cached(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={"cache_control": {"type": "ephemeral"}}))

    class Settings(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            asked.append(kwargs.get("cache_control"))
            yield from super()._stream(messages, *args, **kwargs)

    graph, prefetch = agent(Settings(script=TWICE), CountingSearch(), stamped)
    graph.invoke(GO)
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_cancelled) == (1, 1)
    asked.clear()
    graph, prefetch = agent(Settings(script=TWICE), CountingSearch(), cached)
    graph.invoke(GO)
    assert settled(prefetch).next_calls_adopted == 1
    assert asked == [{"type": "ephemeral"}] * 3


# --- bounds, money and modes


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
