"""The local Bedrock: agents, knowledge bases and models behind real boto3 clients, scripted or driven by a model."""

import json
import threading
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError

from langgraph_prefetch.testing.wire import (
    AgentTurn,
    AnswerChunks,
    ErrorEvent,
    LocalBedrock,
    ModelAgents,
    OpenAIModel,
    OpenAIWire,
    ScriptedCall,
    Throttled,
    Turn,
    by_words,
    words,
)
from langgraph_prefetch.testing.wire.plumbing import HttpServer

Boto = Callable[[LocalBedrock, str], Any]

MESSAGES = [{"role": "user", "content": [{"text": "How long is it?"}]}]
TOOLS = {
    "tools": [{"toolSpec": {"name": "search", "description": "Search.", "inputSchema": {"json": {"type": "object"}}}}]
}
SAYS = Turn(
    reasoning=words("I need to search. "),
    text=words("Let me look. "),
    calls=(ScriptedCall.of("search", {"query": "naïve 東京"}), ScriptedCall.of("search", {"query": "b"})),
)
DONE = Turn(text=words("1,410 metres. "))
DESCRIBED: dict[str, Any] = {
    "foundationModel": "a-model",
    "instruction": "Answer questions about bridges, with a search.",
    "actionGroups": [
        {
            "actionGroupName": "tools",
            "actionGroupExecutor": {"customControl": "RETURN_CONTROL"},
            "functionSchema": {
                "functions": [
                    {
                        "name": "search",
                        "description": "Search.",
                        "parameters": {"query": {"type": "string", "description": "what for", "required": True}},
                    }
                ]
            },
        }
    ],
    "knowledgeBases": [{"knowledgeBaseId": "KNOWLEDGE1", "description": "bridges"}],
}


@pytest.fixture
def boto() -> Boto:
    """Clients of the local server, in either service."""

    def made(server: LocalBedrock, service: str = "bedrock-agent-runtime") -> Any:
        config = Config(retries={"total_max_attempts": 1}, read_timeout=20)
        return boto3.client(service, endpoint_url=server.url, config=config, region_name="us-east-1")

    return made


def asked(agents: Any, session: str = "s-1", **more: Any) -> list[dict[str, Any]]:
    given = {"agentId": "AGENT1", "agentAliasId": "ALIAS1", "inputText": "How long?", "enableTrace": True, **more}
    return list(agents.invoke_agent(sessionId=session, **given)["completion"])


def traced(events: list[dict[str, Any]], kind: str) -> list[Any]:
    traces = [event["trace"]["trace"].get("orchestrationTrace", {}) for event in events if "trace" in event]
    return [trace[kind] for trace in traces if kind in trace]


def said(events: list[dict[str, Any]]) -> str:
    return b"".join(event["chunk"]["bytes"] for event in events if "chunk" in event).decode()


