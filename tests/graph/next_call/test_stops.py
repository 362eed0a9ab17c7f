"""Verified serving where something stops or comes again."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, interrupt

from langgraph_prefetch import (
    Prefetcher,
    PrefetchMiddleware,
)
from langgraph_prefetch.events import NextCallEnded
from langgraph_prefetch.graph.next_call import ahead
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, held, of_kind, plain, tool_texts, until, watch
from tests.graph.next_call.rigs import KINDS, options_for, repeating, slow
from tests.graph.next_call.watching import TWICE, agent, auntil, both, invoked, settled


def blocking(gate: threading.Event, entered: threading.Event) -> BaseTool:
    """A search whose second run waits at a gate."""
    numbers: list[int] = []

    def find(query: str) -> str:
        """Search."""
        numbers.append(1)
        if len(numbers) == 2:
            entered.set()
            gate.wait(30)
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
            left.wait(30)

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
