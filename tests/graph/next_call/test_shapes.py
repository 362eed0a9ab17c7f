"""Models of other shapes: native protocol events, messages named after their run, no stream; and calls side by side."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain.agents.middleware import wrap_tool_call
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models._compat_bridge import achunks_to_events, chunks_to_events
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from langgraph_prefetch import Budgets, Prefetcher, ResultGuess
from langgraph_prefetch.events import NextCallStarted
from langgraph_prefetch.graph.next_call.steps import Expected, ToolStep, kind_of, message_of_call, probability_of
from langgraph_prefetch.graph.next_call.tokens import Tokens, tokens_of
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn, UnstreamedScriptedChatModel, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.values import Output
from tests.graph.cases.rigs import DONE, GO, calls, of_kind, plain, tool_texts, until, watch
from tests.graph.matrix.compare import assert_same
from tests.graph.matrix.kinds import World
from tests.graph.matrix.styles import STYLES
from tests.graph.next_call.rigs import KINDS, REPEATS, Kind, _agent
from tests.graph.next_call.watching import agent, invoked, settled

TWICE = (calls("x"), calls("x"), DONE)


class Native(ScriptedChatModel):
    """Speaks the streaming protocol itself."""

    def _stream_chat_model_events(self, messages: list[BaseMessage], **kwargs: Any) -> Iterator[Any]:
        kwargs.pop("run_manager", None)
        yield from chunks_to_events(self._stream(messages, **kwargs), message_id=f"native-{len(messages)}")

    async def _astream_chat_model_events(self, messages: list[BaseMessage], **kwargs: Any) -> AsyncIterator[Any]:
        kwargs.pop("run_manager", None)
        async for event in achunks_to_events(self._astream(messages, **kwargs), message_id=f"native-{len(messages)}"):
            yield event


class NamedAfterRun(ScriptedChatModel):
    """Gives its messages ids made from the run's, as older clients do."""

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        for chunk in super()._stream(messages, stop, run_manager, **kwargs):
            if run_manager is not None:
                chunk.message.id = f"mine-{run_manager.run_id}"
            yield chunk


class ModelWorld(World):
    """A world with a model of another class."""

    model_class: Any = ScriptedChatModel

    def model(self) -> Any:
        return self.model_class(script=self.turns)


def world_of(model_class: Any) -> ModelWorld:
    world = ModelWorld(REPEATS)
    world.model_class = model_class
    return world


@pytest.mark.parametrize("model_class", [Native, NamedAfterRun, UnstreamedScriptedChatModel])
@pytest.mark.parametrize("style", ["stream-everything", "stream_events-v3", "ainvoke", "astream_events-v3"])
def test_models_of_other_shapes(model_class: Any, style: str) -> None:
    """What they say comes as it would from the bare agent: events, ids and whole messages."""
    seen: list[Prefetcher] = []
    assert_same(
        KINDS["agent"].bare,
        lambda made: KINDS["agent"].wrapped(made, seen),
        STYLES[style],
        lambda: world_of(model_class),
    )
    report = settled(seen[0])
    assert report.next_calls == report.next_calls_adopted == 2


def meeting(barrier: threading.Barrier, answers: dict[str, str]) -> BaseTool:
    """A search whose calls of one message wait for each other, so that all have arrived before one returns."""
    arrived: list[str] = []

    def find(query: str) -> str:
        """Search."""
        barrier.wait(30)
        return answers[query]

    async def afind(query: str) -> str:
        """Search."""
        arrived.append(query)
        whole = -(-len(arrived) // barrier.parties) * barrier.parties
        async with asyncio.timeout(60):
            while len(arrived) < whole:  # noqa: ASYNC110 - calls of one loop
                await asyncio.sleep(0.001)
        return answers[query]

    return StructuredTool.from_function(find, afind, name="search", description="Search.")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("turned", [False, True])
def test_calls_side_by_side(is_async: bool, turned: bool) -> None:
    """The next call starts once each has a guess; its results stand in the order of the message's calls."""
    again = calls("b", "a") if turned else calls("a", "b")
    search = meeting(threading.Barrier(2), {"a": "about a", "b": "about b"})
    graph, prefetch = agent(ScriptedChatModel(script=(calls("a", "b"), again, DONE)), search)
    texts = tool_texts(invoked(graph, is_async))
    assert texts == ["about a", "about b", *(["about b", "about a"] if turned else ["about a", "about b"])]
    report = settled(prefetch)
    assert report.next_calls == report.next_calls_adopted == 1


def test_one_of_two_is_wrong() -> None:
    """One wrong guess is enough: the private call ends when that tool has returned, and is not adopted."""
    answers = {"a": "about a", "b": "about b"}
    search = meeting(threading.Barrier(2, action=lambda: answers.update(b=answers["b"] + "!")), answers)
    graph, prefetch = agent(ScriptedChatModel(script=(calls("a", "b"), calls("a", "b"), DONE)), search)
    assert tool_texts(graph.invoke(GO)) == ["about a", "about b!", "about a", "about b!!"]
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_adopted) == (1, 0)


