"""The ways to call a graph, each collecting all it gives."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.runnables import RunnableConfig

from tests.graph.matrix.kinds import Graph

Call = Callable[[Graph, Any, RunnableConfig], "list[Any] | Coroutine[Any, Any, list[Any]]"]


BREAK_AFTER = 15
"""Parts: the reasoning has been read and the call is being written."""


@dataclass(frozen=True, slots=True)
class Style:
    """One way to call a graph.

    Attributes:
        name: for people.
        call: calls it with input and config, and returns the parts it gave.
        streams_anyway: the host makes the model stream in this style, with or without prefetch.
        breaks_off: the caller leaves in the middle.
    """

    name: str
    call: Call
    streams_anyway: bool = False
    breaks_off: bool = False

    def parts(self, graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        """What the graph gives in this style; its error, if it raises one, as the last part."""
        parts: list[Any] = []
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The v3 streaming protocol")
                warnings.filterwarnings("ignore", message="astream_events version='v1'")
                result = self.call(graph, state, config)
                parts.extend(asyncio.run(result) if isinstance(result, Coroutine) else result)
        except Exception as error:  # noqa: BLE001 - errors are compared too
            parts.append(error)
        return parts


def _invoke(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    return [graph.invoke(state, config)]


async def _ainvoke(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    return [await graph.ainvoke(state, config)]


def _invoke_v2(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    output = graph.invoke(state, config, version="v2")
    return [output.value, output.interrupts]


async def _ainvoke_v2(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    output = await graph.ainvoke(state, config, version="v2")
    return [output.value, output.interrupts]


def _batch(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    return graph.batch([state, state], config={**config, "max_concurrency": 1})


async def _abatch(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    return await graph.abatch([state, state], config={**config, "max_concurrency": 1})


def _stream(**options: Any) -> Call:
    return lambda graph, state, config: list(graph.stream(state, config, **options))


def _astream(**options: Any) -> Call:
    async def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        return [part async for part in graph.astream(state, config, **options)]

    return call


def _broken_off(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    stream = graph.stream(state, config, stream_mode=["messages", "updates"])
    return list(itertools.islice(stream, BREAK_AFTER))  # dropped here, and so closed


async def _abroken_off(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    parts = []
    stream = graph.astream(state, config, stream_mode=["messages", "updates"])
    async for part in stream:
        parts.append(part)
        if len(parts) == BREAK_AFTER:
            break
    await stream.aclose()  # type: ignore[attr-defined]
    return parts


def _astream_events(version: Any) -> Call:
    async def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        return [event async for event in graph.astream_events(state, config, version=version)]

    return call


def _stream_events_v3(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    with graph.stream_events(state, config, version="v3") as run:
        return [*run, run.output]


async def _astream_events_v3(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    async with await graph.astream_events(state, config, version="v3") as run:
        return [*[event async for event in run], await run.output()]


EVERYTHING: Any = ["values", "updates", "custom", "tools", "tasks", "checkpoints", "messages"]
TELLING = ("messages", "tools")
"""Stream modes for which the host listens to models itself, which makes them stream."""

SINGLE: Any = ["values", "updates", "messages", "custom", "tools", "debug", "checkpoints", "tasks"]

SYNC = [
    Style("invoke", _invoke),
    Style("invoke-v2", _invoke_v2),
    Style("batch", _batch),
    *(Style(f"stream-{mode}", _stream(stream_mode=mode), mode in TELLING) for mode in SINGLE),
    Style("stream-everything", _stream(stream_mode=EVERYTHING, subgraphs=True), streams_anyway=True),
    Style("stream-v2", _stream(stream_mode=EVERYTHING, subgraphs=True, version="v2"), streams_anyway=True),
    Style("stream-plain", _stream(stream_mode=["updates", "values", "tasks"], subgraphs=True)),
    Style("stream_events-v3", _stream_events_v3, streams_anyway=True),
    Style("broken-off", _broken_off, streams_anyway=True, breaks_off=True),
]
ASYNC = [
    Style("ainvoke", _ainvoke),
    Style("ainvoke-v2", _ainvoke_v2),
    Style("abatch", _abatch),
    *(Style(f"astream-{mode}", _astream(stream_mode=mode), mode in TELLING) for mode in SINGLE),
    Style("astream-everything", _astream(stream_mode=EVERYTHING, subgraphs=True), streams_anyway=True),
    Style("astream-v2", _astream(stream_mode=EVERYTHING, subgraphs=True, version="v2"), streams_anyway=True),
    Style("astream-plain", _astream(stream_mode=["updates", "values", "tasks"], subgraphs=True)),
    Style("astream_events-v1", _astream_events("v1"), streams_anyway=True),
    Style("astream_events-v2", _astream_events("v2"), streams_anyway=True),
    Style("astream_events-v3", _astream_events_v3, streams_anyway=True),
    Style("abroken-off", _abroken_off, streams_anyway=True, breaks_off=True),
]
STYLES = {style.name: style for style in (*SYNC, *ASYNC)}

CORE = ("invoke", "stream-everything", "stream_events-v3", "ainvoke", "astream-plain", "astream_events-v2")
"""Names of styles that between them show all a graph can show; for kinds that need not go through every one."""


class Recorder(BaseCallbackHandler):
    """A user's handler: writes down each event it hears, with what it is given."""

    run_inline = True

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)
        return lambda *args, **kwargs: self.events.append((name, (args, kwargs)))


class AsyncRecorder(AsyncCallbackHandler):
    """:class:`Recorder` for handlers that are coroutines."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        async def hear(*args: Any, **kwargs: Any) -> None:
            self.events.append((name, (args, kwargs)))

        return hear
