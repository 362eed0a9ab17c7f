"""Wrap a compiled graph so that it is listened to and answered, and nothing else about it changes."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any, TypeVar, Unpack, cast

from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from langgraph_prefetch.errors import (
    AlreadyWrappedError,
    ConfigurationError,
    NotAGraphError,
    NoToolNodeError,
    NotWrappedError,
    UnknownToolError,
)
from langgraph_prefetch.graph.arrival import handlers_of, run_in
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.front import Named, Prefetcher
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.serve import AnswerSeam
from langgraph_prefetch.graph.survey import approval_before, prefetches, tool_nodes
from langgraph_prefetch.graph.tools import LangChainTool
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.option_types import OptionTypes
from langgraph_prefetch.prefetcher import Run

Graph = TypeVar("Graph", bound=Pregel[Any, Any, Any, Any])
AnyGraph = Pregel[Any, Any, Any, Any]


def check_wrappable(graph: object) -> None:
    """Raise unless it is a compiled graph that is not wrapped yet.

    Raises:
        NotAGraphError, AlreadyWrappedError: the message says what to do.
    """
    if not isinstance(graph, Pregel):
        raise NotAGraphError(graph)
    if isinstance(graph, WrappedGraph):
        raise AlreadyWrappedError


def with_prefetch(
    graph: Graph, tools: Sequence[Named], *, cues: CueSet | None = None, **options: Unpack[OptionTypes]
) -> Graph:
    """The same graph, whose named tools are searched early.

    Args:
        graph: a compiled LangGraph graph that runs a ``ToolNode``, itself or in a subgraph. It is left as it is.
        tools: names (or :class:`~langgraph_prefetch.config.ToolPolicy` objects) of the tools that may run early.
            Naming a tool asserts that it only reads and that nobody has to approve its calls.
        cues: the language of intent; the cues that come with the package if None.
        options: see :class:`~langgraph_prefetch.config.PrefetchOptions`.

    Returns:
        An instance of a subclass of the graph's own class; its ``prefetch`` is the
        :class:`~langgraph_prefetch.graph.front.Prefetcher` that reports, pauses and closes.

    Raises:
        NotAGraphError, NoToolNodeError, UnknownToolError, AlreadyWrappedError, UnknownOptionError,
        ConfigurationError: the message says what to do.
    """
    check_wrappable(graph)
    prefetch = Prefetcher(tools, cues=cues, **options)
    if prefetch.next_calls is not None:
        raise ConfigurationError(OWNS_NO_MODEL)
    prefetch.require_near()
    _admit_tools(graph, prefetch)
    return cast("Graph", listening(_answered(graph, AnswerSeam(prefetch)), prefetch))


OWNS_NO_MODEL = (
    "serve='verified' has to own the model call, which a compiled graph keeps to itself: use "
    "create_agent(…, middleware=[…, PrefetchMiddleware(tools, serve='verified')]), or in a graph of your own "
    "Prefetcher(tools, serve='verified') with its model(llm) and prefetching_tool_node(tools, prefetcher)"
)
TWO_TOOLS = (
    "two tools of the graph have this name; wrap the subgraph of each by itself, or, if they are equal, say so: "
    "ToolPolicy(name=…, identity=…)"
)


def prefetcher_of(graph: AnyGraph) -> Prefetcher:
    """The prefetcher of a wrapped graph: ``graph.prefetch``, in a form that type checkers know.

    Raises:
        NotWrappedError: a graph that ``with_prefetch`` has not wrapped.
        ConfigurationError: one with several, made by ``with_prefetch_variants``.
    """
    if not isinstance(graph, _Listening):
        if isinstance(graph, WrappedGraph):
            raise ConfigurationError("this graph has a prefetcher for each variant: see variants_of(graph).prefetchers")
        raise NotWrappedError(graph)
    return graph.prefetch


def _admit_tools(graph: AnyGraph, prefetch: Prefetcher) -> None:
    everywhere = list(tool_nodes(graph, skip=WrappedGraph))
    found = [(owner, name, node) for owner, name, node in everywhere if not prefetches(node)]
    if everywhere and not found:
        raise AlreadyWrappedError
    if not found:
        raise NoToolNodeError(name for name in graph.nodes if not name.startswith("__"))
    available = {tool for _, _, node in found for tool in node.tools_by_name}
    prefetch.agent_has(available)
    for wanted in prefetch.policies:
        if wanted not in available:
            raise UnknownToolError(wanted, available)
    for owner, name, node in found:
        for tool_name, tool in node.tools_by_name.items():
            if tool_name not in prefetch.policies:
                continue
            known = prefetch.tools.get(tool_name)
            reason = approval_before(owner, name, tool_name)
            if isinstance(known, LangChainTool) and not known.stands_for(tool):
                reason = TWO_TOOLS
            if reason is not None:
                prefetch.refuse(tool_name, reason)
            else:
                prefetch.admit(tool)


def _answered(graph: AnyGraph, seam: AnswerSeam) -> AnyGraph:
    """A copy of the graph whose tool nodes, at any depth, answer through ``seam``."""
    nodes = {}
    for name, node in graph.nodes.items():
        if isinstance(node.bound, ToolNode) and not prefetches(node.bound):
            node = node.copy({"bound": answering(node.bound, seam)})
        elif isinstance(node.bound, Pregel) and not isinstance(node.bound, WrappedGraph):
            inner = _answered(node.bound, seam)
            node = node.copy({"bound": inner, "subgraphs": [inner]})
        nodes[name] = node
    # Not graph.copy(): the host's own drops what its constructor does not take (output mappers, for one).
    new = copy.copy(graph)
    new.nodes = nodes
    return new


def answering(node: ToolNode, seam: AnswerSeam) -> ToolNode:
    """A copy of a tool node that answers through ``seam``, innermost: the user's own wrappers run on every call."""
    new = copy.copy(node)
    outer, aouter = node._wrap_tool_call, node._awrap_tool_call
    if outer is None:
        new._wrap_tool_call = seam.sync
    else:
        new._wrap_tool_call = lambda request, execute: outer(request, lambda inner: seam.sync(inner, execute))
    if aouter is not None:
        new._awrap_tool_call = lambda request, execute: aouter(request, lambda inner: seam.awaited(inner, execute))
    elif outer is None:
        new._awrap_tool_call = seam.awaited
    # A copied RunnableCallable still holds the bound methods of the node it was copied from.
    new.func = _NotingInterrupts(new._func, seam)
    new.afunc = _AsyncNotingInterrupts(new._afunc, seam)
    return new


