"""Verified serving where something fails, before, during or after adoption."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents.middleware import ModelFallbackMiddleware, ModelRetryMiddleware
from langchain_core.messages import AIMessage, BaseMessage

from langgraph_prefetch import (
    Prefetcher,
    speculating,
)
from langgraph_prefetch.events import NextCallEnded
from langgraph_prefetch.graph.next_call.private import PrivateCall
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, held, of_kind, watch
from tests.graph.matrix.compare import assert_same
from tests.graph.matrix.kinds import World
from tests.graph.matrix.styles import STYLES
from tests.graph.next_call.rigs import KINDS
from tests.graph.next_call.watching import TWICE, Watched, agent, auntil, both, invoked, settled


@both
def test_a_private_failure_is_no_failure(is_async: bool) -> None:
    """A rate limit met in private: the call is made as usual, and the provider is left alone for a while."""

    def begins(messages: list[BaseMessage]) -> None:
        if speculating.get():
            raise RuntimeError("429")

    llm = Watched(script=[calls("x"), calls("x"), calls("x"), DONE], begins=begins)
    graph, prefetch = agent(llm, CountingSearch())
    events = watch(prefetch)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_failed, report.next_calls_adopted) == (1, 1, 0)
    assert report.next_calls_ignored == (("next call: failed a moment ago", 1),)
    assert [each.reason for each in of_kind(events, NextCallEnded)] == ["RuntimeError"]


@both
def test_a_failure_before_the_first_word(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adopted while it says nothing yet, and then refused by the provider: the call is made as usual."""
    adopted, adopt = threading.Event(), PrivateCall.adopt

    def adopts(call: PrivateCall) -> bool:
        adopted.set()
        return adopt(call)

    monkeypatch.setattr(PrivateCall, "adopt", adopts)

    class Refused(ScriptedChatModel):
        def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
            if speculating.get():
                adopted.wait(30)
                raise RuntimeError("429")
            yield from super()._stream(messages, *args, **kwargs)

        async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            if speculating.get():
                await auntil(adopted.is_set)
                raise RuntimeError("429")
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk

    graph, prefetch = agent(Refused(script=TWICE), CountingSearch())
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    report = settled(prefetch)
    assert (report.next_calls, report.next_calls_failed, report.next_calls_adopted) == (1, 1, 0)
    assert adopted.is_set()


FAILS = (calls("x"), calls("x"), Turn(text="It stands in", error=ValueError("cut off")))


@pytest.mark.parametrize("kind", ["agent", "drawn"])
@pytest.mark.parametrize("style", ["invoke", "stream-everything", "ainvoke", "astream_events-v2", "stream_events-v3"])
def test_a_model_that_fails_in_the_middle(kind: str, style: str) -> None:
    """Before or after adoption: tokens, events and the error are those of the bare run."""
    seen: list[Prefetcher] = []
    assert_same(
        KINDS[kind].bare,
        lambda made: KINDS[kind].wrapped(made, seen),
        STYLES[style],
        lambda: World(FAILS),
    )
    settled(seen[0])


class Broken(ScriptedChatModel):
    """Says the beginning of its last turn, waits for the gate, and fails."""

    gate: Any

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        stream = super()._stream(messages, *args, **kwargs)
        if sum(isinstance(message, AIMessage) for message in messages) < 2:
            yield from stream
            return
        yield next(stream)
        self.gate.wait(30)
        raise ValueError("cut off")


def test_a_failure_after_adoption_surfaces() -> None:
    """What the graph has begun to show cannot be taken back: the error comes as it would from a bare run."""
    with held() as gate:
        llm = Broken(script=(calls("x"), calls("x"), Turn(text="It is done")), gate=gate)
        graph, prefetch = agent(llm, CountingSearch())
        shown: list[str] = []

        def read() -> None:
            for chunk, _ in graph.stream(GO, stream_mode="messages"):
                shown.append(chunk.text)
                if chunk.text.startswith("It"):
                    gate.set()

        with pytest.raises(ValueError, match="cut off"):
            read()
        assert shown[-1] == "It "
        assert settled(prefetch).next_calls_adopted == 1


@both
def test_retries_and_fallbacks(is_async: bool) -> None:
    """A user's retry or fallback around the model call sees each call once, and calls again as it would."""
    tried: list[bool] = []

    def begins(messages: list[BaseMessage]) -> None:
        if not speculating.get():
            tried.append(True)
            if len(tried) == 1:
                raise RuntimeError("busy")

    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    graph, prefetch = agent(Watched(script=TWICE, begins=begins), CountingSearch(), retry)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    assert (len(tried), settled(prefetch).next_calls_adopted) == (3, 1)  # refused, asked again, and the second search

    def never(messages: list[BaseMessage]) -> None:
        raise RuntimeError("down")

    fallback = ModelFallbackMiddleware(ScriptedChatModel(script=TWICE))
    graph, prefetch = agent(Watched(script=TWICE, begins=never), CountingSearch(), fallback)
    assert invoked(graph, is_async)["messages"][-1].content == DONE.text
    settled(prefetch)
