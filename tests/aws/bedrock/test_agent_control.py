"""What an agent leaves to its caller: typed arguments, worded results, and what is not ours to answer."""

import json
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from pydantic import Field

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock_agents import (
    AgentQuestion,
    BedrockAgent,
    BedrockAgentListener,
    Fate,
    Invocation,
)
from langgraph_prefetch.aws.bedrock_agents.invocations import as_json, as_text, typed
from langgraph_prefetch.errors import AgentRoundsError, AgentTimeoutError, ConfigurationError, UnknownToolError
from langgraph_prefetch.testing.wire import (
    Action,
    AgentTurn,
    AnswerChunks,
    LocalBedrock,
    Meanwhile,
    Rationale,
    RawEvent,
    ReturnControl,
)
from tests.aws.bedrock.parts import (
    AGENT,
    ANSWERED,
    QUESTION,
    THOUGHT,
    Searches,
    agent_of,
    asks,
    client,
    only_asks,
    results,
    thinks_and_asks,
    until,
)


@tool
def measure(bridge: str, digits: int, metric: bool, parts: list[str]) -> dict[str, Any]:
    """Measure a bridge."""
    return {"bridge": bridge, "digits": digits, "metric": metric, "parts": parts}


ARGUMENTS = {"bridge": "Humber", "digits": 2, "metric": True, "parts": ["span", "towers"]}


def test_parameters_come_in_the_types_of_their_schema() -> None:
    """Bedrock sends text with a type beside it; tools and keys get values."""
    turn = AgentTurn(ReturnControl((Action(name="measure", arguments=ARGUMENTS),)))
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        agent_of(server, Prefetcher(["measure"]), measure).invoke(QUESTION)
    assert json.loads(results(server.agent_requests[1])[0]["responseBody"]["TEXT"]["body"]) == ARGUMENTS


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("3", "integer", 3),
        ("3.5", "number", 3.5),
        ("3", "number", 3),
        ("True", "boolean", True),
        ("3", "string", "3"),
        ('["a"]', "array", ["a"]),
        ("[a, b]", "array", "[a, b]"),
        ("three", "integer", "three"),
        ("3.5", "integer", "3.5"),
        ("true", "integer", "true"),
        ("x", "hologram", "x"),
    ],
)
def test_a_value_that_is_none_of_its_type_stays_text(value: str, kind: str, expected: Any) -> None:
    """What cannot be read in its type is handed on as it came; the tool's own schema decides."""
    assert typed(value, kind) == expected
    assert type(typed(value, kind)) is type(expected)


@pytest.mark.parametrize("key", ["GET /v1/search", "tools::GET /v1/search", "/v1/search", "v1_search"])
def test_an_api_is_answered_too(key: str) -> None:
    """Actions defined by an OpenAPI schema have a path, a method, and a JSON body."""
    searches = Searches()
    turn = AgentTurn(
        Rationale(THOUGHT), Meanwhile(searches.wait), ReturnControl((asks(path="/v1/search", method="GET"),))
    )
    prefetch = Prefetcher(["search"])
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        agent = BedrockAgent(client(server), prefetch.service_agent({key: searches.tool}), **AGENT)
        reply = agent.invoke(QUESTION)
    assert [call.fate for call in reply.calls] == [Fate.HIT]
    (told,) = (each["apiResult"] for each in server.agent_requests[1].results)
    body = {"application/json": {"body": '"passages about Humber Bridge"'}}
    assert (told["apiPath"], told["httpMethod"], told["httpStatusCode"]) == ("/v1/search", "GET", 200)
    assert told["responseBody"] == body


def test_a_collaborators_action_goes_back_to_it() -> None:
    """With several agents a result names the one that asked."""
    turn = AgentTurn(ReturnControl((asks(agent="COLLAB0001"),)))
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        agent_of(server, Prefetcher(["search"]), Searches().tool).invoke(QUESTION)
    assert results(server.agent_requests[1])[0]["agentId"] == "COLLAB0001"


