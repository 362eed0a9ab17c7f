"""The nodes and edges of a compiled graph, as it draws itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from langchain_core.runnables.graph import Graph

from langgraph_prefetch.errors import FlowError
from langgraph_prefetch.serving.flow.declared import StageConstraints, declared
from langgraph_prefetch.serving.flow.values import END, START
from langgraph_prefetch.serving.flow.visits import Move


class DrawableGraph(Protocol):
    """What a compiled LangGraph is, as far as this room looks."""

    def get_graph(self) -> Graph:
        """Its nodes and edges."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A graph that nothing was measured on yet.

    Attributes:
        name: of the graph.
        stages: names of its nodes, in its order.
        edges: (from, to) -> whether the graph decides on each request if it goes there.
        constraints: those that `stage` put on the nodes' functions.
    """

    name: str
    stages: tuple[str, ...]
    edges: Mapping[Move, bool] = field(hash=False)
    constraints: Mapping[str, StageConstraints] = field(hash=False)


def structure_of(graph: DrawableGraph) -> Structure:
    """The structure of a compiled graph, or of anything that draws itself the same way.

    Raises:
        FlowError: it cannot be drawn, or has no nodes.
    """
    try:
        drawn = graph.get_graph()
    except AttributeError:
        raise FlowError(
            f"a {type(graph).__name__} is no compiled graph: it has no get_graph(); call compile() first"
        ) from None
    stages = tuple(name for name in drawn.nodes if name not in (START, END))
    if not stages:
        raise FlowError("the graph has no nodes")
    constraints = {}
    for name in stages:
        found = declared(drawn.nodes[name].data)
        if found is not None:
            constraints[name] = found.constraints
    return Structure(
        name=_name(graph),
        stages=stages,
        edges={(each.source, each.target): each.conditional for each in drawn.edges},
        constraints=constraints,
    )


def _name(graph: Any) -> str:
    name = getattr(graph, "name", None)
    return name if isinstance(name, str) and name else "flow"
