"""A whole agent under plain ``invoke`` and ``ainvoke``, bare and with a listener at the end of the call's handlers."""

from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from langgraph_prefetch.graph.streaming_models import STREAMED_EQUALS_INVOKED
from langgraph_prefetch.testing.wire import Turn, words
from tests.wire.clients import ANTHROPIC_THINKING, AZURE, BEDROCK, OPENAI, Client
from tests.wire.comparing import CUT_CALL, METADATA, PARALLEL, THOUGHT, THOUGHT_CALL, WORDLESS, search
from tests.wire.listening import Listener

DONE = Turn(reasoning=THOUGHT, text=words("It is done. "))
SCRIPT = (THOUGHT_CALL, PARALLEL, DONE)

each_client = pytest.mark.parametrize("client", [OPENAI, AZURE, ANTHROPIC_THINKING, BEDROCK], ids=lambda c: c.name)
each_style = pytest.mark.parametrize("style", ["invoke", "ainvoke"])


async def run(model: BaseChatModel, style: str, *handlers: Listener) -> list[BaseMessage]:
    agent: Any = create_agent(model, [search])
    question, config = {"messages": [("user", "go")]}, {"callbacks": list(handlers)}
    result = agent.invoke(question, config) if style == "invoke" else await agent.ainvoke(question, config)
    messages: list[BaseMessage] = result["messages"]
    return messages


def plain(message: BaseMessage) -> dict[str, Any]:
    return message.model_dump(exclude={"id", *METADATA})


@each_style
@each_client
async def test_agent_with_a_listener(client: Client, style: str) -> None:
    """Streaming is on in each model call, the run takes the same path, and equal classes give equal messages."""
    listener = Listener()
    with client.wire(SCRIPT) as server:
        model = client.build(server.url)
        bare = await run(model, style)
        heard = await run(model, style, listener)
    assert [request.streamed for request in server.requests] == [False] * 3 + [True] * 3
    assert listener.heard >= sum(turn.tokens for turn in SCRIPT) - sum(len(turn.reasoning) for turn in SCRIPT)
    assert [message.type for message in bare] == ["human", "ai", "tool", "ai", "tool", "tool", "ai"]
    assert [message.type for message in heard] == [message.type for message in bare]
    assert [message.text for message in heard] == [message.text for message in bare]
    same = [plain(message) for message in heard] == [plain(message) for message in bare]
    assert same is STREAMED_EQUALS_INVOKED[client.class_path].equal


@each_style
@each_client
@pytest.mark.parametrize(
    "thought_turns",
    [SCRIPT, (WORDLESS, DONE), (replace(THOUGHT_CALL, redacted=b"\x00\xffopaque"), DONE)],
    ids=["thought", "wordless", "redacted"],
)
async def test_requests_stay_valid_after_streamed_turns(
    client: Client, style: str, thought_turns: tuple[Turn, ...]
) -> None:
    """What the provider is sent back in the next turn, thinking with its signature included, equals the bare run's."""
    with client.wire(thought_turns) as server:
        model = client.build(server.url)
        await run(model, style)
        await run(model, style, Listener())
    half = len(server.requests) // 2
    bare, heard = server.requests[:half], server.requests[half:]
    assert [request.body["messages"] for request in heard] == [request.body["messages"] for request in bare]


@each_style
@pytest.mark.parametrize("client", [OPENAI, AZURE], ids=lambda client: client.name)
@pytest.mark.parametrize("undo", [True, False])
async def test_cut_call_in_an_agent(client: Client, style: str, undo: bool) -> None:
    """A call cut off by the token limit is not run by an agent that listens, as it is not by a bare one."""
    with client.wire([CUT_CALL, DONE]) as server:
        model = client.build(server.url)
        bare = await run(model, style)
        heard = await run(model, style, Listener(undo=undo))
    assert "result for capital of Fra" not in [message.text for message in bare]
    assert ("result for capital of Fra" in [message.text for message in heard]) is not undo
    assert ([plain(message) for message in heard] == [plain(message) for message in bare]) is undo


@pytest.mark.parametrize("client", [OPENAI, AZURE], ids=lambda client: client.name)
def test_cut_call_in_a_graph_that_streams_anyway(client: Client) -> None:
    """Why the undo is for forced streams only: with token streaming on, a bare agent runs the cut call itself."""
    with client.wire([CUT_CALL, DONE]) as server:
        agent: Any = create_agent(client.build(server.url), [search])
        events = list(agent.stream({"messages": [("user", "go")]}, stream_mode="messages"))
    assert "result for capital of Fra" in [message.text for message, _ in events]
