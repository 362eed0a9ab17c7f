"""The scripted chat models behave like a provider's client."""

import asyncio
import time
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, message_chunk_to_message
from langchain_core.tools import tool

from langgraph_prefetch.intent.stream import deltas_of_chunk
from langgraph_prefetch.testing.models import (
    Call,
    ReasoningShape,
    ScriptedChatModel,
    ScriptExhaustedError,
    Turn,
    UnstreamedScriptedChatModel,
    script_by_question,
)
from langgraph_prefetch.values import ReasoningDelta, TextDelta

SHAPES = get_args(ReasoningShape)
TURN = Turn(
    reasoning="I need to search for the Colorado orogeny.",
    text="One moment.",
    calls=[
        Call("search", {"query": "Colorado orogeny — né"}),
        {"name": "search", "args": {"query": "b", "k": 3}, "id": "x"},
    ],
)


def model(*turns: Turn, **options: Any) -> ScriptedChatModel:
    return ScriptedChatModel(script=turns, **options)


def shown(message: BaseMessage | None) -> dict[str, Any]:
    assert message is not None
    return {name: value for name, value in message.model_dump().items() if name != "id"}


async def joined_async(scripted: ScriptedChatModel, messages: list[BaseMessage]) -> AIMessageChunk | None:
    total: AIMessageChunk | None = None
    async for chunk in scripted.astream(messages):
        total = chunk if total is None else total + chunk
    return total


def joined(scripted: ScriptedChatModel, messages: list[BaseMessage]) -> AIMessageChunk | None:
    total: AIMessageChunk | None = None
    for chunk in scripted.stream(messages):
        total = chunk if total is None else total + chunk
    return total


@pytest.mark.parametrize("shape", SHAPES)
async def test_whole_and_streamed_messages_are_equal(shape: ReasoningShape) -> None:
    """Whether a scripted model streams changes nothing about its message, in threads or loops, in every shape."""
    scripted = model(TURN, reasoning_as=shape)
    asked: list[BaseMessage] = [HumanMessage("q")]
    whole = shown(scripted.invoke(asked))
    assert shown(await scripted.ainvoke(asked)) == whole
    streams = (joined(scripted, asked), await joined_async(scripted, asked))
    for streamed in streams:
        assert streamed is not None
        assert shown(message_chunk_to_message(streamed)) == whole
    assert [call["args"] for call in whole["tool_calls"]] == [
        {"query": "Colorado orogeny — né"},
        {"query": "b", "k": 3},
    ]
    assert [call["id"] for call in whole["tool_calls"]] == ["call_1_0", "x"]


@pytest.mark.parametrize("shape", SHAPES)
def test_thinking_and_text_are_read_back(shape: ReasoningShape) -> None:
    """Every shape is one the intent room can read: thinking and text come out whole, and apart if told apart."""
    deltas = [delta for chunk in model(TURN, reasoning_as=shape).stream("q") for delta in deltas_of_chunk(chunk)]
    thought = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    expected = {
        "text": ("", f"{TURN.reasoning}{TURN.text}"),
        "think_tags": ("", f"<think>{TURN.reasoning}</think>{TURN.text}"),
    }
    assert (thought, said) == expected.get(shape, (TURN.reasoning, TURN.text))


def test_arguments_come_in_fragments() -> None:
    """A call's JSON is cut, so that nobody can rely on arguments that come at once."""
    chunks = [part for chunk in model(TURN).stream("q") for part in chunk.tool_call_chunks if part["index"] == 0]
    assert [part["name"] for part in chunks] == ["search", None, None, None]
    assert all(part["args"] != '{"query": "Colorado orogeny — né"}' for part in chunks)


def test_turns_follow_the_conversation() -> None:
    """The turn depends on the conversation alone, and a script that is too short says so."""
    scripted = model(Turn(text="one"), Turn(text="two"))
    first = scripted.invoke("q")
    assert [scripted.invoke("q").content, scripted.invoke([HumanMessage("q"), first]).content] == ["one", "two"]
    with pytest.raises(ScriptExhaustedError, match="has 2 turns, the conversation asks for turn 3"):
        scripted.invoke([HumanMessage("q"), first, AIMessage("two")])


def test_scripts_by_question() -> None:
    """One model answers several users; each question is counted from where it was asked."""
    scripted = ScriptedChatModel(
        script=script_by_question({"a": [Turn(text="A1"), Turn(text="A2")], "b": [Turn(text="B")]})
    )
    assert scripted.invoke([HumanMessage("a"), AIMessage("A1")]).content == "A2"
    assert scripted.invoke([HumanMessage("b"), AIMessage("B"), HumanMessage("a")]).content == "A1"
    with pytest.raises(ScriptExhaustedError, match="no script for the question 'c'"):
        scripted.invoke("c")


@pytest.mark.parametrize("silent", [model(TURN, streams=False), UnstreamedScriptedChatModel(script=[TURN])])
def test_a_model_that_does_not_stream(silent: UnstreamedScriptedChatModel) -> None:
    """Without streaming even ``stream()`` gives the whole message at once."""
    assert shown(silent.invoke("q")) == shown(model(TURN).invoke("q"))
    content = [chunk.content for chunk in silent.stream("q") if chunk.content]
    assert content == [f"{TURN.reasoning}{TURN.text}"]


async def test_tokens_take_time() -> None:
    """A message of n pieces takes n silences, streamed or not, and an async wait lets the loop go on."""
    scripted = model(Turn(text="a b c d"), seconds_per_token=0.02, seconds_to_first_token=0.05)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    for run in (scripted.ainvoke("q"), joined_async(scripted, [HumanMessage("q")])):
        began = time.monotonic()
        await run
        assert time.monotonic() - began >= 0.1
    ticking.cancel()
    assert ticks >= 10
    began = time.monotonic()
    scripted.invoke("q")
    assert time.monotonic() - began >= 0.1


async def test_a_broken_stream() -> None:
    """A turn with an error fails as a provider does: after the tokens when streamed, at once when not."""
    scripted = model(Turn(text="a b", error=ConnectionError("cut")))
    stream = scripted.stream("q")
    assert [next(stream).content, next(stream).content] == ["a ", "b"]
    with pytest.raises(ConnectionError, match="cut"):
        next(stream)
    for call in (scripted.ainvoke("q"), joined_async(scripted, [HumanMessage("q")])):
        with pytest.raises(ConnectionError, match="cut"):
            await call


def test_tools_are_bound_as_a_provider_would() -> None:
    """Bound tools reach the call's settings, where traces and guards look for them."""

    @tool
    def search(query: str) -> str:
        """Search."""
        return query

    bound: Any = model(TURN).bind_tools([search], tool_choice="any")
    assert bound.kwargs["tools"][0]["function"]["name"] == "search"
    assert bound.kwargs["tool_choice"] == "any"
    assert bound.invoke("q").tool_calls
