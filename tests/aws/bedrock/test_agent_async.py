"""A Bedrock agent on an event loop, inline, and as a node; and what breaks on the way."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError, EventStreamError
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock_agents import AgentQuestion, AgentReply, BedrockAgent, Fate
from langgraph_prefetch.aws.bedrock_agents.wording import session_of
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.testing.wire import (
    AgentFailure,
    AgentTurn,
    AnswerChunks,
    CutHere,
    LocalBedrock,
    Meanwhile,
    Rationale,
    Throttled,
)
from tests.aws.bedrock.parts import (
    ANSWERED,
    QUESTION,
    THOUGHT,
    Searches,
    agent_of,
    client,
    only_asks,
    thinks_and_asks,
)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync tool", "async tool"])
async def test_a_turn_on_the_loop(asynchronous: bool) -> None:
    """Under ``ainvoke`` the same happens, and the loop is never blocked; async tools run on it."""
    searches, prefetch = Searches(asynchronous=asynchronous), Prefetcher(["search"])
    with LocalBedrock(agents=[thinks_and_asks(searches), ANSWERED]) as server:
        reply = await agent_of(server, prefetch, searches.tool).ainvoke(QUESTION)
    assert (reply.text, [call.fate for call in reply.calls]) == ("1,410 metres.", [Fate.HIT])
    assert (searches.queries, prefetch.report().troubles) == (["Humber Bridge"], 0)


async def test_pieces_come_as_they_are_sent() -> None:
    """``astream`` gives the first piece while the agent is still speaking."""
    heard = threading.Event()
    turn = AgentTurn(AnswerChunks.of("1,410 "), Meanwhile(lambda: heard.wait(20)), AnswerChunks.of("metres."))
    pieces = []
    with LocalBedrock(agents=[turn]) as server:
        async for piece in agent_of(server, Prefetcher(["search"]), Searches().tool).astream(QUESTION):
            pieces.append(piece)
            heard.set()
    assert [piece.text for piece in pieces if piece.data] == ["1,410 ", "metres."]
    assert pieces[-1].agent_seconds > 0
    whole = sum(pieces, AgentReply(session_id=""))
    assert whole.session_id == server.agent_requests[0].session_id


@pytest.mark.parametrize("style", ["stream", "astream"])
async def test_leaving_early_tells_bedrock(style: str) -> None:
    """Who stops listening ends the request, and what was started for the rest is given up."""
    gone = threading.Event()

    class Watched(LocalBedrock):
        def _disconnected(self) -> None:
            super()._disconnected()
            gone.set()

    left = threading.Event()
    rest = [AnswerChunks((b"x" * 60_000,))] * 200
    turn = AgentTurn(AnswerChunks.of("a"), Meanwhile(lambda: left.wait(20)), *rest)
    prefetch = Prefetcher(["search"])
    with Watched(agents=[turn]) as server:
        agent = agent_of(server, prefetch, Searches().tool)
        if style == "stream":
            pieces = agent.stream(QUESTION)
            await asyncio.to_thread(next, pieces)
            await asyncio.to_thread(pieces.close)  # type: ignore[attr-defined]
            left.set()
        else:
            apieces = agent.astream(QUESTION)
            await anext(apieces)
            await apieces.aclose()  # type: ignore[attr-defined]
            left.set()
        assert await asyncio.to_thread(gone.wait, 20)
    assert prefetch.report().unsettled == 0


async def test_many_turns_leave_the_loops_threads_alone() -> None:
    """24 turns at once wait for one another to arrive: they hold threads of their own, not the loop's few."""
    together = threading.Barrier(24, timeout=30)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    turn = AgentTurn(Meanwhile(together.wait), *ANSWERED.steps)
    with LocalBedrock(agents=[turn]) as server:
        agent = agent_of(server, Prefetcher(["search"]), Searches().tool)
        replies = await asyncio.gather(*(agent.ainvoke(QUESTION) for _ in range(24)))
    assert {reply.text for reply in replies} == {"1,410 metres."}
    assert len({reply.session_id for reply in replies}) == 24


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("turn", "error", "said"),
    [
        (AgentTurn(*ANSWERED.steps, fault=Throttled()), ClientError, "ThrottlingException"),
        (AgentTurn(AnswerChunks.of("a"), AgentFailure("throttlingException")), EventStreamError, "throttlingException"),
        (
            AgentTurn(Rationale(THOUGHT), AgentFailure("dependencyFailedException")),
            EventStreamError,
            "dependencyFailed",
        ),
        (AgentTurn(AnswerChunks.of("a"), CutHere()), Exception, None),
    ],
    ids=["throttled before", "throttled in the stream", "dependency", "cut"],
)
async def test_errors_reach_the_caller_as_they_are(style: str, turn: AgentTurn, error: Any, said: str | None) -> None:
    """Throttling before or in the stream, a failure in it, a cut: the error of a bare call, and nothing is left."""
    prefetch, searches = Prefetcher(["search"]), Searches()
    with LocalBedrock(agents=lambda request: turn) as server:
        boto = client(server)

        def call() -> None:
            list(boto.invoke_agent(agentId="A", agentAliasId="B", sessionId="s-1", inputText="q")["completion"])

        with pytest.raises(error) as bare:
            await asyncio.to_thread(call)
        agent = agent_of(server, prefetch, searches.tool, boto=boto)
        with pytest.raises(error, match=said) as caught:
            await (agent.ainvoke(QUESTION) if style == "ainvoke" else asyncio.to_thread(agent.invoke, QUESTION))
    assert type(caught.value) is type(bare.value)
    assert prefetch.report().unsettled == 0


