"""What a compiled graph holds: its tool nodes, and the approvals before its tools. Reads, changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from langgraph_prefetch.graph.serve import AnswerSeam
from langgraph_prefetch.graph.tools import injected_arguments
from langgraph_prefetch.handing import HandingTool, behind
from langgraph_prefetch.prefetcher import PrefetchEngine

MAX_LOOKED_AT = 1_000

_HOOKS = ("func", "afunc")
"""Where a node that runs a middleware's hook holds it, as a bound method."""


def tool_nodes(
    graph: Pregel[Any, Any, Any, Any], skip: type[Any]
) -> Iterator[tuple[Pregel[Any, Any, Any, Any], str, ToolNode]]:
    """Every tool node of a graph and its subgraphs (but for those of class ``skip``): its graph, its name, the node.

    Those that prefetch already are among them; :func:`prefetches` tells.
    """
    for name, node in graph.nodes.items():
        if isinstance(node.bound, ToolNode):
            yield graph, name, node.bound
        elif isinstance(node.bound, Pregel) and not isinstance(node.bound, skip):
            yield from tool_nodes(node.bound, skip)


def prefetches(node: ToolNode) -> bool:
    """True if the node's calls are answered already: by ``PrefetchMiddleware`` or as a ``prefetching_tool_node``."""
    # Bound methods, decorators and closures are looked through: that is how hosts put wrappers into one another.
    seen: set[int] = set()
    open_ends: list[Any] = [node._wrap_tool_call, node._awrap_tool_call]
    while open_ends and len(seen) < MAX_LOOKED_AT:
        part = open_ends.pop()
        owner = getattr(part, "__self__", part)
        prefetch = getattr(owner, "prefetch", None)
        if isinstance(owner, AnswerSeam) or isinstance(prefetch, PrefetchEngine) or hasattr(prefetch, "prefetchers"):
            return True
        if id(part) not in seen and callable(part):
            seen.add(id(part))
            open_ends.extend(getattr(part, name, None) for name in ("__wrapped__", "func"))
            for cell in getattr(part, "__closure__", None) or ():
                with suppress(ValueError):  # an empty cell
                    open_ends.append(cell.cell_contents)
    return False


def approval_before(graph: Pregel[Any, Any, Any, Any], tool_node: str, tool: str) -> str | None:
    """Where a person is asked before ``tool`` runs, as far as that can be seen; None if nowhere."""
    for setting in ("interrupt_before_nodes", "interrupt_after_nodes"):
        names = getattr(graph, setting)
        if names == "*" or (setting == "interrupt_before_nodes" and tool_node in names):
            return f"the graph is interrupted before node {tool_node!r} ({setting.removesuffix('_nodes')})"
        if setting == "interrupt_after_nodes" and any(name in names for name in _before(graph, tool_node)):
            return f"the graph is interrupted before node {tool_node!r} (interrupt_after)"
    for name, node in graph.nodes.items():
        if any(tool in asked_by(getattr(getattr(node.bound, hook, None), "__self__", None)) for hook in _HOOKS):
            return f"{name.split('.')[0]} asks for approval of {tool!r}"
    return None


def _before(graph: Pregel[Any, Any, Any, Any], node: str) -> set[str]:
    drawn = graph.get_graph()
    return {edge.source for edge in drawn.edges if edge.target == node}


def asked_by(middleware: Any) -> Mapping[str, Any]:
    """The tools whose calls a human-in-the-loop middleware puts before a person; empty for anything else."""
    table = getattr(middleware, "interrupt_on", None)
    return table if isinstance(table, Mapping) else {}


def refusal_of(tool: BaseTool, *, reads_runtime: bool) -> str | None:
    """Why ``tool`` itself can never run early; None if nothing speaks against it."""
    if isinstance(tool, HandingTool):
        each_tool = [each for each in behind(tool) if isinstance(each, BaseTool)]
        return next((why for each in each_tool if (why := refusal_of(each, reads_runtime=reads_runtime))), None)
    for name, kind in injected_arguments(tool).items():
        if kind == "runtime":
            if not reads_runtime:
                return (
                    f"its argument {name!r} is a ToolRuntime, which gives it the graph's state too; if context "
                    "and config are all it reads, say so: ToolPolicy(name=…, reads_runtime=True)"
                )
        else:
            return f"its argument {name!r} is injected ({kind}) and not known before the call"
    return None
