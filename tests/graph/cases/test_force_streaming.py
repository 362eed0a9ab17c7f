"""``force_streaming`` end to end: who is made to stream under a plain call, and what the graph sees of it."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_openai import ChatOpenAI

from langgraph_prefetch import Prefetcher, PrefetchMiddleware, prefetcher_of, with_prefetch
from langgraph_prefetch.testing.models import ScriptedChatModel, UnstreamedScriptedChatModel
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.testing.wire import OpenAIWire, ScriptedCall, Stop, Turn, words
from langgraph_prefetch.testing.wire.server import WireServer
from tests.graph.cases import rigs
from tests.graph.cases.rigs import GO, created, thinks, tool_texts
from tests.wire.clients import ANTHROPIC, BEDROCK, KEY, Client

pytestmark = pytest.mark.usefixtures("_fake_credentials")

THINKS = Turn(
    text=words("I need to search for alpha. Then I go on. "), calls=(ScriptedCall.of("search", {"query": "alpha"}),)
)
CUT = Turn(
    text=words("So. "),
    calls=(ScriptedCall.of("search", {"query": "whole"}), ScriptedCall("search", ('{"query": "capital of ', "Fra"))),
    stop=Stop.LENGTH,
)
DONE = Turn(text=words("It is done. "))
PAUSE = 0.002


@pytest.fixture
def at_openai(monkeypatch: pytest.MonkeyPatch) -> Callable[[WireServer], ChatOpenAI]:
    """A client that takes the scripted server for OpenAI's own address: the environment alone says otherwise."""

    def build(server: WireServer) -> ChatOpenAI:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        return ChatOpenAI(model="gpt-4.1", api_key=KEY, max_retries=0, stream_usage=True)

    return build


def by_wrapping(llm: BaseChatModel, search: CountingSearch, **options: Any) -> tuple[Any, Prefetcher]:
    wrapped = with_prefetch(create_agent(llm, [search.tool]), ["search"], **options)
    return wrapped, prefetcher_of(wrapped)


def by_middleware(llm: BaseChatModel, search: CountingSearch, **options: Any) -> tuple[Any, Prefetcher]:
    ours = PrefetchMiddleware(["search"], **options)
    return create_agent(llm, [search.tool], middleware=[ours]), ours.prefetch


each_way = pytest.mark.parametrize("way", [by_wrapping, by_middleware])
each_style = pytest.mark.parametrize("style", ["invoke", "ainvoke"])


def run(graph: Any, style: str) -> list[BaseMessage]:
    ended = graph.invoke(GO) if style == "invoke" else asyncio.run(graph.ainvoke(GO))
    messages: list[BaseMessage] = ended["messages"]
    return messages


