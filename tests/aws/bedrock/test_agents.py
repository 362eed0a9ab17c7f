"""A Bedrock agent over HTTP: heard while it streams, answered early, and otherwise as it is."""

import logging
import threading
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock_agents import AgentQuestion, AgentReply, Fate, session_scope
from langgraph_prefetch.graph import service_agents
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.testing.wire import (
    Action,
    ActionRun,
    AgentTurn,
    AnswerChunks,
    LocalBedrock,
    Lookup,
    Meanwhile,
    Rationale,
    RawEvent,
    RawTrace,
    ReturnControl,
)
from tests.aws.bedrock.parts import (
    ANSWERED,
    QUESTION,
    THOUGHT,
    Searches,
    agent_of,
    asks,
    only_asks,
    results,
    thinks_and_asks,
    until,
)


def test_a_search_starts_at_the_rationale_and_answers_the_returned_control() -> None:
    """The whole way: rationale, dispatch, returned control, the prefetched result in the second request."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    with LocalBedrock(agents=[thinks_and_asks(searches), ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert reply.text == "1,410 metres."
    assert searches.queries == ["Humber Bridge"]
    assert [(call.tool, call.fate) for call in reply.calls] == [("search", Fate.HIT)]
    assert reply.calls[0].lead_seconds > 0
    asked, told = server.agent_requests
    assert (asked.prompt, asked.traced, asked.results) == (QUESTION, True, ())
    assert (told.prompt, told.session_id) == ("", asked.session_id)
    body = {"TEXT": {"body": "passages about Humber Bridge"}}
    assert results(told) == [{"actionGroup": "tools", "function": "search", "responseBody": body}]
    report = prefetch.report()
    assert (report.served, report.search_calls, report.unsettled, report.troubles) == (1, 1, 0, 0)


def test_a_search_under_way_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that comes while its search runs waits for that one, and says late."""
    released, prefetch = threading.Event(), Prefetcher(["search"])
    begun = Searches(before=lambda: released.wait(20))

    def wait(self: Flight, seconds: float) -> Any:
        released.set()
        return original(self, seconds)

    original = Flight.wait
    monkeypatch.setattr(Flight, "wait", wait)
    turn = AgentTurn(Rationale(THOUGHT), Meanwhile(lambda: until(begun.queries)), ReturnControl((asks(),)))
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, begun.tool).invoke(QUESTION)
    assert [call.fate for call in reply.calls] == [Fate.LATE]
    assert begun.queries == ["Humber Bridge"]


