"""The Lambda forms: what is taken, what is answered, what is never said; and their deployment file."""

import base64
import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock_agents import Fate, session_scope
from langgraph_prefetch.aws.lambda_handler import action_group_handler, api_handler
from langgraph_prefetch.aws.lambda_requests import outcome, principal_of, session_for, trace_id_of
from langgraph_prefetch.testing.wire import (
    AgentFailure,
    AgentTurn,
    AnswerChunks,
    LocalBedrock,
    Meanwhile,
    Rationale,
    Throttled,
)
from tests.aws.bedrock.parts import ANSWERED, QUESTION, THOUGHT, Searches, agent_of, client, only_asks, thinks_and_asks

EXAMPLE = Path(__file__).parents[3] / "examples/aws/lambda"


def event(body: Any, **context: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"version": "2.0", "body": text, "isBase64Encoded": False, "requestContext": {"requestId": "r-1", **context}}


def signed_in(subject: str) -> dict[str, Any]:
    return {"authorizer": {"jwt": {"claims": {"sub": subject}}}}


class Context:
    """What Lambda tells a function of its own run."""

    aws_request_id = "l-1"

    def __init__(self, milliseconds: int = 20_000) -> None:
        self._milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self._milliseconds


def told(response: dict[str, Any]) -> tuple[int, Any]:
    assert response["headers"] == {"content-type": "application/json"}
    return response["statusCode"], json.loads(response["body"])


def test_a_question_is_answered_with_typed_json() -> None:
    """Answer, outcome, the cache's time, the stages' times, and the trace: each with its type."""
    searches = Searches()
    with LocalBedrock(agents=[thinks_and_asks(searches), ANSWERED]) as server:
        handler = api_handler(agent_of(server, Prefetcher(["search"]), searches.tool))
        status, body = told(handler(event({"question": QUESTION, "session_id": "s-1"}), Context()))
    (call,) = body.pop("calls")
    stages = body.pop("stage_ms")
    assert status == 200
    assert body.pop("cache_read_ms") == call["cache_read_ms"] > 0
    assert body == {
        "answer": "1,410 metres.",
        "session_id": "s-1",
        "trace_id": "r-1",
        "outcome": "hit",
        "needs_action": False,
    }
    assert (call["tool"], call["outcome"]) == ("search", "hit")
    assert set(call) == {"tool", "outcome", "cache_read_ms", "call_ms", "lead_ms", "hidden_ms"}
    assert set(stages) == {"agent", "calls", "total"}
    assert 0 < stages["calls"] < stages["agent"] + stages["calls"] <= stages["total"]


@pytest.mark.parametrize(
    ("fates", "expected"),
    [([], "none"), ([Fate.HIT], "hit"), ([Fate.HIT, Fate.LATE], "late"), ([Fate.LATE, Fate.MISS, Fate.HIT], "miss")],
)
def test_a_turn_is_as_good_as_its_worst_call(fates: list[Fate], expected: str) -> None:
    """One word for the whole."""
    assert outcome(fates) == expected


def test_a_session_is_its_principals_own() -> None:
    """Whoever sends another's session id enters a session of their own; attributes come from the authorizer alone."""
    with LocalBedrock(agents=lambda request: ANSWERED) as server:
        handler = api_handler(
            agent_of(server, Prefetcher(["search"]), Searches().tool),
            attributes=lambda event: {"tenant": str(principal_of(event))},
        )
        body = {"question": QUESTION, "session_id": "s-1"}
        answers = [told(handler(event(body, **signed_in(who)), Context()))[1] for who in ("ann", "bob", "ann")]
    ann, bob, again = (request.session_id for request in server.agent_requests)
    assert ann == again != bob
    assert "s-1" not in (ann, bob)
    assert [answer["session_id"] for answer in answers] == ["s-1"] * 3
    assert [request.attributes["tenant"] for request in server.agent_requests] == ["ann", "bob", "ann"]
    assert session_for("a", "b:c") != session_for("a:b", "c")
    assert session_for(None, "s-1") == "s-1"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, None),
        ({"authorizer": None}, None),
        (signed_in("ann"), "ann"),
        ({"authorizer": {"claims": {"sub": "ann"}}}, "ann"),
        ({"authorizer": {"iam": {"userArn": "arn:x"}}}, "arn:x"),
        ({"identity": {"userArn": "arn:y"}}, "arn:y"),
        ({"identity": {"userArn": None}}, None),
    ],
    ids=str,
)
def test_who_asks(context: dict[str, Any], expected: str | None) -> None:
    """Of HTTP and REST APIs, tokens and IAM."""
    assert principal_of({"requestContext": context}) == expected


