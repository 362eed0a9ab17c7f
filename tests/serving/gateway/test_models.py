"""Chat models behind real HTTP servers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from langgraph_prefetch.serving.gateway import BreakerRule, CallPrice, degraded_by, gateway
from langgraph_prefetch.serving.gateway.engines import engine
from langgraph_prefetch.testing.wire import Cut, ErrorEvent, OpenAIWire, Request, ScriptedCall, Throttled, Turn, words
from tests.serving.gateway.parts import Log

TEXT = "the grid holds"


def say(request: Request) -> Turn:
    return Turn(text=words(f"{request.model}: {TEXT}"))


@pytest.fixture(scope="module", autouse=True)
def _client() -> None:
    """The first client of a process reads files, which is not to be counted against an event loop."""
    engine("http://127.0.0.1:9/v1", "none")


@pytest.fixture
def healthy() -> Iterator[str]:
    with OpenAIWire(say) as server:
        yield f"{server.url}/v1"


@pytest.fixture
def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


async def test_a_model_stays_a_model(healthy: str) -> None:
    """Whole answers and streams, sync and async, are those of the model itself."""
    bare = engine(healthy, "large")
    gated = gateway(bare)
    assert isinstance(gated, BaseChatModel)
    assert (await gated.ainvoke("?")).content == (await bare.ainvoke("?")).content
    assert [each.content async for each in gated.astream("?")] == [each.content async for each in bare.astream("?")]
    assert (await gated.agenerate([[HumanMessage("?")]])).generations[0][0].text == f"large: {TEXT}"


def test_a_model_stays_a_model_without_a_loop(healthy: str) -> None:
    """Also in batches, which go call by call."""
    gated = gateway(engine(healthy, "large"))
    assert gated.invoke("?").content == f"large: {TEXT}"
    assert "".join(str(each.content) for each in gated.stream("?")) == f"large: {TEXT}"
    assert [each.content for each in gated.batch(["?", "!"])] == [f"large: {TEXT}"] * 2
    assert gated.generate([[HumanMessage("?")]]).generations[0][0].text == f"large: {TEXT}"


async def test_tools_and_structured_output_go_to_whichever_model_answers(healthy: str, nowhere: str) -> None:
    """The stand-in gets the same tools."""
    call = Turn(calls=(ScriptedCall.of("search", {"query": "grid"}),))

    @tool
    def search(query: str) -> str:
        """Search."""
        return query

    class Found(BaseModel):
        query: str

    with OpenAIWire(lambda request: call) as server:
        gated = gateway(engine(nowhere, "large"), fallback=engine(f"{server.url}/v1", "small"))
        answer = await gated.bind_tools([search]).ainvoke("?")
        assert answer.tool_calls[0]["args"] == {"query": "grid"}
        assert server.requests[0].tools == ("search",)
    with OpenAIWire(lambda request: Turn(text=('{"query": "grid"}',))) as server:
        gated = gateway(engine(nowhere, "large"), fallback=engine(f"{server.url}/v1", "small"))
        asked = gated.with_structured_output(Found, method="json_schema")
        assert await asked.ainvoke("?") == Found(query="grid")


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_outage_is_never_an_error_where_a_fallback_was_given(
    healthy: str, nowhere: str, streamed: bool
) -> None:
    """Its answers are marked; the breaker opens, and then the component is not even asked."""
    log = Log()
    gated = gateway(
        engine(nowhere, "large"),
        name="writer",
        fallback=engine(healthy, "small"),
        breaker=BreakerRule(failures=2, open_seconds=600),
        events=log,
    )
    for _ in range(3):
        if streamed:
            answer: Any = None
            async for part in gated.astream("?"):
                answer = part if answer is None else answer + part
        else:
            answer = await gated.ainvoke("?")
        assert answer.content == f"small: {TEXT}"
        assert degraded_by(answer) == answer.response_metadata["degraded"] == "fallback"
    failed, refused, degraded = ("writer", "failed"), ("writer", "refused"), ("fallback", "degraded")
    assert log.outcomes == [failed, degraded, failed, degraded, refused, degraded]
    assert log.moves == ["opened"]
    assert gated.gateway.components()[0].breaker == "opened"  # type: ignore[attr-defined]


@pytest.mark.parametrize("fault", [Cut(2), ErrorEvent(2)])
def test_a_stream_that_has_begun_is_not_begun_again(healthy: str, fault: Cut | ErrorEvent) -> None:
    """Its reader would get two beginnings: it ends with its error, and what was paid for it is waste."""
    log = Log()
    with OpenAIWire(lambda request: Turn(text=words("one two three four"), fault=fault)) as server:
        gated = gateway(
            engine(f"{server.url}/v1", "large"), fallback=engine(healthy, "small"), events=log, price=0.01, attempts=3
        )
        stream = gated.stream("?")
        assert "".join(str(next(stream).content) for _ in range(3)) == "one two "  # the first part has no text
        with pytest.raises(Exception, match=r"."):
            next(stream)
        assert len(server.requests) == 1
    assert [outcome for _, outcome in log.outcomes] == ["failed"]
    statement = gated.gateway.account.statement()  # type: ignore[attr-defined]
    assert statement.wasted == statement.total > 0


def test_attempts_are_langchains_own_and_only_for_outages(healthy: str) -> None:
    """A server that is busy once is asked twice, which is one call; a request that it refuses once."""
    log = Log()
    turn = Turn(text=words(TEXT), fault=Throttled(times=1))
    with OpenAIWire(lambda request: turn) as server:
        model = gateway(engine(f"{server.url}/v1", "large"), events=log, attempts=2)
        assert model.invoke("?").content == TEXT
        assert len(server.requests) == 2
    assert [outcome for _, outcome in log.outcomes] == ["answered"]
    with OpenAIWire([]) as server:  # a script without turns: 400
        model = gateway(engine(f"{server.url}/v1", "large"), fallback=engine(healthy, "small"), events=log, attempts=3)
        assert model.invoke("?").content == f"small: {TEXT}"
        assert len(server.requests) == 1
    assert log.moves == []


def test_tokens_are_counted_and_priced(healthy: str) -> None:
    """Of whole answers and of streams; the sum of what events tell is what the account says."""
    log = Log()
    price = CallPrice(input_per_million=Decimal("2.5"), output_per_million=Decimal(10))
    gated = gateway(engine(healthy, "large"), price=price, events=log)
    whole = gated.invoke("?")
    list(gated.stream("?"))
    assert whole.usage_metadata is not None
    used = whole.usage_metadata
    lines = {line.what: line.quantity for line in gated.gateway.account.statement().lines}  # type: ignore[attr-defined]
    assert lines == {"input tokens": 2 * used["input_tokens"], "output tokens": 2 * used["output_tokens"]}
    assert log.calls[0].cost == log.calls[1].cost
    assert log.calls[1].first_token_seconds is not None


async def test_an_agent_of_gated_parts_answers_while_both_are_down(healthy: str, nowhere: str) -> None:
    """Model and tool are stood in for; the graph sees ordinary messages, with the mark on them."""

    @tool
    def search(query: str) -> str:
        """Search."""
        raise ConnectionError("down")

    def small(request: Request) -> Turn:
        if request.turn:
            return Turn(text=words("it is down"))
        return Turn(calls=(ScriptedCall.of("search", {"query": "grid"}),))

    with OpenAIWire(small) as server:
        model = gateway(engine(nowhere, "large"), fallback=engine(f"{server.url}/v1", "small"))
        gated = gateway(search, fallback=lambda arguments: f"no search for {arguments['query']}")
        agent: Any = create_agent(model, [gated])
        told = await agent.ainvoke({"messages": [HumanMessage("?")]})
    _, asked, found, answer = told["messages"]
    assert isinstance(asked, AIMessage)
    assert (found.content, degraded_by(found)) == ("no search for grid", "fallback")
    assert (answer.content, degraded_by(answer)) == ("it is down", "fallback")