def plain(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    return [each.model_dump(exclude={"id", "response_metadata", "additional_kwargs"}) for each in messages]


@each_style
@each_way
def test_auto_streams_what_was_compared(way: Any, style: str, at_openai: Any) -> None:
    """A model whose streamed messages equal its plain ones is heard under a plain call, and the messages are equal."""
    search = CountingSearch()
    with OpenAIWire([THINKS, DONE], PAUSE) as server:
        llm = at_openai(server)
        bare = run(create_agent(llm, [search.tool]), style)
        graph, prefetch = way(llm, search)
        heard = run(graph, style)
    assert [request.streamed for request in server.requests] == [False, False, True, True]
    assert plain(heard) == plain(bare)
    report = prefetch.report()
    assert (report.served_reasoning, report.idle_runs, report.troubles) == (1, 0, 0)


@each_style
@each_way
def test_calls_cut_off_stay_invalid(way: Any, style: str, at_openai: Any) -> None:
    """A call cut off by the token limit, which joining a stream repairs, is invalid again: the bare graph's path."""
    search = CountingSearch()
    with OpenAIWire([CUT, DONE], PAUSE) as server:
        llm = at_openai(server)
        bare = run(create_agent(llm, [search.tool]), style)
        graph, _ = way(llm, search)
        heard = run(graph, style)
    message = heard[1]
    assert isinstance(message, AIMessage)
    assert [call["args"] for call in message.tool_calls] == [{"query": "whole"}]
    assert [call["args"] for call in message.invalid_tool_calls] == ['{"query": "capital of Fra']
    assert plain(heard) == plain(bare)
    assert search.queries == ["whole", "whole"]


@pytest.mark.parametrize("client", [ANTHROPIC, BEDROCK], ids=lambda client: client.name)
def test_auto_leaves_others_as_they_are(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Where streamed messages differ, ``auto`` changes nothing; log and report say so, and how to change it."""
    search = CountingSearch()
    with client.wire([THINKS, DONE], PAUSE) as server:
        graph, prefetch = by_wrapping(client.build(server.url), search)
        for style in ("invoke", "ainvoke"):
            run(graph, style)
    assert not any(request.streamed for request in server.requests)
    report = prefetch.report()
    assert (report.idle_runs, report.speculations, report.served) == (2, 0, 0)
    idle = [record.getMessage() for record in caplog.records if "idle: no tokens seen" in record.getMessage()]
    assert len(idle) == 1
    assert "force_streaming=True" in idle[0]
    assert "no tokens seen in 2 of 2 runs" in str(report)
    assert "force_streaming=True" in str(report)


@pytest.mark.parametrize("client", [ANTHROPIC, BEDROCK], ids=lambda client: client.name)
@each_way
def test_true_is_honoured(way: Any, client: Client) -> None:
    """``True`` makes any model stream: the answers are the same, and it is served."""
    search = CountingSearch()
    with client.wire([THINKS, DONE], PAUSE) as server:
        llm = client.build(server.url)
        bare = run(create_agent(llm, [search.tool]), "invoke")
        graph, prefetch = way(llm, search, force_streaming=True)
        heard = run(graph, "invoke")
    assert [request.streamed for request in server.requests] == [False, False, True, True]
    assert [message.text for message in heard] == [message.text for message in bare]
    assert prefetch.report().served_reasoning == 1


@each_way
def test_false_is_honoured(way: Any, at_openai: Any, caplog: pytest.LogCaptureFixture) -> None:
    """``False`` makes no model stream, not even one that could; a run that streams anyway is served all the same."""
    search = CountingSearch()
    with OpenAIWire([THINKS, DONE], PAUSE) as server:
        graph, prefetch = way(at_openai(server), search, force_streaming=False)
        run(graph, "invoke")
        assert not any(request.streamed for request in server.requests)
        assert prefetch.report().served == 0
        list(graph.stream(GO, stream_mode="messages"))
        assert prefetch.report().served == 1
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1


def test_a_model_without_a_stream(caplog: pytest.LogCaptureFixture) -> None:
    """A model that cannot stream answers as before in every mode, and the report says how to change that (3)."""
    search = CountingSearch()
    llm = UnstreamedScriptedChatModel(script=[thinks("alpha"), rigs.DONE])
    bare = created(llm, [search.tool])
    for options in ({}, {"force_streaming": True}):
        wrapped = with_prefetch(bare, ["search"], **options)  # type: ignore[arg-type]
        for style in ("invoke", "ainvoke"):
            assert rigs.plain(run(wrapped, style)) == rigs.plain(run(bare, style))
        assert tool_texts(list(wrapped.stream(GO, stream_mode="values"))[-1]) == ["5 passages about alpha"]
        report = prefetcher_of(wrapped).report()
        assert (report.idle_runs, report.speculations) == (3, 0)
        assert "no tokens seen in 3 of 3 runs" in str(report)
    assert len([record for record in caplog.records if "idle: no tokens seen" in record.getMessage()]) == 2


class Unlisted(ScriptedChatModel):
    """Of a class whose streamed messages nobody compared with its plain ones."""


@each_way
def test_subclasses_are_not_taken_for_what_they_extend(way: Any) -> None:
    """A user's own subclass may change anything: it is made to stream on the user's word alone (3)."""
    search = CountingSearch()
    llm = Unlisted(script=[thinks("alpha"), rigs.DONE], seconds_per_token=PAUSE)
    for options, served in (({}, 0), ({"force_streaming": True}, 1)):
        graph, prefetch = way(llm, search, **options)
        assert tool_texts({"messages": run(graph, "invoke")}) == ["5 passages about alpha"]
        assert prefetch.report().served == served


def test_model_from_a_string(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent made from a model's name is wrapped and heard like any other (42)."""
    search = CountingSearch()
    with OpenAIWire([THINKS, DONE], PAUSE) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        wrapped = with_prefetch(create_agent("openai:gpt-4.1", [search.tool]), ["search"])
        list(wrapped.stream(GO, stream_mode="messages"))
    assert prefetcher_of(wrapped).report().served_reasoning == 1