def test_the_trace_is_x_rays_or_else_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """One id finds a question in all logs."""
    assert trace_id_of({"requestContext": {"requestId": "r-9"}}, Context()) == "r-9"
    assert trace_id_of({}, Context()) == "l-1"
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-2-3;Parent=4;Sampled=1")
    assert trace_id_of({"requestContext": {"requestId": "r-9"}}, Context()) == "1-2-3"


BAD: dict[str, Any] = {
    "no JSON": event("{"),
    "nothing": event(""),
    "no object": event([1]),
    "no text": event({"question": 7}),
    "blank": event({"question": "  "}),
    "too long": event({"question": "x" * 10_001}),
    "no session": event({"question": "x", "session_id": "a/b"}),
    "no session either": event({"question": "x", "session_id": 7}),
    "another field": event({"question": "x", "session_attributes": {"tenant": "south"}}),
    "no base64": {**event("?"), "isBase64Encoded": True},
    "deep": event("[" * 100_000),
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_a_bad_request_is_said_and_goes_nowhere(given: dict[str, Any]) -> None:
    """What is wrong is said with a type, and the agent is not asked."""
    with LocalBedrock(agents=[ANSWERED]) as server:
        handler = api_handler(agent_of(server, Prefetcher(["search"]), Searches().tool))
        status, body = told(handler(given, Context()))
    assert (status, body["error"]["type"], body["trace_id"]) == (400, "bad_request", "r-1")
    assert len(body["error"]["message"]) < 200
    assert server.agent_requests == ()


def test_encoded_bodies_and_direct_invocations_are_taken() -> None:
    """A body in base64, and a request without any API before it."""
    encoded = {**event(base64.b64encode(json.dumps({"question": QUESTION}).encode()).decode()), "isBase64Encoded": True}
    with LocalBedrock(agents=[ANSWERED]) as server:
        handler = api_handler(agent_of(server, Prefetcher(["search"]), Searches().tool))
        answers = [told(handler(each, Context())) for each in (encoded, {"question": QUESTION})]
    assert [status for status, _ in answers] == [200, 200]
    assert answers[0][1]["session_id"] != answers[1][1]["session_id"]


@pytest.mark.parametrize(
    ("turn", "status", "kind"),
    [
        (AgentTurn(fault=Throttled()), 429, "throttled"),
        (AgentTurn(AnswerChunks.of("a"), AgentFailure("throttlingException")), 429, "throttled"),
        (AgentTurn(AgentFailure("dependencyFailedException", "secret")), 502, "agent_failed"),
        (AgentTurn(only_asks("fail")), 500, "internal"),
    ],
    ids=["throttled", "in the stream", "dependency", "tool"],
)
def test_failures_have_types_and_tell_nothing_of_the_inside(
    turn: AgentTurn, status: int, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The client learns what it can do about it; neither it nor the log learns a word of the failure."""

    @tool
    def search(query: str) -> str:
        """Search."""
        raise ConnectionError("secret")

    with LocalBedrock(agents=lambda request: turn) as server:
        handler = api_handler(agent_of(server, Prefetcher(["search"]), search))
        response = told(handler(event({"question": QUESTION}), Context()))
    assert (response[0], response[1]["error"]["type"], response[1]["trace_id"]) == (status, kind, "r-1")
    assert "secret" not in json.dumps(response) + caplog.text
    assert "r-1" in caplog.text


@pytest.mark.parametrize("by", ["deadline", "client"])
def test_a_turn_ends_before_the_function_does(by: str) -> None:
    """Lambda would cut the function off without an answer; the handler gives up a second before, or with its client."""
    over, silent = threading.Event(), 60 if by == "client" else 0.6
    turn = AgentTurn(AnswerChunks.of("a"), Meanwhile(lambda: over.wait(silent)), AnswerChunks.of("b"))
    with LocalBedrock(agents=[turn]) as server:
        boto = client(server, read_timeout=0.3 if by == "client" else 60)
        handler = api_handler(agent_of(server, Prefetcher(["search"]), Searches().tool, boto=boto))
        status, body = told(handler(event({"question": QUESTION}), Context(1_200 if by == "deadline" else 60_000)))
        over.set()
    assert (status, body["error"]["type"]) == (504, "timeout")


def test_what_a_person_must_do_is_said() -> None:
    """A control that is the caller's is no answer, and the client is told so."""
    with LocalBedrock(agents=[AgentTurn(AnswerChunks.of("May I?"), only_asks())]) as server:
        agent = agent_of(server, Prefetcher(["other"]), _other)
        status, body = told(api_handler(agent)(event({"question": QUESTION}), Context()))
    assert (status, body["answer"], body["needs_action"]) == (200, "May I?", True)


@tool
def _other(query: str) -> str:
    """Something else."""
    return query


_other.name = "other"


def action_event(query: str = "Humber Bridge", session_id: str = "s-1") -> dict[str, Any]:
    return {
        "messageVersion": "1.0",
        "agent": {"name": "a", "id": "A", "alias": "B", "version": "1"},
        "actionGroup": "tools",
        "function": "search",
        "parameters": [{"name": "query", "type": "string", "value": query}],
        "sessionId": session_id,
        "sessionAttributes": {"tenant": "north"},
        "promptSessionAttributes": {"mood": "calm"},
    }


def test_the_function_of_an_action_group_answers_in_bedrocks_form() -> None:
    """Behind an action group the tool runs as it is, with the session it is for."""
    searches = Searches()
    handler = action_group_handler(Prefetcher(["search"]).service_agent([searches.tool]))
    answer = handler(action_event(), Context())
    body = {"TEXT": {"body": "passages about Humber Bridge"}}
    assert answer == {
        "messageVersion": "1.0",
        "response": {"actionGroup": "tools", "function": "search", "functionResponse": {"responseBody": body}},
        "sessionAttributes": {"tenant": "north"},
        "promptSessionAttributes": {"mood": "calm"},
    }
    api = {**action_event(), "apiPath": "/search", "httpMethod": "GET"}
    del api["function"]
    told_api = handler(api, Context())["response"]
    assert told_api["responseBody"] == {"application/json": {"body": '"passages about Humber Bridge"'}}
    with pytest.raises(LookupError, match="no tool is given for 'book'"):
        handler({**action_event(), "function": "book"}, Context())


def test_it_takes_what_the_agents_process_has_found() -> None:
    """With a shared scope an action that the service runs is answered by the search of the rationale."""
    searches = Searches()
    prefetch = Prefetcher(["search"], scope=session_scope, reuse_seconds=60)
    behind = action_group_handler(prefetch.service_agent([searches.tool]))
    answers: list[dict[str, Any]] = []

    def service(request: Any) -> AgentTurn:
        action = action_event(session_id=request.session_id)
        run = Meanwhile(lambda: answers.append(behind(action, Context())))
        return AgentTurn(Rationale(THOUGHT), Meanwhile(searches.wait), run, AnswerChunks.of("1,410 metres."))

    with LocalBedrock(agents=service) as server:
        agent = agent_of(server, prefetch, searches.tool)
        reply = agent.invoke({"text": QUESTION, "session_attributes": {"tenant": "north"}})
    assert (reply.text, searches.queries) == ("1,410 metres.", ["Humber Bridge"])
    body = answers[0]["response"]["functionResponse"]["responseBody"]["TEXT"]["body"]
    assert body == "passages about Humber Bridge"


@pytest.mark.slow
def test_the_deployment_is_valid() -> None:
    """CloudFormation's own linter finds nothing in the template, offline."""
    linter = Path(sys.executable).with_name("cfn-lint")
    run = subprocess.run([linter, EXAMPLE / "template.yaml"], capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that is deployed answers a question, with nothing but its environment changed."""
    turns = [AgentTurn(Rationale(THOUGHT), only_asks()), ANSWERED]
    with LocalBedrock(agents=turns, knowledge=["The Humber Bridge has a span of 1,410 metres."]) as server:
        for name, value in {
            "AGENT_ID": "AGENT00001",
            "AGENT_ALIAS_ID": "ALIAS00001",
            "KNOWLEDGE_BASE_ID": "KNOWLEDGE1",
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": server.url,
        }.items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location("lambda_example", EXAMPLE / "app.py")
        assert spec is not None
        assert spec.loader is not None
        app = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(app)
        status, body = told(app.handler(event({"question": QUESTION}), Context()))
    assert (status, body["answer"], len(body["calls"])) == (200, "1,410 metres.", 1)
    assert set(server.queries) == {"Humber Bridge"}
