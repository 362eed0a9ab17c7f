"""Cases F: real client classes against scripted servers. What the provider is sent is what the bare agent sends."""

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware

from langgraph_prefetch import prefetcher_of, with_prefetch
from langgraph_prefetch.events import SpeculationStarted
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.testing.wire import Cut, ErrorEvent, Request, ScriptedCall, Turn, words
from tests.graph.cases.rigs import GO, of_kind, tool_texts, watch
from tests.wire.clients import ANTHROPIC, ANTHROPIC_THINKING, BEDROCK, OPENAI, Client

pytestmark = pytest.mark.usefixtures("_fake_credentials")

THOUGHT = words("I need to search for alpha. Then I go on. ")
ALPHA = ScriptedCall.of("search", {"query": "alpha"})
DONE = Turn(text=words("It is done. "))
PAUSE = 0.002

each_client = pytest.mark.parametrize("client", [OPENAI, ANTHROPIC, BEDROCK], ids=lambda client: client.name)
each_thinker = pytest.mark.parametrize("client", [ANTHROPIC_THINKING, BEDROCK], ids=lambda client: client.name)


def agent(client: Client, url: str, search: CountingSearch, *middleware: Any, **settings: Any) -> Any:
    return create_agent(client.build(url, **settings), [search.tool], middleware=middleware)


def run(graph: Any, style: str) -> Any:
    if style == "invoke":
        return graph.invoke(GO)
    return [state for mode, state in graph.stream(GO, stream_mode=["messages", "values"]) if mode == "values"][-1]


THINKING = {
    "signed": Turn(reasoning=THOUGHT, text=words("Let me look. "), calls=(ALPHA,)),
    "wordless": Turn(signed_only=True, text=words("Let me look. "), calls=(ALPHA,)),
    "redacted": Turn(reasoning=THOUGHT, redacted=b"\x00\xffopaque", text=words("So. "), calls=(ALPHA,)),
}


@pytest.mark.parametrize("turn", THINKING)
@pytest.mark.parametrize("style", ["invoke", "stream", "forced"])
@each_thinker
def test_thinking_is_sent_back_as_it_came(client: Client, style: str, turn: str) -> None:
    """The next request holds the thinking with signature and opaque bytes as the bare agent sends it (10, 91, 92)."""
    search = CountingSearch()
    with client.wire([THINKING[turn], DONE], PAUSE) as server:
        bare = agent(client, server.url, search)
        run(bare, "invoke" if style == "forced" else style)
        wrapped = with_prefetch(bare, ["search"], force_streaming=style == "forced", log_queries=True)
        events = watch(wrapped)
        result = run(wrapped, "invoke" if style == "forced" else style)
    sent = [request.body["messages"] for request in server.requests]
    assert sent[2:] == sent[:2]
    assert tool_texts(result) == ["5 passages about alpha"]
    report = prefetcher_of(wrapped).report()
    assert (report.served, report.troubles) == (0 if style == "invoke" else 1, 0)
    if style != "invoke":
        expected = "sealed" if turn == "wordless" else "reasoning"
        assert [str(event.source) for event in of_kind(events, SpeculationStarted)] == [expected]
    assert not [event for event in events if "opaque" in repr(event) or "signature" in repr(event)]


HARD = 'naïve "quoted"\nline \\ 東京'


@pytest.mark.parametrize("pieces", [3, 60])
@each_client
def test_arguments_in_fragments(client: Client, pieces: int) -> None:
    """Arguments cut inside escapes and characters start the search once they close, for the very query called (93)."""
    search = CountingSearch()
    call = ScriptedCall.of("search", {"query": HARD}, pieces=pieces)
    if pieces == 60:  # as some providers write it: every character beyond ASCII as an escape, cut anywhere
        text = '{"query": "na\\u00efve \\"quoted\\"\\nline \\\\ \\u6771\\u4eac"}'
        call = ScriptedCall("search", tuple(text))
    other = ScriptedCall.of("search", {"query": "other"}, pieces=20)
    with client.wire([Turn(text=words("So. "), calls=(call, other)), DONE], PAUSE) as server:
        wrapped = with_prefetch(agent(client, server.url, search), ["search"])
        result = run(wrapped, "stream")
    assert tool_texts(result) == [f"5 passages about {HARD}", "5 passages about other"]
    assert sorted(search.queries) == sorted([HARD, "other"])
    assert prefetcher_of(wrapped).report().served_sealed == 2


@pytest.mark.parametrize("setting", [True, "tool_calling"])
@pytest.mark.parametrize("options", [{}, {"force_streaming": True}], ids=["auto", "forced"])
@each_client
def test_models_that_refuse_to_stream_with_tools(
    client: Client, options: dict[str, Any], setting: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A model told not to stream is not made to, whatever is asked of us: no prefetch, no error, said once (95)."""
    search = CountingSearch()
    with client.wire([Turn(text=THOUGHT, calls=(ALPHA,)), DONE], refuse_streaming=True) as server:
        wrapped = with_prefetch(agent(client, server.url, search, disable_streaming=setting), ["search"], **options)
        for style in ("invoke", "stream"):
            assert tool_texts(run(wrapped, style)) == ["5 passages about alpha"]
    assert [request.streamed for request in server.requests] == [False] * 4
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.served, report.idle_runs) == (0, 0, 2)
    idle = [record for record in caplog.records if "idle: no tokens seen" in record.getMessage()]
    assert [record.levelno for record in idle] == [logging.WARNING]


@pytest.mark.parametrize("fault", [Cut(12), ErrorEvent(12)], ids=["cut", "error event"])
@each_client
def test_error_in_mid_stream(client: Client, fault: Cut | ErrorEvent) -> None:
    """A stream that breaks gives the caller the very error of the bare graph, and nothing of it is kept (96)."""
    search = CountingSearch()
    errors = []
    with client.wire([Turn(text=THOUGHT + words("And on and on. "), fault=fault)], PAUSE) as server:
        bare = agent(client, server.url, search)
        wrapped = with_prefetch(bare, ["search"])
        for graph in (bare, wrapped):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has its own
                run(graph, "stream")
            errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
    report = prefetcher_of(wrapped).report()
    assert (report.speculations, report.cancelled + report.wasted, report.troubles) == (1, 1, 0)


@each_client
def test_retry_that_repeats_the_text(client: Client) -> None:
    """A model asked again after its stream broke repeats what it said: one search for both, and it is served (96)."""
    search, asked = CountingSearch(), []

    def script(request: Request) -> Turn:
        asked.append(request)
        fault = ErrorEvent(12) if len(asked) == 1 else None
        thinks = Turn(text=THOUGHT + words("And on and on. "), calls=(ALPHA,), fault=fault)
        return DONE if request.turn else thinks

    with client.wire(script, PAUSE) as server:
        retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
        wrapped = with_prefetch(agent(client, server.url, search, retry), ["search"])
        events = watch(wrapped)
        result = run(wrapped, "stream")
    assert tool_texts(result) == ["5 passages about alpha"]
    assert len(asked) == 3
    assert (len(of_kind(events, SpeculationStarted)), search.queries) == (1, ["alpha"])
    assert prefetcher_of(wrapped).report().served_reasoning == 1