class _NotingInterrupts:
    """A tool node's function, watched.

    Not a closure: the host searches those for subgraphs, and the bound method in it would lead back to the node.
    """

    def __init__(self, func: Callable[..., Any], seam: AnswerSeam) -> None:
        self._func, self._seam = func, seam

    def __call__(self, state: Any, config: Any, runtime: Any) -> Any:
        with _Noting(self._seam, config):
            return self._func(state, config, runtime)


class _AsyncNotingInterrupts(_NotingInterrupts):
    """:class:`_NotingInterrupts` for the node's coroutine function."""

    async def __call__(self, state: Any, config: Any, runtime: Any) -> Any:
        with _Noting(self._seam, config):
            return await self._func(state, config, runtime)


class _Noting:
    """Around one execution of a tool node: tells the run whether it was interrupted, and so will come again."""

    __slots__ = ("_config", "_seam")

    def __init__(self, seam: AnswerSeam, config: Mapping[str, Any]) -> None:
        self._seam, self._config = seam, config

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        with Guard(self._seam.engine, "node end"):
            run = run_in(self._seam.engine, self._config.get("callbacks"))
            if run is not None:
                run.node_ended(interrupted=isinstance(error, GraphBubbleUp))


class WrappedGraph:
    """What a graph is that prefetches, in whichever way."""


