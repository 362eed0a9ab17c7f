"""Retrievers, tools and other runnables."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.errors import GraphInterrupt

from langgraph_prefetch.errors import BreakerOpenError, ConfigurationError, SpeculationDeclinedError
from langgraph_prefetch.serving.gateway import BreakerRule, Call, LimitRule, SpillRule, degraded_by, gateway
from tests.serving.gateway.parts import Clock, Component, Docs, Log, speculation


async def test_a_retriever_stays_a_retriever() -> None:
    """Documents of a stand-in are copies with the mark; its own documents stay as they are."""
    stand_in = [Document("kept")]
    gated = gateway(Docs(failing=True), fallback=lambda query: stand_in)
    assert isinstance(gated, BaseRetriever)
    for found in (gated.invoke("grid"), await gated.ainvoke("grid")):
        assert [each.page_content for each in found] == ["kept"]
        assert degraded_by(found) == "fallback"
    assert stand_in[0].metadata == {}
    healthy = gateway(Docs(), fallback=Docs(text="other"))
    assert [each.page_content for each in healthy.invoke("grid")] == ["found: grid"]
    assert degraded_by(healthy.invoke("grid")) is None


async def test_a_tool_stays_a_tool() -> None:
    """Same name, schema and messages; called with arguments or with a tool call."""

    @tool(response_format="content_and_artifact")
    def search(query: str, k: int = 3) -> tuple[str, list[int]]:
        """Search the archive."""
        return f"{query} {k}", list(range(k))

    gated = gateway(search)
    assert isinstance(gated, BaseTool)
    assert (gated.name, gated.description, gated.args) == (search.name, search.description, search.args)
    call = {"type": "tool_call", "name": "search", "id": "1", "args": {"query": "grid"}}
    assert gated.invoke(call) == search.invoke(call)
    assert await gated.ainvoke({"query": "grid"}) == search.invoke({"query": "grid"})
    assert gated.run({"query": "grid"}) == await gated.arun({"query": "grid"}) == "grid 3"


def test_any_runnable_and_its_stream() -> None:
    """A chain behind a gateway streams as it does without."""

    def parts(text: str) -> Any:
        yield from text

    gated = gateway(RunnableLambda(parts), name="letters")
    assert list(gated.stream("abc")) == ["a", "b", "c"]
    assert (gated | RunnableLambda(str.upper)).invoke("abc") == "ABC"


def test_a_breaker_opens_tries_and_closes() -> None:
    """Within its open time the component is not asked; the first call after that tries, and its answer counts."""
    clock, log = Clock(), Log()
    component = Component("large", ConnectionError("down"))
    gated = gateway(
        component,
        fallback=lambda given: "small",
        breaker=BreakerRule(failures=2, open_seconds=5.0),
        events=log,
        clock=clock,
    )
    assert [gated.invoke("?") for _ in range(4)] == ["small"] * 4
    assert component.calls == 2
    component.error = None
    clock.now += 4.9
    assert gated.invoke("?") == "small"
    clock.now += 0.1
    assert gated.invoke("?") == "large"
    assert log.moves == ["opened", "half-opened", "closed"]


def test_without_a_fallback_the_error_is_the_components_own() -> None:
    """And an open breaker's own while it is open."""
    gated = gateway(Component("large", ConnectionError("down")), breaker=BreakerRule(failures=1, open_seconds=60))
    with pytest.raises(ConnectionError, match="down"):
        gated.invoke("?")
    with pytest.raises(BreakerOpenError):
        gated.invoke("?")


async def test_signals_of_the_host_pass_untouched() -> None:
    """An interrupt is no outage: it reaches the graph as it is, with retry and fallback in its way."""
    pause = GraphInterrupt()
    log = Log()
    gated = gateway(
        Component("approval", pause),
        fallback=Component("small"),
        attempts=3,
        breaker=BreakerRule(failures=1),
        events=log,
    )
    for _ in range(2):
        with pytest.raises(GraphInterrupt) as raised:
            gated.invoke("?")
        assert raised.value is pause
        with pytest.raises(GraphInterrupt):
            await gated.ainvoke("?")
    assert log.moves == []


def test_a_tools_own_word_is_no_outage() -> None:
    """It is stood in for, and the breaker stays closed."""
    log = Log()
    gated = gateway(
        Component("search", ToolException("no such page")),
        fallback=lambda given: "nothing",
        breaker=BreakerRule(failures=1),
        attempts=3,
        events=log,
    )
    assert [gated.invoke("?"), gated.invoke("?")] == ["nothing"] * 2
    assert log.moves == []


