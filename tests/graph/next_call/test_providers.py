"""Real client classes against scripted servers: what is sent and what comes of it is what the bare agent has."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent

from langgraph_prefetch import Prefetcher, PrefetchMiddleware
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.testing.wire import Cut, ScriptedCall, Turn, words
from tests.graph.cases.rigs import GO, plain, until
from tests.graph.next_call.rigs import another_each_time, options_for, slow
from tests.wire.clients import ANTHROPIC, ANTHROPIC_THINKING, BEDROCK, OPENAI, Client

pytestmark = pytest.mark.usefixtures("_fake_credentials")

ALPHA = ScriptedCall.of("search", {"query": "alpha"})
SCRIPT = [
    Turn(text=words("Let me look. "), calls=(ALPHA,)),
    Turn(text=words("Once more. "), calls=(ALPHA,)),
    Turn(text=words("It is done. ")),
]
CLIENTS = [OPENAI, ANTHROPIC, ANTHROPIC_THINKING, BEDROCK]

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


def build(client: Client, url: str, search: CountingSearch, *, verified: bool) -> tuple[Any, Prefetcher | None]:
    if not verified:
        return create_agent(client.build(url), [search.tool]), None
    ours = PrefetchMiddleware(["search"], **options_for())
    return create_agent(client.build(url), [search.tool], middleware=[ours]), slow(ours.prefetch)


def run(graph: Any, style: str) -> list[Any]:
    """What the graph gives, and its messages last; its error, if it fails, in their place."""

    async def awaited() -> list[Any]:
        return [part async for part in graph.astream(GO, stream_mode=["messages", "values"])]

    try:
        match style:
            case "invoke":
                return [plain(graph.invoke(GO)["messages"])]
            case "stream":
                parts = list(graph.stream(GO, stream_mode=["messages", "values"]))
            case _:
                parts = asyncio.run(awaited())
    except Exception as error:  # noqa: BLE001 - each client has its own; they are compared
        return [type(error), str(error)]
    tokens = [part[0].model_dump(exclude={"id"}) for mode, part in parts if mode == "messages"]
    return [tokens, plain(parts[-1][1]["messages"])]


@pytest.mark.parametrize("style", ["invoke", "stream", "astream"])
@each_client
def test_what_the_provider_is_sent_and_says(client: Client, style: str) -> None:
    """Requests, tokens, messages and their usage equal the bare agent's, and the last answer was adopted."""
    with client.wire(SCRIPT) as server:
        expected = run(build(client, server.url, CountingSearch(), verified=False)[0], style)
        graph, prefetch = build(client, server.url, CountingSearch(), verified=True)
        shown = run(graph, style)
    assert prefetch is not None
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert (report.next_calls_adopted, report.troubles) == (1, 0)
    assert without_ids(shown) == without_ids(expected)
    sent = [request.body for request in server.requests]
    assert sent[len(sent) // 2 :] == sent[: len(sent) // 2]


@each_client
def test_results_that_differ(client: Client) -> None:
    """One request more reaches the provider, and the agent's own are those of the bare one."""
    with client.wire(SCRIPT, 0.002) as server:
        expected = run(build(client, server.url, another_each_time(), verified=False)[0], "stream")
        bare = [request.body for request in server.requests]
        graph, prefetch = build(client, server.url, another_each_time(), verified=True)
        shown = run(graph, "stream")
        assert prefetch is not None
        until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert (report.next_calls, report.next_calls_adopted, report.troubles) == (1, 0, 0)
    assert report.next_calls_cancelled + report.next_calls_failed == 1
    assert without_ids(shown) == without_ids(expected)
    sent = [request.body for request in server.requests][len(bare) :]
    assert all(body in sent for body in bare)
    assert len(sent) in (len(bare), len(bare) + 1)  # it may have been given up before it was sent


@each_client
def test_a_stream_that_breaks(client: Client) -> None:
    """Cut off in the middle, in private or not: the very error of the bare agent."""
    script = [*SCRIPT[:2], Turn(text=words("It is done, they say. "), fault=Cut(3))]
    with client.wire(script) as server:
        expected = run(build(client, server.url, CountingSearch(), verified=False)[0], "stream")
        graph, prefetch = build(client, server.url, CountingSearch(), verified=True)
        assert run(graph, "stream") == expected
    assert prefetch is not None
    assert prefetch.report().troubles == 0


def without_ids(value: Any) -> Any:
    """The same without what a server or a client makes up for each response."""
    if isinstance(value, dict):
        made_up = ("id", "metrics", "ResponseMetadata", "langgraph_prefetch")
        return {name: without_ids(each) for name, each in value.items() if name not in made_up}
    return [without_ids(each) for each in value] if isinstance(value, list | tuple) else value
