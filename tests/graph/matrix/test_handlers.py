"""The user's own callback handlers hear the same of a wrapped graph, however they are given and whatever they are."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.runnables import RunnableConfig

from tests.graph.matrix.compare import FORCED_ONLY, compare
from tests.graph.matrix.kinds import Graph, World, agent, drawn
from tests.graph.matrix.styles import STYLES, AsyncRecorder, Recorder, Style

Given = Callable[[Graph, RunnableConfig, Any], tuple[Graph, RunnableConfig]]


class Tapping(Recorder):
    """A user's handler that makes models stream and reads along."""

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        for each in output:
            self.events.append(("tapped", each))
            yield each

    async def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in output:
            self.events.append(("tapped", each))
            yield each


def in_list(graph: Graph, config: RunnableConfig, handler: Any) -> tuple[Graph, RunnableConfig]:
    """In the call's callbacks."""
    return graph, {**config, "callbacks": [handler]}


def in_manager(graph: Graph, config: RunnableConfig, handler: Any) -> tuple[Graph, RunnableConfig]:
    """In a manager, as a surrounding chain hands them down."""
    return graph, {**config, "callbacks": CallbackManager([handler], inheritable_handlers=[handler])}


def in_async_manager(graph: Graph, config: RunnableConfig, handler: Any) -> tuple[Graph, RunnableConfig]:
    """In an async manager, for the graph's own events alone."""
    return graph, {**config, "callbacks": AsyncCallbackManager([handler])}


def with_config(graph: Graph, config: RunnableConfig, handler: Any) -> tuple[Graph, RunnableConfig]:
    """Bound to the graph."""
    return graph.with_config(callbacks=[handler]), {**config, "callbacks": None}


def with_config_and_in_list(graph: Graph, config: RunnableConfig, handler: Any) -> tuple[Graph, RunnableConfig]:
    """One bound to the graph, the other in the call."""
    return graph.with_config(callbacks=[handler]), config


def listening(style: Style, made: Callable[[], Any], given: Given) -> Style:
    """``style`` with a handler of the user's, whose events are parts too."""

    def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any] | Coroutine[Any, Any, list[Any]]:
        handler = made()
        graph, config = given(graph, config, handler)
        result = style.call(graph, state, config)
        return [*result, *heard(handler)] if isinstance(result, list) else finish(result, handler)

    async def finish(result: Coroutine[Any, Any, list[Any]], handler: Any) -> list[Any]:
        return [*await result, *heard(handler)]

    def heard(handler: Any) -> list[Any]:
        assert handler.events
        return [event for event in handler.events if style.streams_anyway or event[0] not in FORCED_ONLY]

    return Style(style.name, call, style.streams_anyway)


CASES = [
    *itertools.product(["stream-messages", "invoke"], [Recorder], [in_list, in_manager, with_config]),
    *itertools.product(["astream-messages", "ainvoke"], [Recorder, AsyncRecorder], [in_list, with_config]),
    *itertools.product(["astream_events-v2"], [Recorder, AsyncRecorder], [with_config, with_config_and_in_list]),
    ("ainvoke", AsyncRecorder, in_async_manager),
    ("stream-values", Recorder, with_config_and_in_list),
    ("stream_events-v3", Recorder, with_config),
]


@pytest.mark.parametrize(("style", "made", "given"), CASES)
def test_handlers_hear_the_same(style: str, made: Callable[[], Any], given: Given) -> None:
    """Every event once, in the same order, with the same arguments, in every way to give a handler."""
    assert compare(agent, listening(STYLES[style], made, given)).served == 2


@pytest.mark.parametrize(
    ("style", "given"),
    [
        *itertools.product(["invoke", "stream-messages", "ainvoke", "astream-values"], [in_list, with_config]),
        ("astream_events-v2", with_config),
        ("stream_events-v3", in_list),
    ],
)
def test_a_streaming_handler_of_the_users_loses_nothing(style: str, given: Given) -> None:
    """It makes the model stream without our help, and reads every chunk that it reads bare."""
    streaming = Style(style, STYLES[style].call, streams_anyway=True)

    report = compare(drawn, listening(streaming, Tapping, given))

    assert report.served == 2


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
def test_a_handler_of_the_tools_own_hears_served_calls(style: str) -> None:
    """Callbacks, tags and metadata that sit on the tool itself go with each call."""
    heard: list[Recorder] = []

    def world() -> World:
        heard.append(Recorder())
        return World(tool_options={"callbacks": [heard[-1]], "tags": ["catalogue"], "metadata": {"index": "main"}})

    assert compare(agent, STYLES[style], world).served == 2

    bare, wrapped = ([name for name, _ in recorder.events] for recorder in heard)
    assert [name for name in wrapped if name.startswith("on_tool")] == bare
    assert bare.count("on_tool_start") == 2
