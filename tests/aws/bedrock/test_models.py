"""An agent on ``ChatBedrockConverse``, wrapped: real boto3, the true bytes, nothing changed and searches early."""

import asyncio
import base64
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_aws import ChatBedrockConverse

from langgraph_prefetch import prefetcher_of, with_prefetch
from langgraph_prefetch.testing.wire import Cut, ErrorEvent, LocalBedrock, Request, ScriptedCall, Throttled, Turn, words
from tests.aws.bedrock.parts import Searches, client

STREAMS_TOOLS = "anthropic.claude-sonnet-4-20250514-v1:0"
REFUSES_TOOLS = "meta.llama3-1-70b-instruct-v1:0"
SIGNATURE, REDACTED = "c2lnbmVkLXNlY3JldA==", b"\x00\xffopaque secret"

CALL = ScriptedCall.of("search", {"query": "Humber Bridge"}, pieces=6)
THINKS = Turn(
    reasoning=words('I need to search for "Humber Bridge" first. Then I can answer. '),
    signature=SIGNATURE,
    redacted=REDACTED,
    text=words("Let me look that up. "),
    calls=(CALL,),
)
DONE = Turn(reasoning=words("That is all. "), text=words("1,410 metres. "))
ASKED: Any = {"messages": [("user", "How long is the main span?")]}


class Pace:
    """Stands for ``time.sleep`` in the server: before the token numbered ``at``, counted from 1, ``then`` is called."""

    def __init__(self, at: int, then: Callable[[], object]) -> None:
        self.at, self.then, self.count = at, then, 0

    def __call__(self, seconds: float) -> None:
        self.count += 1
        if self.count == self.at:
            self.then()


def chat(server: LocalBedrock, model: str = STREAMS_TOOLS, read_timeout: float = 20, **settings: Any) -> Any:
    # Clients of one session: each would read the service's description anew, for seconds.
    runtime, control = client(server, "bedrock-runtime", read_timeout=read_timeout), client(server, "bedrock")
    return ChatBedrockConverse(
        model_id=model, region_name="us-east-1", client=runtime, bedrock_client=control, **settings
    )


async def streamed(graph: Any, style: str) -> list[Any]:
    """The run's messages, its tokens streamed to a consumer."""
    if style == "astream":
        chunks = [each async for each in graph.astream(ASKED, stream_mode=["messages", "values"])]
    else:
        chunks = await asyncio.to_thread(lambda: list(graph.stream(ASKED, stream_mode=["messages", "values"])))
    messages: list[Any] = chunks[-1][1]["messages"]
    return messages


def plain(message: Any) -> dict[str, Any]:
    told: dict[str, Any] = message.model_dump(exclude={"id", "response_metadata"})
    return told


each_style = pytest.mark.parametrize("style", ["stream", "astream"])


@each_style
@pytest.mark.parametrize(
    "thinks",
    [
        THINKS,
        replace(THINKS, redacted=b""),
        replace(THINKS, reasoning=(), signed_only=True),
        replace(THINKS, calls=(CALL, ScriptedCall.of("search", {"query": "Severn Bridge"}))),
    ],
    ids=["signed and redacted", "signed", "wordless", "parallel calls"],
)
async def test_the_next_request_is_the_bare_runs(style: str, thinks: Turn) -> None:
    """Thinking goes back to Bedrock as it came, or the turn would be invalid: no block changed, moved or lost."""
    with LocalBedrock([thinks, DONE]) as server:
        searches = Searches()
        bare = create_agent(chat(server), [searches.tool])
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"])
        bare_messages, wrapped_messages = await streamed(bare, style), await streamed(wrapped, style)
    assert [plain(message) for message in wrapped_messages] == [plain(message) for message in bare_messages]
    first, second, wrapped_first, wrapped_second = (request.body for request in server.requests)
    assert (wrapped_first, wrapped_second) == (first, second)
    kinds = [next(iter(block)) for block in second["messages"][1]["content"]]
    assert kinds[:1] == ["reasoningContent"]
    assert "toolUse" in kinds


@each_style
async def test_thinking_starts_the_search(style: str) -> None:
    """By the time that the last piece of the call comes, the search has been made."""
    searches = Searches()
    pace = Pace(THINKS.tokens, searches.wait)
    with LocalBedrock([THINKS, DONE], 0.001, sleep=pace) as server:
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"])
        messages = await streamed(wrapped, style)
    report = prefetcher_of(wrapped).report()
    assert (searches.queries, messages[-1].text) == (["Humber Bridge"], "1,410 metres. ")
    assert (report.served_reasoning, report.late, report.unsettled, report.troubles) == (1, 0, 0, 0)


async def test_signatures_and_redacted_bytes_are_read_by_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """Only words are read: what else is in a thought appears in no event, no log and no search."""
    searches, events = Searches(), []
    with caplog.at_level(logging.DEBUG, "langgraph_prefetch"), LocalBedrock([THINKS, DONE]) as server:
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"], log_queries=True)
        prefetcher_of(wrapped).subscribe(lambda event: events.append(event))
        await streamed(wrapped, "astream")
    told = json.dumps([repr(event) for event in events]) + caplog.text + " ".join(searches.queries)
    assert "Humber Bridge" in told
    for secret in (SIGNATURE, "opaque", base64.b64encode(REDACTED).decode()):
        assert secret not in told