def test_a_models_own_words_pass_through_converse(boto: Boto) -> None:
    """Whatever OpenAI-compatible model is behind it: its text, thinking and calls come in Converse's form."""
    with OpenAIWire([SAYS, DONE]) as model, LocalBedrock(OpenAIModel(f"{model.url}/v1", "m")) as server:
        runtime = boto(server, "bedrock-runtime")
        config = {"maxTokens": 7, "temperature": 0.5}
        system = [{"text": "Be brief."}]
        asks: dict[str, Any] = {"modelId": "x", "toolConfig": TOOLS, "inferenceConfig": config, "system": system}
        first = runtime.converse(messages=MESSAGES, **asks)
        message = first["output"]["message"]
        results = [
            {
                "toolResult": {
                    "toolUseId": block["toolUse"]["toolUseId"],
                    "content": [{"text": "found"}, {"json": {"n": 1}}],
                }
            }
            for block in message["content"]
            if "toolUse" in block
        ]
        last = runtime.converse(messages=[*MESSAGES, message, {"role": "user", "content": results}], **asks)
    assert first["stopReason"] == "tool_use"
    kinds = [next(iter(block)) for block in message["content"]]
    assert kinds == ["reasoningContent", "text", "toolUse", "toolUse"]
    assert message["content"][2]["toolUse"]["input"] == {"query": "naïve 東京"}
    assert last["output"]["message"]["content"] == [{"text": "1,410 metres. "}]
    body = model.requests[1].body
    assert [each["role"] for each in body["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert body["messages"][3]["content"] == 'found{"n": 1}'
    assert (body["max_tokens"], body["temperature"], body["model"]) == (7, 0.5, "m")
    assert body["tools"][0]["function"]["name"] == "search"


def test_a_models_stream_passes_through_as_it_comes(boto: Boto) -> None:
    """A token is passed on before the next one is written; blocks are numbered and closed as Bedrock does it."""
    heard = threading.Event()
    count = iter(range(1000))

    def sleep(seconds: float) -> None:
        if next(count) == 1:
            assert heard.wait(20)

    with OpenAIWire([SAYS], 0.001, sleep=sleep) as model, LocalBedrock(OpenAIModel(f"{model.url}/v1")) as server:
        events = []
        for event in boto(server, "bedrock-runtime").converse_stream(modelId="x", messages=MESSAGES)["stream"]:
            events.append(event)
            if "contentBlockDelta" in event:
                heard.set()
    kinds = [next(iter(event)) for event in events]
    assert kinds[0] == "messageStart"
    assert kinds[-2:] == ["messageStop", "metadata"]
    assert kinds.count("contentBlockStop") == 4
    pieces: dict[int, str] = {}
    for event in events:
        if delta := event.get("contentBlockDelta"):
            found = delta["delta"]
            text = found.get("text") or found.get("reasoningContent", {}).get("text") or found["toolUse"]["input"]
            pieces[delta["contentBlockIndex"]] = pieces.get(delta["contentBlockIndex"], "") + text
    assert [pieces[0], pieces[1]] == ["I need to search. ", "Let me look. "]
    assert [json.loads(pieces[2]), json.loads(pieces[3])] == [{"query": "naïve 東京"}, {"query": "b"}]
    assert model.requests[0].model == "x"


def test_a_model_that_breaks_off_is_told_as_bedrock_tells_it(boto: Boto) -> None:
    """An error behind the proxy is a modelled exception of the stream, and the test sees it."""
    with OpenAIWire([Turn(text=words("a b"), fault=ErrorEvent(1))]) as model:
        with LocalBedrock(OpenAIModel(f"{model.url}/v1")) as server:
            stream = boto(server, "bedrock-runtime").converse_stream(modelId="x", messages=MESSAGES)["stream"]
            with pytest.raises(EventStreamError, match="modelStreamErrorException"):
                list(stream)
            stream.close()
        assert len(server.failures) == 1


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "stored"])
def test_an_agent_driven_by_a_model(boto: Boto, inline: bool) -> None:
    """A model searches the agent's knowledge base, leaves its function to the caller, and answers."""
    turns = [
        Turn(
            text=words("I look into the books. "),
            calls=(ScriptedCall.of("search_knowledge_base", {"query": "Humber"}),),
        ),
        Turn(text=words("I need to search. "), calls=(ScriptedCall.of("search", {"query": "span"}),)),
        DONE,
    ]
    with OpenAIWire(turns) as model, LocalBedrock(knowledge=["The Humber Bridge."]) as server:
        server.agents = ModelAgents(OpenAIModel(f"{model.url}/v1", "m"), {"AGENT1": DESCRIBED}, server.search)
        agents = boto(server, "bedrock-agent-runtime")

        def ask(**given: Any) -> list[dict[str, Any]]:
            if not inline:
                return asked(agents, **given)
            if "sessionState" in given:
                given = {"inlineSessionState": given["sessionState"], "inputText": given["inputText"]}
            more = {"inputText": "How long?", "enableTrace": True, **given}
            return list(agents.invoke_inline_agent(sessionId="s-1", **DESCRIBED, **more)["completion"])

        events = ask()
        (control,) = [event["returnControl"] for event in events if "returnControl" in event]
        body = {"TEXT": {"body": "1,410 m"}}
        result = {"functionResult": {"actionGroup": "tools", "function": "search", "responseBody": body}}
        state = {"invocationId": control["invocationId"], "returnControlInvocationResults": [result]}
        last = ask(sessionState=state, inputText="")
        assert server.queries == ("Humber",)
    assert [each["text"] for each in traced(events, "rationale")] == ["I look into the books. ", "I need to search. "]
    assert traced(events, "observation")[0]["knowledgeBaseLookupOutput"]["retrievedReferences"]
    asked_for = control["invocationInputs"][0]["functionInvocationInput"]
    assert (asked_for["function"], asked_for["actionGroup"]) == ("search", "tools")
    assert asked_for["parameters"] == [{"name": "query", "type": "string", "value": "span"}]
    assert said(last) == "1,410 metres. "
    roles = [message["role"] for message in model.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert model.requests[-1].body["messages"][-1]["content"] == "1,410 m"


def test_sessions_go_through_the_script_each_by_itself(boto: Boto) -> None:
    """A session's requests are its place in the script; one that was throttled counts for nothing."""
    script = [AgentTurn(AnswerChunks.of("one"), fault=Throttled(1)), AgentTurn(AnswerChunks.of("two"))]
    with LocalBedrock(agents=script) as server:
        agents = boto(server, "bedrock-agent-runtime")
        for session in ("s-1", "s-2"):
            with pytest.raises(ClientError, match="ThrottlingException"):
                asked(agents, session)
            assert [said(asked(agents, session)) for _ in range(2)] == ["one", "two"]
        with pytest.raises(ClientError, match="the script has 2 turns"):
            asked(agents, "s-1")
    assert [request.turn for request in server.agent_requests] == [0, 0, 1, 0, 0, 1, 2]


def test_traces_come_only_when_they_are_asked_for(boto: Boto) -> None:
    """As at Bedrock: without ``enableTrace`` there are none."""
    with LocalBedrock(agents=lambda request: AgentTurn(AnswerChunks.of("a"))) as server:
        agents = boto(server, "bedrock-agent-runtime")
        assert len(asked(agents)) == 2
        assert len(asked(agents, enableTrace=False)) == 1


def test_an_agent_that_nobody_described(boto: Boto) -> None:
    """The client gets an error, and the test sees which agents there are."""
    with LocalBedrock() as server:
        server.agents = ModelAgents(OpenAIModel("http://127.0.0.1:1/v1"), {"OTHER": DESCRIBED})
        with pytest.raises(ClientError, match="no agent 'AGENT1'; there are: OTHER"):
            asked(boto(server, "bedrock-agent-runtime"))
        assert [type(failure) for failure in server.failures] == [LookupError]


def test_passages_are_found_by_their_words() -> None:
    """The more of the query's words, the higher; without any a passage is not found."""
    search = by_words(["the Humber Bridge", "a bridge", "a tunnel"])
    assert [passage.text for passage, _ in search("K", "humber bridge?")] == ["the Humber Bridge", "a bridge"]
    assert search("K", "ferry") == []


def test_a_model_has_an_http_address_and_keeps_its_key() -> None:
    """Other schemes are refused, and no repr shows the key."""
    with pytest.raises(ValueError, match="http address"):
        OpenAIModel("file:///etc/passwd")
    assert "secret" not in repr(OpenAIModel("http://127.0.0.1:1/v1", key="secret"))


def test_many_clients_may_connect_at_once() -> None:
    """The standard backlog of 5 would make them wait a second, and look like a slow server."""
    assert HttpServer.request_queue_size == 256