def test_a_retry_that_repeats_the_rationale_is_one_dispatch() -> None:
    """After a break the caller asks again within its run, and the same thought is not searched twice."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    broken = AgentTurn(Rationale(THOUGHT), Meanwhile(searches.wait), AgentFailure("throttlingException"))
    turns = [broken, AgentTurn(Rationale(THOUGHT), only_asks()), ANSWERED]
    with LocalBedrock(agents=lambda request: turns[len(server.agent_requests) - 1]) as server:
        agent, question = agent_of(server, prefetch, searches.tool), AgentQuestion(text=QUESTION)
        with prefetch.run():
            with pytest.raises(EventStreamError):
                agent.invoke(question)
            reply = agent.invoke(question)
    assert ([call.fate for call in reply.calls], searches.queries) == ([Fate.HIT], ["Humber Bridge"])


async def test_an_inline_agent() -> None:
    """``InvokeInlineAgent`` is another operation with another name for its state; the rest is the same."""
    searches, prefetch = Searches(), Prefetcher(["search"])
    described = {"foundationModel": "a-model", "instruction": "Answer questions about bridges, with a search."}
    with LocalBedrock(agents=[thinks_and_asks(searches), ANSWERED]) as server:
        agent = BedrockAgent(client(server), prefetch.service_agent([searches.tool]), inline=described)
        reply = await agent.ainvoke({"text": QUESTION, "session_attributes": {"tenant": "north"}})
    assert (reply.text, [call.fate for call in reply.calls]) == ("1,410 metres.", [Fate.HIT])
    first, second = server.agent_requests
    assert (first.inline, first.body["foundationModel"], len(second.results)) == (True, "a-model", 1)
    assert (first.attributes, second.attributes) == ({"tenant": "north"}, {"tenant": "north"})


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
async def test_a_node_of_a_graph(style: str) -> None:
    """In a graph the agent answers the latest message, in the session of the thread."""
    searches, prefetch = Searches(), Prefetcher(["search"])

    def script(request: Any) -> AgentTurn:
        if request.results:
            return AgentTurn(AnswerChunks.of(f"answer to {request.turn}"))
        searches.ended.clear()
        return thinks_and_asks(searches)

    with LocalBedrock(agents=script) as server:
        drawing = StateGraph(MessagesState)
        drawing.add_node("agent", agent_of(server, prefetch, searches.tool).node())
        drawing.add_edge(START, "agent")
        graph: Any = drawing.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "thread/7"}}
        asked = {"messages": [("user", QUESTION)]}
        state: Any = None
        for _ in range(2):
            run = graph.ainvoke(asked, config) if style == "ainvoke" else asyncio.to_thread(graph.invoke, asked, config)
            state = await run
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)
    assert last.text == "answer to 3"
    assert last.response_metadata["bedrock_agent"]["calls"][0]["fate"] == "hit"
    assert {request.session_id for request in server.agent_requests} == {session_of("thread/7")}
    json.dumps(last.response_metadata)


def test_threads_have_sessions_of_their_own() -> None:
    """Two threads never share a session, whatever characters their names have."""
    assert session_of("thread-7") == "thread-7"
    names = [session_of(name) for name in ("a/b", "a-b", "a b", "é", "x", "y" * 200)]
    assert len(set(names)) == len(names)
    assert all(2 <= len(name) <= 100 for name in names)


@pytest.mark.parametrize("asked", [7, [], ["x"], {"question": "x"}], ids=str)
def test_what_is_no_question(asked: Any) -> None:
    """A wrong input says what is taken."""
    with LocalBedrock() as server, pytest.raises(ConfigurationError):
        agent_of(server, Prefetcher(["search"]), Searches().tool).invoke(asked)