@pytest.mark.parametrize(
    "actions",
    [
        (Action(name="book_table"),),
        (asks(), Action(name="book_table")),
        (asks(kind="USER_CONFIRMATION"),),
        (asks(kind="USER_CONFIRMATION_AND_RESULT"),),
    ],
    ids=["no tool", "one without tool", "confirmation", "confirmation and result"],
)
def test_what_is_not_ours_goes_to_the_caller(actions: tuple[Action, ...]) -> None:
    """Without a tool, or where a person has to agree, the control passes on as it came, and nothing is run."""
    searches = Searches()
    turn = AgentTurn(AnswerChunks.of("May I? "), ReturnControl(actions, "i-7", announced=False))
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        agent = agent_of(server, Prefetcher(["search"]), searches.tool)
        reply = agent.invoke(QUESTION)
        control = reply.return_control
        assert control is not None
        again = agent.invoke(
            AgentQuestion(
                text="",
                session_id=reply.session_id,
                invocation_id=control.invocation_id,
                results=({"functionResult": {"actionGroup": "tools", "confirmationState": "CONFIRM"}},),
            )
        )
    assert (reply.text, reply.calls, searches.queries) == ("May I? ", (), [])
    assert control.event["invocationId"] == "i-7"
    assert [each.function for each in control.invocations] == [action.name for action in actions]
    assert again.text == "1,410 metres."
    assert results(server.agent_requests[1]) == [{"actionGroup": "tools", "confirmationState": "CONFIRM"}]


def test_a_control_that_nobody_understands_goes_to_the_caller() -> None:
    """A later form of the event is passed on, not dropped."""
    turn = AgentTurn(
        RawEvent(
            "returnControl",
            {
                "invocationId": "i",
                "invocationInputs": [
                    {"functionInvocationInput": {"parameters": [{"name": "q", "type": None, "value": "x"}]}}
                ],
            },
        )
    )
    with LocalBedrock(agents=[turn]) as server:
        reply = agent_of(server, Prefetcher(["search"]), Searches().tool).invoke(QUESTION)
    assert reply.return_control is not None


class Passages(BaseRetriever):
    """Finds what it was asked for."""

    queries: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.queries.append(query)
        return [Document(f"{query} is 1,410 m long"), Document("It opened in 1981")]


def test_a_retriever_may_stand_for_an_action() -> None:
    """Its documents are told as texts to a function and as JSON to an API."""
    passages = Passages()
    prefetch = Prefetcher(["search"])
    turn = AgentTurn(Rationale(THOUGHT), Meanwhile(lambda: until(passages.queries)), only_asks())
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = BedrockAgent(client(server), prefetch.service_agent({"search": passages}), **AGENT).invoke(QUESTION)
    assert reply.calls[0].fate in (Fate.HIT, Fate.LATE)
    assert passages.queries == ["Humber Bridge"]
    body = results(server.agent_requests[1])[0]["responseBody"]["TEXT"]["body"]
    assert body == "Humber Bridge is 1,410 m long\n\nIt opened in 1981"


@pytest.mark.parametrize(
    ("content", "text", "as_body"),
    [
        ("plain", "plain", '"plain"'),
        ('{"a": 1}', '{"a": 1}', '{"a": 1}'),
        ([{"type": "text", "text": "a"}], "a", '[{"type": "text", "text": "a"}]'),
        ([Document("a", metadata={"n": 1})], "a", '[{"text": "a", "metadata": {"n": 1}}]'),
        (["a", 1], '["a", 1]', '["a", 1]'),
        ([], "[]", "[]"),
    ],
    ids=str,
)
def test_results_are_worded_for_functions_and_apis(content: Any, text: str, as_body: str) -> None:
    """A function's result is text, an API's is JSON."""
    assert (as_text(content), as_json(content)) == (text, as_body)


