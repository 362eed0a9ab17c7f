"""A wrapped graph is the graph it wraps in all that can be asked of it, and the bare one stays what it was."""

from __future__ import annotations

import asyncio
import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode

from tests.graph.matrix.compare import patient, prefetch_of, prefetched, question
from tests.graph.matrix.kinds import KINDS, Graph, World, agent
from tests.graph.matrix.normal import Normaliser
from tests.graph.matrix.test_nesting import as_node

DESCRIPTIONS: dict[str, Callable[[Graph], Any]] = {
    "drawing": lambda graph: graph.get_graph().draw_mermaid(),
    "drawing in depth": lambda graph: graph.get_graph(xray=True).draw_mermaid(),
    "input": lambda graph: graph.get_input_jsonschema(),
    "output": lambda graph: graph.get_output_jsonschema(),
    "context": lambda graph: graph.get_context_jsonschema(),
    "configuration": lambda graph: graph.config_specs,
    "name": lambda graph: graph.get_name(),
    "names of subgraphs": lambda graph: [name for name, _ in graph.get_subgraphs(recurse=True)],
    "attributes": lambda graph: sorted(set(vars(graph)) - {"prefetch"}),
    "class": lambda graph: (type(graph).__name__, type(graph).__module__),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrapped_graph_describes_itself_as_the_bare_one(kind: str) -> None:
    """Drawing, schemas, configuration, names."""
    bare = KINDS[kind](World())
    wrapped = prefetched(bare)

    assert isinstance(wrapped, type(bare))
    for what, describe in DESCRIPTIONS.items():
        assert describe(wrapped) == describe(bare), what


def _tool_nodes(graph: Any) -> list[ToolNode]:
    bound = [node.bound for node in graph.nodes.values()]
    return [each for each in bound if isinstance(each, ToolNode)]


def test_the_bare_graph_is_left_as_it_is() -> None:
    """Same nodes, same tool node, same wrappers; and it goes on to search for itself."""
    world = World()
    bare = as_node(agent(world))
    inner = dict(bare.get_subgraphs())["agent"]
    assert isinstance(inner, type(bare))
    kept = [(graph, dict(graph.nodes), copy.copy(vars(graph))) for graph in (bare, inner)]
    (node,) = _tool_nodes(inner)
    seams = dict(vars(node))

    wrapped = prefetched(bare)
    wrapped.invoke(question())

    for graph, nodes, attributes in kept:
        assert graph.nodes == nodes
        assert vars(graph) == attributes
    assert vars(node) == seams
    assert not hasattr(bare, "prefetch")
    searched = prefetch_of(wrapped).report().search_calls
    bare.invoke(question())
    assert prefetch_of(wrapped).report().search_calls == searched == 2


def test_get_subgraphs_shows_the_graph_that_is_answered() -> None:
    """The subgraph it shows has the answering tool node, and is the one that runs."""
    wrapped = prefetched(as_node(agent(World())))
    shown = dict(wrapped.get_subgraphs())["agent"]
    assert isinstance(shown, type(wrapped).__bases__[1])

    (node,) = _tool_nodes(shown)

    assert node._wrap_tool_call is not None
    assert wrapped.nodes["agent"].bound is shown


DERIVED: dict[str, Callable[[Any], Any]] = {
    "with_config": lambda graph: graph.with_config(tags=["mine"]),
    "with_config twice": lambda graph: graph.with_config(tags=["mine"]).with_config(recursion_limit=50),
    "copy": lambda graph: graph.copy(),
    "copy with an update": lambda graph: graph.copy({"checkpointer": InMemorySaver()}),
    "copy.copy": copy.copy,
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
def test_prefetch_survives_what_is_made_of_the_graph(derive: Callable[[Any], Any]) -> None:
    """Copies and configured forms are wrapped too, and count into the same report."""
    world = World()
    wrapped: Any = prefetched(agent(world))

    derived: Any = derive(wrapped)
    derived.invoke(question(), {"configurable": {"thread_id": "1"}})

    assert isinstance(derived, type(wrapped))
    assert prefetch_of(derived) is prefetch_of(wrapped)
    assert prefetch_of(wrapped).report().served == len(world.search) == 2


COMPOSED: dict[str, Callable[[Any], Runnable[Any, Any]]] = {
    "bind": lambda graph: graph.bind(recursion_limit=50),
    "pipe": lambda graph: graph | RunnableLambda(lambda state: state["messages"][-1]),
    "at the end of a pipe": lambda graph: RunnableLambda(lambda state: state) | graph,
    "parallel": lambda graph: RunnableParallel(once=graph, twice=graph),
    "retry": lambda graph: graph.with_retry(),
    "fallback": lambda graph: RunnableLambda(_refuse).with_fallbacks([graph]),
    "map": lambda graph: RunnableLambda(lambda state: [state, state]) | graph.map(),
}


def _refuse(state: Any) -> Any:
    raise ValueError("not today")


@pytest.mark.parametrize(("how", "in_loop"), [*itertools.product(COMPOSED, [False, True])])
def test_a_wrapped_graph_is_a_part_like_any_other(how: str, *, in_loop: bool) -> None:
    """Piped, bound, in parallel, with retries or fallbacks: the same result, and every search served."""
    worlds = World(), World()
    wrapped = patient(prefetched(agent(worlds[1])))
    shown = []
    for graph in (agent(worlds[0]), wrapped):
        composed = COMPOSED[how](graph)
        result = asyncio.run(composed.ainvoke(question())) if in_loop else composed.invoke(question())
        shown.append(Normaliser(ordered=False)(result))

    assert shown[0] == shown[1]
    report = prefetch_of(wrapped).report()
    assert report.served == report.search_calls == len(worlds[0].search) == len(worlds[1].search)
