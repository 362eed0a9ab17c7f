"""What a private call must not do, and what leaves it alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.config import get_stream_writer

from langgraph_prefetch import (
    Prefetcher,
    prefetching_tool_node,
)
from langgraph_prefetch.testing.models import ScriptedChatModel
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, tool_texts
from tests.graph.next_call.rigs import options_for, react, slow
from tests.graph.next_call.watching import TWICE, agent, both, settled


@both
def test_nobody_hears_it(is_async: bool) -> None:
    """No callback, no custom stream and no tracer: what it writes is said when it is adopted, in its place."""

    class Writing(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            get_stream_writer()(f"asked {len(messages)}")
            yield from super()._stream(messages, *args, **kwargs)

        async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            get_stream_writer()(f"asked {len(messages)}")
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk

    def written(answer: Any) -> list[str]:
        graph, prefetch = agent(Writing(script=TWICE), CountingSearch(answer=answer))

        async def go() -> list[str]:
            return [each async for each in graph.astream(GO, stream_mode="custom")]

        found = asyncio.run(go()) if is_async else list(graph.stream(GO, stream_mode="custom"))
        assert settled(prefetch).next_calls == 1
        return found

    numbers = iter("12345")
    assert written(lambda query, k: "same") == ["asked 1", "asked 3", "asked 5"]
    assert written(lambda query, k: next(numbers)) == ["asked 1", "asked 3", "asked 5"]


def test_a_model_inside_a_tool_is_left_alone() -> None:
    """A tool that asks the same model neither adopts nor ends the agent's private call."""
    prefetch = slow(Prefetcher(["search"], **options_for()))
    llm = prefetch.model(ScriptedChatModel(script=(calls("x"), calls("x"), DONE)))

    call = {"name": "search", "args": {"query": "x"}, "id": "call_2_0"}
    asked = [AIMessage("", tool_calls=[call]), ToolMessage("hm", tool_call_id="call_2_0"), AIMessage("hm")]

    @tool
    def search(query: str) -> str:
        """Search."""
        return str(llm.invoke([HumanMessage("hm"), *asked]).content)

    graph = react(llm, prefetching_tool_node([search], prefetch), version="v2")
    result = graph.with_config(callbacks=[prefetch.handler()]).invoke(GO)
    assert tool_texts(result) == [DONE.text, DONE.text]
    assert settled(prefetch).next_calls_adopted == 1


def test_requests_that_a_middleware_changes() -> None:
    """A system prompt that differs each time is a different request; cache marks in the settings are kept."""
    asked: list[Any] = []
    numbers = iter(range(10))

    @wrap_model_call
    def stamped(request: Any, handler: Any) -> Any:
        return handler(request.override(system_message=SystemMessage(f"call {next(numbers)}")))

    @wrap_model_call
    def cached(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={"cache_control": {"type": "ephemeral"}}))

    class Settings(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            asked.append(kwargs.get("cache_control"))
            yield from super()._stream(messages, *args, **kwargs)

    graph, prefetch = agent(Settings(script=TWICE), CountingSearch(), stamped)
    graph.invoke(GO)
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_cancelled) == (1, 1)
    asked.clear()
    graph, prefetch = agent(Settings(script=TWICE), CountingSearch(), cached)
    graph.invoke(GO)
    assert settled(prefetch).next_calls_adopted == 1
    assert asked == [{"type": "ephemeral"}] * 3