@pytest.mark.parametrize(
    ("pieces", "query"),
    [
        (('{"que', 'ry": "x', ' y"}'), "x y"),
        (('{"query": "a\\', '"b\\u00e', '9"}'), 'a"bé'),
        (('{"query": "\\ud83d', '\\ude00 up"}'), "😀 up"),
        (('{"query": "東', '京"}'), "東京"),
        (('{"query": "whole"}',), "whole"),
        (("", '{"query": ', '"late"', "}"), "late"),
    ],
    ids=["name", "escapes", "surrogates", "wide", "buffered", "first empty"],
)
async def test_the_call_itself_is_read_when_it_is_complete(pieces: tuple[str, ...], query: str) -> None:
    """Buffered or fine-grained, cut anywhere: what is started is the query that is executed, and only once."""
    searches = Searches()
    turn = Turn(text=words("So. "), calls=(ScriptedCall("search", pieces), ScriptedCall.of("search", {"query": "b"})))
    with LocalBedrock([turn, DONE], 0.001, sleep=Pace(turn.tokens, searches.wait)) as server:
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"])
        messages = await streamed(wrapped, "astream")
    assert [call["args"] for call in messages[1].tool_calls] == [{"query": query}, {"query": "b"}]
    assert sorted(searches.queries) == sorted([query, "b"])
    assert prefetcher_of(wrapped).report().served_sealed >= 1


@each_style
@pytest.mark.parametrize(
    "settings",
    [{"model": REFUSES_TOOLS}, {"disable_streaming": "tool_calling"}, {"disable_streaming": True}],
    ids=["by its model", "by its setting", "altogether"],
)
async def test_a_model_that_does_not_stream_tools_is_left_alone(
    style: str, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Some models refuse tools while they stream: even told to force it, the run succeeds without prefetch."""
    searches = Searches()
    whole = replace(THINKS, redacted=b"")
    with LocalBedrock([whole, DONE], refuse_streaming=True) as server:
        wrapped = with_prefetch(
            create_agent(chat(server, **settings), [searches.tool]), ["search"], force_streaming=True
        )
        await streamed(wrapped, style)
        messages = await streamed(wrapped, style)
    report = prefetcher_of(wrapped).report()
    assert messages[-1].text == "1,410 metres. "
    assert (report.served, searches.queries) == (0, ["Humber Bridge"] * 2)
    assert {request.streamed for request in server.requests} == {False}
    said = [record for record in caplog.records if "idle" in record.getMessage()]
    assert len(said) == 1


FAULTS = {
    "throttled before": replace(THINKS, fault=Throttled()),
    "throttled in the stream": replace(THINKS, fault=ErrorEvent(THINKS.tokens - 1)),
    "cut": replace(THINKS, fault=Cut(THINKS.tokens - 1)),
}


@each_style
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_errors_reach_the_caller_as_they_are(style: str, fault: Turn) -> None:
    """Wherever a stream breaks, the error is the bare run's, and what was started for it is given up."""
    searches = Searches()
    with LocalBedrock([fault]) as server:
        bare = create_agent(chat(server), [searches.tool])
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"])
        with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever it is, it is the same
            await streamed(bare, style)
        with pytest.raises(Exception) as caught:  # noqa: PT011
            await streamed(wrapped, style)
    # Each client has exception classes of its own.
    assert type(caught.value).__qualname__ == type(expected.value).__qualname__
    assert str(caught.value)[:40] == str(expected.value)[:40]
    report = prefetcher_of(wrapped).report()
    assert (report.unsettled, report.troubles, report.served) == (0, 0, 0)


@pytest.mark.parametrize("fault", ["error event", "cut", "read time-out"])
async def test_a_retry_that_repeats_the_text_is_one_dispatch(fault: str) -> None:
    """A stream that dies after the thought, by a pause longer than the client's patience too, is asked for again:

    the buffers of the failed call are dropped, the same words start no second search, and the call is answered.
    """
    searches, over = Searches(), threading.Event()
    broken = THINKS
    at = len(THINKS.reasoning) + 2
    if fault != "read time-out":
        broken = replace(THINKS, fault=ErrorEvent(at) if fault == "error event" else Cut(at))
    first = [broken]

    def turn(request: Request) -> Turn:
        if request.turn:
            return DONE
        return first.pop() if first else THINKS

    def pause() -> None:
        searches.wait()
        if fault == "read time-out":
            over.wait(20)

    pace = Pace(at, pause)
    with LocalBedrock(turn, 0.001, sleep=pace) as server:
        retry: Any = ModelRetryMiddleware(max_retries=20, initial_delay=0, jitter=False, on_failure="error")
        llm = chat(server, read_timeout=0.5 if fault == "read time-out" else 20)
        wrapped = with_prefetch(create_agent(llm, [searches.tool], middleware=[retry]), ["search"])
        messages = await streamed(wrapped, "astream")
        over.set()
    report = prefetcher_of(wrapped).report()
    assert messages[-1].text == "1,410 metres. "
    assert (searches.queries, report.speculations, report.served) == (["Humber Bridge"], 1, 1)


async def test_streaming_is_not_forced_on_bedrock_unasked(caplog: pytest.LogCaptureFixture) -> None:
    """A streamed Converse message has another shape than a whole one: ``auto`` leaves ``invoke`` plain, and says so."""
    searches = Searches()
    with LocalBedrock([THINKS, DONE]) as server:
        wrapped = with_prefetch(create_agent(chat(server), [searches.tool]), ["search"])
        await wrapped.ainvoke(ASKED)
    assert {request.streamed for request in server.requests} == {False}
    assert "list of blocks" in caplog.text
