"""Graphs whose next model call may start in private, each bare and with a prefetcher, from one :class:`World`."""

from __future__ import annotations

import itertools
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from langgraph_prefetch import Budgets, NextCalls, Prefetcher, PrefetchMiddleware, prefetching_tool_node
from langgraph_prefetch.testing.models import ScriptedChatModel
from langgraph_prefetch.testing.script import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.matrix.kinds import Choose, Graph, Verdict, Watch, World, search_for

NOTHING_EARLY = Budgets(guesses_per_step=0, sealed_per_step=0)
"""Every search runs itself, so that there is something to run beside."""
ALWAYS = NextCalls(max_wasted_share=1.0)
"""However many were wrong before."""

TOWER = "Eiffel Tower"
REPEATS = (
    search_for(TOWER),
    search_for(TOWER, then="Once more."),
    Turn(reasoning="How heavy is it?", calls=[Call("weigh", {"thing": "tower"})]),
    search_for(TOWER, then="And again."),
    Turn(text="It stands in Paris."),
)
"""The second and the third search can be guessed from the first."""
SIDE_BY_SIDE = (
    search_for(TOWER, Call("search", {"query": "Louvre Museum"})),
    search_for("Louvre Museum", Call("search", {"query": TOWER}), Call("weigh", {"thing": "dome"})),
    Turn(text="Both stand in Paris."),
)


def another_each_time() -> CountingSearch:
    """A search that never gives the same twice for one query."""
    numbers: defaultdict[str, itertools.count[int]] = defaultdict(lambda: itertools.count(1))
    return CountingSearch(answer=lambda query, k: f"passage {next(numbers[query])} about {query}")


def repeating(turns: Any = REPEATS, **parts: Any) -> World:
    """A world whose searches come again, and return what they returned before."""
    return World(turns, **parts)


def changing(turns: Any = REPEATS, **parts: Any) -> World:
    """A world whose searches come again, and return something else."""
    return World(turns, search=another_each_time(), **parts)


def options_for(**options: Any) -> dict[str, Any]:
    """What the cases ask of a prefetcher."""
    return {"serve": "verified", "budgets": NOTHING_EARLY, "next_calls": ALWAYS, **options}


def slow(prefetch: Prefetcher) -> Prefetcher:
    """Searches that take no time are taken for slow ones, which are worth running beside."""
    prefetch._typical.add("search", 5.0)
    return prefetch


@dataclass(frozen=True)
class Kind:
    """One graph, bare and with a prefetcher."""

    bare: Callable[[World], Graph]
    prefetched: Callable[[World, Prefetcher | PrefetchMiddleware], Graph]
    is_agent: bool = False

    def wrapped(self, world: World, seen: list[Prefetcher], **options: Any) -> Graph:
        """The graph with a prefetcher, which is put into ``seen``."""
        if self.is_agent:
            ours = PrefetchMiddleware(["search"], **options_for(**options))
            seen.append(slow(ours.prefetch))
            return self.prefetched(world, ours)
        prefetch = slow(Prefetcher(["search"], **options_for(**options)))
        seen.append(prefetch)
        return self.prefetched(world, prefetch).with_config(callbacks=[prefetch.handler()])


def _agent(world: World, *middleware: Any, **options: Any) -> Graph:
    return create_agent(world.model(), world.tools, middleware=middleware, **options, **world.options)


def _drawn(world: World, model: Any, tools: ToolNode) -> Graph:
    bound = model.bind_tools(world.tools)

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    async def athink(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    graph.add_node("model", RunnableLambda(think, athink, name="model"), retry_policy=world.retry)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(**world.options)


def react(model: Any, tools: Any, version: Literal["v1", "v2"], **options: Any) -> Graph:
    """``create_react_agent``, deprecated and still what many run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return create_react_agent(model, tools, version=version, **options)


def _react(world: World, model: Any, tools: Any, version: Literal["v1", "v2"]) -> Graph:
    return react(model, tools, version, **world.options)


def _by_hand(build: Callable[..., Graph], **options: Any) -> Kind:
    return Kind(
        bare=lambda world: build(world, world.model(), ToolNode(world.tools), **options),
        prefetched=lambda world, prefetch: build(
            world,
            prefetch.model(world.model()),  # type: ignore[union-attr]
            prefetching_tool_node(world.tools, prefetch),  # type: ignore[arg-type]
            **options,
        ),
    )


class Plain(AgentMiddleware[Any, Any, Any]):
    """Somebody's middleware around both calls that changes nothing."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


VERDICT = (*REPEATS[:4], Turn(text="In", calls=[Call("Verdict", {"city": "Paris"})]))


def _structured(world: World, *middleware: Any) -> Graph:
    world.turns = VERDICT
    return _agent(world, *middleware, response_format=ToolStrategy(Verdict))


def _prompted(world: World, *middleware: Any) -> Graph:
    return _agent(world, *middleware, system_prompt="Be brief.", name="guide")


def _artifact(world: World, *middleware: Any) -> Graph:
    answer = world.search._answer
    world.search._answer = lambda query, k: (answer(query, k), {"ids": [k, query]})
    world.tool_options = {"response_format": "content_and_artifact"}
    return _agent(world, *middleware)


def _chosen(world: World, *middleware: Any) -> Graph:
    never = ScriptedChatModel(script=())
    return create_agent(never, world.tools, middleware=[Choose(world.model()), *middleware], **world.options)


KINDS: dict[str, Kind] = {
    "agent": Kind(_agent, _agent, is_agent=True),
    "drawn": _by_hand(_drawn),
    "react_v1": _by_hand(_react, version="v1"),
    "react_v2": _by_hand(_react, version="v2"),
    "watched": Kind(
        lambda world: _agent(world, Plain(), Watch(world)),
        lambda world, ours: _agent(world, Plain(), Watch(world), ours),
        is_agent=True,
    ),
    "prompted": Kind(_prompted, _prompted, is_agent=True),
    "structured": Kind(_structured, _structured, is_agent=True),
    "artifact": Kind(_artifact, _artifact, is_agent=True),
    "chosen": Kind(_chosen, _chosen, is_agent=True),
}
"""By name. ``watched`` has a guard that rewrites every result of a tool."""