def test_another_query_is_a_miss_with_the_right_result() -> None:
    """A wrong guess changes nothing: the tool is asked for what the agent asks for."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    with LocalBedrock(agents=[thinks_and_asks(searches, query="Severn Bridge"), ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert [call.fate for call in reply.calls] == [Fate.MISS]
    assert searches.queries == ["Humber Bridge", "Severn Bridge"]
    assert results(server.agent_requests[1])[0]["responseBody"]["TEXT"]["body"] == "passages about Severn Bridge"


def test_the_services_own_searches_come_after_the_dispatch() -> None:
    """Before the service looks into its knowledge base or runs an action, the speculation has begun."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    turn = AgentTurn(
        Rationale(THOUGHT), Meanwhile(searches.wait), Lookup("Humber Bridge", ("1,410 m",)), AnswerChunks.of("1,410 m")
    )
    with LocalBedrock(agents=[turn]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert (searches.queries, reply.text, reply.calls) == (["Humber Bridge"], "1,410 m", ())


def test_no_trace_means_no_prefetch_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    """Traces are optional: without a rationale the run is the bare one, and one line says why nothing was hidden."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    with LocalBedrock(agents=lambda request: ANSWERED if request.results else AgentTurn(only_asks())) as server:
        agent = agent_of(server, prefetch, searches.tool)
        replies = [agent.invoke(QUESTION) for _ in range(2)]
    assert [call.fate for reply in replies for call in reply.calls] == [Fate.MISS, Fate.MISS]
    assert searches.queries == ["Humber Bridge", "Humber Bridge"]
    assert sum("no orchestration trace" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize("traces", ["rationale", "prompt", "pre-processing"])
def test_the_users_own_words_are_no_intent(traces: str) -> None:
    """A user who writes "I need to search for …" starts nothing, wherever the service repeats it."""
    question = "I need to search for Humber Bridge. How long is it?"
    searches, prefetch = Searches(), Prefetcher(["search"])
    echo: Any = {
        "rationale": Rationale(f"The user says: {question} I shall think about that."),
        "prompt": RawTrace({"orchestrationTrace": {"modelInvocationInput": {"text": question, "traceId": "t1"}}}),
        "pre-processing": RawTrace(
            {"preProcessingTrace": {"modelInvocationOutput": {"parsedResponse": {"rationale": question}}}}
        ),
    }[traces]
    with LocalBedrock(agents=[AgentTurn(echo, AnswerChunks.of("?"))]) as server:
        agent_of(server, prefetch, searches.tool).invoke(question)
    assert (searches.queries, prefetch.report().speculations) == ([], 0)


def test_the_agents_own_intent_beside_the_users_words_counts() -> None:
    """What the agent adds to the user's words is its own."""
    question = "I need to search for Severn Bridge. No, the one over the Humber."
    searches, prefetch = Searches(), Prefetcher(["search"])
    thought = 'They said: I need to search for Severn Bridge. No, I need to search for "Humber Bridge" instead.'
    with LocalBedrock(agents=[thinks_and_asks(searches, thought), ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(question)
    assert (searches.queries, [call.fate for call in reply.calls]) == (["Humber Bridge"], [Fate.HIT])


def test_reasoning_of_the_orchestrations_model_is_read() -> None:
    """A model with thinking switched on says more in its reasoning than in a rationale."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    turn = AgentTurn(Rationale(reasoning=THOUGHT), Meanwhile(searches.wait), ReturnControl((asks(),)))
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert [call.fate for call in reply.calls] == [Fate.HIT]


@pytest.mark.parametrize(
    "steps",
    [
        (Rationale("So."), AnswerChunks.of("a ", "b")),
        (AnswerChunks.of("a ", "b"), Rationale("So.")),
        (AnswerChunks.of("a "), RawEvent("hologram", {"x": 1}), Rationale("So."), AnswerChunks.of("b")),
        (RawTrace({"orchestrationTrace": {"daydream": {}}}), RawTrace({"dreamTrace": {}}), AnswerChunks.of("a b")),
        (
            RawTrace({"guardrailTrace": {"action": "NONE"}}),
            AnswerChunks((b"a b",)),
        ),
    ],
    ids=["trace, chunks", "chunks, trace", "unknown event between", "odd traces", "guardrail"],
)
def test_answers_come_whole_whatever_comes_with_them(steps: tuple[Any, ...]) -> None:
    """Traces may come before, after or not at all; unknown events are skipped."""
    prefetch = Prefetcher(["search"])
    with LocalBedrock(agents=[AgentTurn(*steps)]) as server:
        reply = agent_of(server, prefetch, Searches().tool).invoke(QUESTION)
    assert (reply.text, reply.return_control, prefetch.report().troubles) == ("a b", None, 0)


def test_bytes_pass_untouched() -> None:
    """An answer is bytes; a character may be cut between two chunks."""
    data = "1,410 m – naïve 東京".encode()
    with LocalBedrock(agents=[AgentTurn(AnswerChunks((data[:9], data[9:])))]) as server:
        pieces = list(agent_of(server, Prefetcher(["search"]), Searches().tool).stream(QUESTION))
    assert [piece.data for piece in pieces if piece.data] == [data[:9], data[9:]]
    assert sum(pieces, AgentReply(session_id="")).text == data.decode()


def test_two_actions_are_answered_side_by_side_in_their_order() -> None:
    """Several actions in one control: each result where its action stood."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    both = AgentTurn(
        Rationale(THOUGHT), Meanwhile(searches.wait), ReturnControl((asks("Severn Bridge"), asks("Humber Bridge")))
    )
    with LocalBedrock(agents=[both, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert {(call.fate) for call in reply.calls} <= {Fate.HIT, Fate.LATE, Fate.MISS}
    bodies = [each["responseBody"]["TEXT"]["body"] for each in results(server.agent_requests[1])]
    assert bodies == ["passages about Severn Bridge", "passages about Humber Bridge"]
    assert sorted(searches.queries) == ["Humber Bridge", "Severn Bridge"]


def test_announced_actions_start_before_the_control() -> None:
    """With the arguments in a trace the very call is known, whatever its words were."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    odd = Action(name="search", arguments={"query": "zzz 17"})
    announced = {
        "invocationType": "ACTION_GROUP",
        "traceId": "t1",
        "actionGroupInvocationInput": {
            "actionGroupName": "tools",
            "executionType": "RETURN_CONTROL",
            "function": "search",
            "parameters": [{"name": "query", "type": "string", "value": "zzz 17"}],
        },
    }
    turn = AgentTurn(
        RawTrace({"orchestrationTrace": {"invocationInput": announced}}),
        Meanwhile(searches.wait),
        ReturnControl((odd,)),
    )
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert ([call.fate for call in reply.calls], searches.queries) == ([Fate.HIT], ["zzz 17"])


def test_an_action_that_the_service_runs_voids_what_was_read() -> None:
    """After an action that may have written, a search is made again."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    run = ActionRun(Action(name="book_table", arguments={}), "booked")
    turn = AgentTurn(Rationale(THOUGHT), Meanwhile(searches.wait), run, only_asks())
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert ([call.fate for call in reply.calls], searches.queries) == ([Fate.MISS], ["Humber Bridge"] * 2)


def test_a_named_action_that_the_service_runs_voids_nothing() -> None:
    """What the user has named only reads, wherever it runs."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    turn = AgentTurn(Rationale(THOUGHT), Meanwhile(searches.wait), ActionRun(asks("x"), "y"), only_asks())
    with LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert ([call.fate for call in reply.calls], searches.queries) == ([Fate.HIT], ["Humber Bridge"])


def test_a_failure_of_ours_is_a_miss(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever breaks in the reading, the agent's run is the bare one."""

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    searches, prefetch = Searches(), Prefetcher(["search"])
    monkeypatch.setattr(service_agents, "OwnWords", broken)
    turn = AgentTurn(Rationale(THOUGHT), only_asks())
    with caplog.at_level(logging.CRITICAL), LocalBedrock(agents=[turn, ANSWERED]) as server:
        reply = agent_of(server, prefetch, searches.tool).invoke(QUESTION)
    assert (reply.text, [call.fate for call in reply.calls]) == ("1,410 metres.", [Fate.MISS])
    assert prefetch.report().troubles >= 1


def test_session_and_attributes_reach_tools_and_bound_their_results() -> None:
    """A tool sees whose session it is, and another session is answered from its own results alone."""
    seen: list[tuple[str, Any]] = []

    @tool
    def search(query: str, config: RunnableConfig) -> str:
        """Search what the tenant has."""
        values = config["configurable"]
        seen.append((values["bedrock_session_id"], values["bedrock_session_attributes"]))
        return f"{values['bedrock_session_attributes']['tenant']}: {query}"

    prefetch = Prefetcher(["search"], scope=session_scope, reuse_seconds=60)

    def script(request: Any) -> AgentTurn:
        return ANSWERED if request.results else AgentTurn(only_asks())

    with LocalBedrock(agents=script) as server:
        agent = agent_of(server, prefetch, search)
        told = []
        for session, tenant in (("s-1", "north"), ("s-1", "north"), ("s-1", "south"), ("s-2", "north")):
            reply = agent.invoke(
                AgentQuestion(text=QUESTION, session_id=session, session_attributes={"tenant": tenant})
            )
            told.append((reply.calls[0].fate, results(server.agent_requests[-1])[0]["responseBody"]["TEXT"]["body"]))
            assert server.agent_requests[-1].attributes == {"tenant": tenant}
    assert told == [
        (Fate.MISS, "north: Humber Bridge"),
        (Fate.HIT, "north: Humber Bridge"),
        (Fate.MISS, "south: Humber Bridge"),
        (Fate.MISS, "north: Humber Bridge"),
    ]
    assert [session for session, _ in seen] == ["s-1", "s-1", "s-2"]
    assert session_scope({}) is None