def test_one_is_at_hand() -> None:
    """A call whose result is ready counts as that result, and the next model call runs beside the other one."""
    prefetches: list[Prefetcher] = []
    asked: list[str] = []

    def ready() -> bool:
        (run,) = prefetches[0]._runs.all()
        return any(entry.state is FlightState.READY for entry in run.session.cache.entries())

    def find(query: str, k: int) -> str:
        asked.append(query)
        if asked.count("b") == 2 and query == "b":
            until(lambda: prefetches[0].report().next_calls)
        return "found"

    @wrap_tool_call
    def patient(request: Any, handler: Any) -> Any:
        if request.tool_call["id"] == "call_2_0":
            until(lambda: asked.count("b") == 2 and ready())
        return handler(request)

    llm = ScriptedChatModel(script=(calls("a", "b"), calls("a", "b"), DONE))
    early = {"budgets": Budgets(guesses_per_step=0, sealed_per_step=1)}
    graph, prefetch = agent(llm, CountingSearch(answer=find), patient, options=early)
    prefetches.append(prefetch)
    events = watch(prefetch)
    assert tool_texts(graph.invoke(GO)) == ["found"] * 4
    assert settled(prefetch).next_calls_adopted == 1
    assert [each.guesses for each in of_kind(events, NextCallStarted)] == ["result+stale"]


def test_one_by_one() -> None:
    """Where calls run one after the other, those that have returned count as what they returned."""
    search = CountingSearch()
    graph, prefetch = agent(ScriptedChatModel(script=(calls("a"), calls("b", "a"), DONE)), search)
    assert len(tool_texts(graph.invoke(GO, {"max_concurrency": 1}))) == 3
    assert settled(prefetch).next_calls_adopted == 1


def test_branches_at_the_same_time() -> None:
    """Agents that run side by side in one graph have private calls of their own."""
    cities = ("Reims", "Köln", "Sevilla")
    script = script_by_question({city: (calls(city), calls(city), Turn(text=f"{city} has one.")) for city in cities})

    def build(world: World, inner: Kind, seen: list[Prefetcher] | None) -> Any:
        one = inner.bare(world) if seen is None else inner.wrapped(world, seen)
        graph = StateGraph(MessagesState)
        graph.add_node("agent", one)
        graph.add_conditional_edges(
            START, lambda state: [Send("agent", {"messages": [HumanMessage(city)]}) for city in cities], ["agent"]
        )
        return graph.compile()

    inner, seen = Kind(_agent, _agent, is_agent=True), list[Prefetcher]()
    expected = build(World(script), inner, None).invoke(GO)["messages"]
    shown = build(World(script), inner, seen).invoke(GO)["messages"]
    assert plain(shown) == plain(expected)
    assert settled(seen[0]).next_calls_adopted == len(cities)


def step_of(*call_ids: str) -> ToolStep:
    made = [{"name": "search", "args": {}, "id": call_id} for call_id in call_ids]
    return ToolStep(AIMessage("", tool_calls=made), None)


def expected(text: str, **more: Any) -> Expected:
    return Expected(message=ToolMessage(text, tool_call_id="?"), **{"kind": "stale", "probability": 0.5, **more})


def test_the_bookkeeping_of_a_step() -> None:
    """Complete once all are known, in the message's order; what has come is not guessed any more."""
    step = step_of("1", "2", "3")
    step.expect("2", expected("two"))
    step.expect("1", expected("one", kind="similar"))
    assert step.complete() is None
    step.came("3", ToolMessage("three", tool_call_id="3"), "search")
    step.expect("3", expected("too late"))
    found = step.complete()
    assert found is not None
    assert [each.message and each.message.content for each in found] == ["one", "two", "three"]
    assert (kind_of(found), probability_of(found), step.all_came) == ("similar+stale", 0.25, False)
    step.came("1", None, "search")  # a command, say: nothing that a request could be made of
    assert step.complete() is None
    assert step_of().complete() is None


def test_where_a_state_keeps_its_messages() -> None:
    """In a list, under any key of a mapping, or in any field of an object."""
    message = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])

    class State:
        def __init__(self) -> None:
            self.talk, self.other = [HumanMessage("q"), message], 3

    for state in ([message], {"other": "x", "talk": (message,)}, State()):
        assert message_of_call(state, "1") is message
        assert message_of_call(state, "2") is None
    assert message_of_call(None, "1") is None


def test_tokens_of_a_wasted_call() -> None:
    """As the provider told them, else estimated: of chunks, events and whole messages, tools included."""
    asked = [HumanMessage("word " * 100)]
    chunks = ScriptedChatModel(script=())._chunks(Turn(text="four word text here"), 0)
    assert tokens_of(asked, {}, []).written == 0
    assert 80 < tokens_of(asked, {}, []).read < 200
    assert tokens_of(asked, {"tools": [{"name": "search", "description": "word " * 100}]}, []).read > 200
    assert tokens_of(asked, {}, chunks[:2]).written == 2  # ten characters
    told = {"input_tokens": 700, "output_tokens": 9, "total_tokens": 709}
    whole = ChatResult(generations=[ChatGeneration(message=AIMessage("done", usage_metadata=told))])
    assert tokens_of(asked, {}, [whole]) == Tokens(700, 9)
    delta = {"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": "x" * 40}}
    assert tokens_of(asked, {}, [delta]).written == 10


def test_until_it_is_told() -> None:
    """A guess that comes after the search has returned is too late, and harmless."""
    told: list[Any] = []

    class Late:
        def guess(self, asked: Any, tell: Any) -> None:
            told.append(tell)

    graph, prefetch = agent(ScriptedChatModel(script=TWICE), CountingSearch(), options={"guesser": Late()})
    graph.invoke(GO)
    for tell in told:
        tell(ResultGuess(output=Output("late"), kind="late", probability=0.9))
        tell(None)
    until(lambda: len(told) == 2)
    assert settled(prefetch).next_calls == 0
