"""The evidence behind ``STREAMED_EQUALS_INVOKED``: real client classes, the same script plain and streamed."""

from typing import Any, get_args

import pytest
from langchain_core.load import dumpd

from langgraph_prefetch.graph.streaming_models import STREAMED_EQUALS_INVOKED
from langgraph_prefetch.testing import models
from langgraph_prefetch.testing.models import ReasoningShape, ScriptedChatModel
from langgraph_prefetch.testing.wire import OpenAIWire
from tests.wire.clients import ANTHROPIC_THINKING, BEDROCK, CLIENTS, OPENAI, Client, openai
from tests.wire.comparing import CUT_CALL, TEXT, TURNS, Outcome, search
from tests.wire.listening import Listener

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


def test_table_lists_exactly_the_tested_classes() -> None:
    """A class in the table that no test compares is a guess, and a compared class must not be missing from it."""
    scripted = dumpd(ScriptedChatModel(script=[]))["id"]
    assert {client.class_path for client in CLIENTS} | {".".join(scripted)} == set(STREAMED_EQUALS_INVOKED)


@each_client
def test_table_says_what_differs(client: Client, outcomes_of: tuple[Outcome, ...]) -> None:
    """No difference goes unlisted: what the table calls equal is equal, in every turn and call style."""
    row = STREAMED_EQUALS_INVOKED[client.class_path]
    unlisted = [
        (outcome.turn, outcome.tools, outcome.style, outcome.fields - row.differs, outcome.metadata - row.metadata)
        for outcome in outcomes_of
        if not (outcome.fields <= row.differs and outcome.metadata <= row.metadata)
    ]
    assert unlisted == []


@each_client
def test_table_lists_nothing_that_is_equal(client: Client, outcomes_of: tuple[Outcome, ...]) -> None:
    """A class whose messages became equal must not stay off, so every listed difference is still seen."""
    row = STREAMED_EQUALS_INVOKED[client.class_path]
    assert row.differs == frozenset().union(*(outcome.fields for outcome in outcomes_of))
    assert row.metadata == frozenset().union(*(outcome.metadata for outcome in outcomes_of))


@each_client
def test_listening_hears_the_tokens(client: Client, outcomes_of: tuple[Outcome, ...]) -> None:
    """A handler with the tap methods makes a plain ``invoke`` or ``ainvoke`` stream, and hears each token."""
    deaf = [o.turn for o in outcomes_of if o.heard < len(TURNS[o.turn].text) + len(TURNS[o.turn].calls)]
    assert deaf == []


@each_client
def test_calls_keep_name_arguments_id_and_order(client: Client, outcomes_of: tuple[Outcome, ...]) -> None:
    """Whatever else differs, a streamed message asks for the same calls in the same order."""
    for outcome in outcomes_of:
        assert outcome.streamed.tool_calls == outcome.invoked.tool_calls
        assert outcome.streamed.text == outcome.invoked.text
    assert any(len(outcome.invoked.tool_calls) == 2 for outcome in outcomes_of)


@pytest.mark.parametrize("client", [ANTHROPIC_THINKING, BEDROCK], ids=lambda client: client.name)
def test_thinking_blocks_survive_streaming(client: Client, outcomes_of: tuple[Outcome, ...]) -> None:
    """The next turn replays thinking with its signature: a streamed message has the same blocks in the same order."""
    compared = [outcome for outcome in outcomes_of if TURNS[outcome.turn].reasoning and outcome.tools]
    assert compared
    for outcome in compared:
        plain, streamed = (
            [{key: value for key, value in block.items() if key != "index"} for block in message.content_blocks]
            for message in (outcome.invoked, outcome.streamed)
        )
        assert streamed[0] == plain[0]
        assert [block["type"] for block in streamed] == [block["type"] for block in plain]


@pytest.mark.parametrize("undo", [True, False])
def test_cut_call_runs_only_when_not_undone(undo: bool) -> None:
    """LangChain completes cut JSON of a stream: without the undo a graph would run a call that was never finished."""
    with OpenAIWire([CUT_CALL]) as server:
        model = openai(server.url).bind_tools([search])
        bare = model.invoke("go")
        streamed = model.invoke("go", {"callbacks": [Listener(undo=undo)]})
    assert [call["args"] for call in bare.tool_calls] == [{"query": "whole"}]
    assert [call["args"] for call in bare.invalid_tool_calls] == ['{"query": "capital of Fra']
    assert (streamed.tool_calls == bare.tool_calls) is undo
    assert (streamed.invalid_tool_calls == bare.invalid_tool_calls) is undo


@pytest.mark.parametrize("shape", get_args(ReasoningShape))
async def test_scripted_model_is_equal(shape: ReasoningShape) -> None:
    """The test model that users get is made to stream too, whichever shape its thinking has."""
    calls = [{"name": "search", "args": {"query": query}} for query in ("alpha", "beta")]
    script = [models.Turn(reasoning="I should search. ", text="Both. ", calls=calls)]
    model = ScriptedChatModel(script=script, reasoning_as=shape).bind_tools([search])
    listener = Listener()
    config: Any = {"callbacks": [listener]}
    invoked = Outcome("", True, "invoke", model.invoke("q"), model.invoke("q", config), listener.heard)
    awaited = Outcome("", True, "ainvoke", await model.ainvoke("q"), await model.ainvoke("q", config), listener.heard)
    assert [outcome.fields | outcome.metadata for outcome in (invoked, awaited)] == [frozenset(), frozenset()]
    assert 0 < invoked.heard < awaited.heard


def test_openai_needs_stream_usage() -> None:
    """Why the table asks for ``stream_usage``: without it, a streamed message has no token counts."""
    assert STREAMED_EQUALS_INVOKED[OPENAI.class_path].needs == {"stream_usage": True}
    with OpenAIWire([TEXT]) as server:
        model = openai(server.url, stream_usage=None)
        bare, streamed = model.invoke("go"), model.invoke("go", {"callbacks": [Listener()]})
    assert bare.usage_metadata is not None
    assert streamed.usage_metadata is None