async def test_a_caller_that_goes_away_gives_its_place_back() -> None:
    """And says nothing of the component."""
    began = asyncio.Event()

    async def forever(given: str) -> str:
        began.set()
        await asyncio.Event().wait()
        return given

    log = Log()
    gated = gateway(RunnableLambda(forever), name="slow", limit=1, breaker=BreakerRule(failures=1), events=log)
    task = asyncio.ensure_future(gated.ainvoke("?"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = gated.gateway.components()[0]  # type: ignore[attr-defined]
    assert (state.in_flight, state.breaker) == (0, "closed")
    assert log.outcomes == [("slow", "cancelled")]


def test_a_reader_that_stops_a_stream_gives_its_place_back() -> None:
    """Closing the stream closes the component's."""
    closed = []

    def parts(text: str) -> Any:
        try:
            yield from text
        finally:
            closed.append(text)

    gated = gateway(RunnableLambda(parts), name="letters", limit=1)
    stream = gated.stream("abc")
    assert next(stream) == "a"
    stream.close()  # type: ignore[attr-defined]
    assert closed == ["abc"]
    assert list(gated.stream("de")) == ["d", "e"]


def test_early_calls_are_tried_once_and_never_stood_in_for() -> None:
    """A stand-in's answer is none to keep for a call; where there is no room the speculation is declined."""
    component = Component("large", ConnectionError("down"))
    stand_in = Component("small")
    gated = gateway(component, fallback=stand_in, attempts=3, breaker=BreakerRule(failures=2, open_seconds=60))
    with speculation():
        for _ in range(2):
            with pytest.raises(ConnectionError):
                gated.invoke("?")
        with pytest.raises(SpeculationDeclinedError, match="no room for early calls"):
            gated.invoke("?")
    assert (component.calls, stand_in.calls) == (2, 0)


def test_hooks_see_and_replace() -> None:
    """In their order; what they raise reaches the caller, and no stand-in hides it."""
    seen: list[Call] = []

    def checked(call: Call, given: str) -> str | None:
        if given == "secret":
            raise PermissionError(given)
        return f"<{given}>"

    def kept(call: Call, answer: str) -> None:
        seen.append(call)

    echo: Runnable[str, str] = RunnableLambda(lambda given: given * 2)
    gated = gateway(
        echo,
        name="echo",
        fallback=lambda given: "small",
        before=[checked, lambda call, given: None],
        after=[kept, lambda call, answer: f"{answer}!"],
    )
    assert gated.invoke("a") == "<a><a>!"
    assert (seen[0].component, seen[0].degraded) == ("echo", False)
    with pytest.raises(PermissionError):
        gated.invoke("secret")


def test_callbacks_see_the_component() -> None:
    """Tracers and token handlers hear what they would without a gateway, under the runs that LangChain adds."""
    heard = []

    class Handler(BaseCallbackHandler):
        def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
            heard.append(query)

    gateway(Docs(), fallback=Docs()).invoke("grid", {"callbacks": [Handler()]})
    assert heard == ["grid"]


def test_wrong_use_is_told_at_once() -> None:
    """With what to do instead."""

    @tool
    def search(query: str) -> str:
        """Search."""
        return query

    with pytest.raises(ConfigurationError, match="not str"):
        gateway("http://127.0.0.1")  # type: ignore[type-var]
    with pytest.raises(ConfigurationError, match=r"'spill_to' is a Component, and the component a BaseRetriever"):
        gateway(Docs(), spill_to=Component("other"))
    with pytest.raises(ConfigurationError, match="spill_to, which is missing"):
        gateway(Docs(), spill=SpillRule())
    with pytest.raises(ConfigurationError, match="attempts starts at 1"):
        gateway(Docs(), attempts=0)
    with pytest.raises(ConfigurationError, match="1 <= least"):
        gateway(Docs(), limit=0)
    with pytest.raises(ConfigurationError, match="'fallback' is a Component, and the component a BaseTool"):
        gateway(search, fallback=Component("other"))
    with pytest.raises(ConfigurationError, match="fallback takes a component or a function"):
        gateway(Docs(), fallback=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="has no variants"):
        gateway(Docs(), limit=LimitRule()).gateway.swap({})  # type: ignore[attr-defined]