class _Listening(WrappedGraph):
    """What the wrapped graph's class adds to the graph's own."""

    prefetch: Prefetcher

    def stream(self, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002 - the host's name
        with _Heard(self, config, kwargs, None) as heard:
            yield from super(_Listening, heard.graph).stream(input, heard.config, **kwargs)  # type: ignore[misc]

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        with _Heard(self, config, kwargs, asyncio.get_running_loop()) as heard:
            stream = super(_Listening, heard.graph).astream(input, heard.config, **kwargs)  # type: ignore[misc]
            async with aclosing(stream) as parts:
                async for part in parts:
                    yield part

    def copy(self, update: dict[str, Any] | None = None) -> Any:
        return listening(bare(self).copy(update), self.prefetch)


@cache
def _listening_class(of: type[AnyGraph]) -> type[AnyGraph]:
    return type(of.__name__, (_Listening, of), {"__module__": of.__module__, "__qualname__": of.__qualname__})


def listening(graph: AnyGraph, prefetch: Prefetcher) -> AnyGraph:
    """The same graph, heard by ``prefetch``; its nodes are as they are."""
    return with_class(_listening_class(type(graph)), {**graph.__dict__, "prefetch": prefetch})


def bare(graph: Any) -> AnyGraph:
    """A graph that prefetches as one of its own class, nodes and all, that does not listen."""
    attributes = {name: value for name, value in graph.__dict__.items() if name != "prefetch"}
    return with_class(type(graph).__bases__[1], attributes)


def with_class(cls: type[AnyGraph], attributes: Mapping[str, Any]) -> AnyGraph:
    """An instance of a graph's class with these attributes."""
    # Past the constructor, which would set anew what the graph's compilation had set.
    new = cls.__new__(cls)
    new.__dict__.update(attributes)
    return new


class _Heard:
    """One invocation of a wrapped graph: opens a run, puts the listener among the call's handlers, closes the run."""

    __slots__ = ("_loop", "_muted", "_run", "config", "graph")

    def __init__(
        self, graph: Any, config: Any, kwargs: Mapping[str, Any], loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self.graph, self.config, self._loop = graph, config, loop
        self._muted = bool(kwargs.get("interrupt_before") or kwargs.get("interrupt_after"))
        self._run: Run | None = None

    def __enter__(self) -> _Heard:
        prefetch: Prefetcher = self.graph.prefetch
        if not self._muted and prefetch.enabled:
            with Guard(prefetch, "run start"):
                self._listen(prefetch)
        return self

    def _listen(self, prefetch: Prefetcher) -> None:
        in_force = [ambient_config(), self.graph.config, self.config]
        configurable = {name: value for config in in_force for name, value in user_configurable(config).items()}
        self._run = prefetch.open_run(configurable)
        set_before = [config for config in in_force if config and config.get("callbacks") is not None]
        heard_by = [each for config in set_before for each in handlers_of(config["callbacks"])]
        outer = [each for each in heard_by if isinstance(each, StreamListener)]
        listener = StreamListener(prefetch, self._run, self._loop, outer)
        callbacks = with_listener(set_before[-1]["callbacks"] if set_before else None, listener)
        if set_before and set_before[-1] is self.graph.config:
            # The host adds a graph's own handlers to the call's, and would call those twice that stand in both.
            self.graph = copy.copy(self.graph)
            self.graph.config = {**self.graph.config, "callbacks": None}
        self.config = {**(self.config or {}), "callbacks": callbacks}

    def __exit__(self, *_: object) -> None:
        if self._run is not None:
            with Guard(self.graph.prefetch, "run end"):
                self._run.close()


def with_listener(callbacks: Any, listener: StreamListener) -> Any:
    """``callbacks`` (None, a list or a manager, left as it is) with ``listener`` last, in place of any outer one."""
    if callbacks is None or isinstance(callbacks, list):
        return [*(each for each in callbacks or () if not isinstance(each, StreamListener)), listener]
    manager = callbacks.copy()
    for handlers in (manager.handlers, manager.inheritable_handlers):
        handlers[:] = [each for each in handlers if not isinstance(each, StreamListener)]
    manager.add_handler(listener, inherit=True)
    return manager