def test_the_listener_leaves_a_stream_as_it_is() -> None:
    """For code that calls ``invoke_agent`` itself: every event unchanged and in order, unknown ones too."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    turn = AgentTurn(
        AnswerChunks.of("a"), RawEvent("hologram", {"x": 1}), *thinks_and_asks(searches).steps, AnswerChunks.of("b")
    )
    asked = {"agentId": "AGENT00001", "agentAliasId": "ALIAS00001", "inputText": QUESTION, "enableTrace": True}
    with LocalBedrock(agents=lambda request: ANSWERED if request.results else turn) as server:
        boto, held = client(server), prefetch.service_agent([searches.tool])
        with BedrockAgentListener(held, AgentQuestion(text=QUESTION, session_id="s-2")) as listener:
            heard = list(listener.over(boto.invoke_agent(**asked, sessionId="s-2")["completion"]))
            assert listener.can_answer
            answered = listener.answer()
            again = boto.invoke_agent(
                agentId="A", agentAliasId="B", sessionId="s-2", sessionState=answered.session_state
            )["completion"]
            assert b"".join(event["chunk"]["bytes"] for event in listener.over(again)) == b"1,410 metres."
            assert listener.control is None
            with pytest.raises(ConfigurationError, match="nothing here that can be answered"):
                listener.answer()
        bare = list(boto.invoke_agent(**asked, sessionId="s-1")["completion"])
    for event in (*bare, *heard):
        event.get("trace", {}).pop("sessionId", None)
    assert [json.dumps(event, default=str, sort_keys=True).replace("trace-1-", "trace-0-") for event in heard] == [
        json.dumps(event, default=str, sort_keys=True).replace("trace-1-", "trace-0-") for event in bare
    ]
    assert [call.fate for call in answered.calls] == [Fate.HIT]


def test_a_tools_error_is_the_callers() -> None:
    """A tool that fails raises what it raises, as when it is called by hand."""

    @tool
    def search(query: str) -> str:
        """Search."""
        raise ConnectionError("the index is away")

    with (
        LocalBedrock(agents=[AgentTurn(only_asks()), ANSWERED]) as server,
        pytest.raises(ConnectionError, match="away"),
    ):
        agent_of(server, Prefetcher(["search"]), search).invoke(QUESTION)


def test_a_circle_ends() -> None:
    """An agent that asks again and again is stopped, with the number of rounds."""
    with LocalBedrock(agents=lambda request: AgentTurn(only_asks())) as server:
        agent = agent_of(server, Prefetcher(["search"]), Searches().tool, max_rounds=2)
        with pytest.raises(AgentRoundsError, match="2 times") as caught:
            agent.invoke(QUESTION)
    assert (caught.value.rounds, len(server.agent_requests)) == (2, 3)


def test_a_turn_may_be_bounded_in_time() -> None:
    """After the question's seconds the next event ends the turn."""
    with LocalBedrock(agents=[AgentTurn(AnswerChunks.of("a")), ANSWERED]) as server:
        agent = agent_of(server, Prefetcher(["search"]), Searches().tool)
        with pytest.raises(AgentTimeoutError, match=r"0\.0001 s") as caught:
            agent.invoke(AgentQuestion(text=QUESTION, seconds=0.0001))
    assert isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent_id": None, "agent_alias_id": None}, "agent_id="),
        ({"agent_alias_id": None}, "agent_id="),
        ({"inline": {}}, "agent_id="),
        ({"boto": object()}, "bedrock-agent-runtime"),
        ({"request": {"enableTrace": False}}, "enableTrace"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"threads": 0}, "threads"),
    ],
    ids=str,
)
def test_wrong_use_is_said_at_once(options: dict[str, Any], message: str) -> None:
    """A mistake shows where the agent is made."""
    with LocalBedrock() as server, pytest.raises(ConfigurationError, match=message):
        agent_of(server, Prefetcher(["search"]), Searches().tool, **options)


def test_tools_must_be_tools_and_include_what_is_named() -> None:
    """What the prefetcher names is among the tools, each once, and each a LangChain tool or retriever."""
    prefetch = Prefetcher(["search"])
    wrong: Any = [lambda query: query]
    with pytest.raises(ConfigurationError, match="takes LangChain tools"):
        prefetch.service_agent(wrong)
    with pytest.raises(UnknownToolError, match="search"):
        prefetch.service_agent([measure])
    with pytest.raises(ConfigurationError, match="two tools of one name"):
        prefetch.service_agent([Searches().tool, Searches().tool])
    nothing: Any = prefetch
    with LocalBedrock() as server, pytest.raises(ConfigurationError, match="service_agent"):
        BedrockAgent(client(server), nothing, **AGENT)


def test_nothing_private_is_in_a_repr() -> None:
    """Arguments, answers and events stay out of logs."""
    with LocalBedrock(
        agents=[
            AgentTurn(AnswerChunks.of("secret words"), ReturnControl((Action(name="x", arguments={"q": "secret"}),)))
        ]
    ) as server:
        reply = agent_of(server, Prefetcher(["search"]), Searches().tool).invoke(QUESTION)
    assert "secret" not in repr(reply)
    assert "secret" not in repr(Invocation(action_group="g", arguments={"q": "secret"}))
