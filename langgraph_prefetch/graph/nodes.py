"""Drop-in nodes for people who draw their own graph."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode

from langgraph_prefetch.errors import UnknownToolError
from langgraph_prefetch.graph.by_hand import run_here
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.conversation import results_in
from langgraph_prefetch.graph.front import Prefetcher
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.serve import AnswerSeam
from langgraph_prefetch.graph.wrap import answering
from langgraph_prefetch.intent.stream import deltas_of_chunk


def prefetching_tool_node(
    tools: Sequence[BaseTool | Callable[..., Any]], prefetch: Prefetcher, **options: Any
) -> ToolNode:
    """A ``ToolNode`` that answers from speculations, in place of ``ToolNode(tools, **options)``.

    Its graph must be heard: ``graph.compile().with_config(callbacks=[prefetch.handler()])``.

    Args:
        tools: as for ``ToolNode``; those that ``prefetch`` names may run early.
        prefetch: answers.
        options: as for ``ToolNode``; its own ``wrap_tool_call`` runs on every call, served or not.

    Raises:
        UnknownToolError: ``prefetch`` names none of the tools.
    """
    prefetch.require_near()
    node = ToolNode(tools, **options)
    if not prefetch.policies.keys() & node.tools_by_name.keys():
        raise UnknownToolError(next(iter(prefetch.policies)), node.tools_by_name, "in the node. Its tools")
    prefetch.agent_has(node.tools_by_name)
    for tool in node.tools_by_name.values():
        prefetch.admit(tool)
    return answering(node, AnswerSeam(prefetch, next_calls=prefetch.next_calls))


class SpeculationNode:
    """A node that starts what the latest message makes likely; for graphs whose model does not stream.

    It belongs between the model and whatever stands before the tools (a guard, a second model that words the call) and
    changes nothing in the state. Where the model did stream, the message has been read already and it does nothing.

    Args:
        prefetch: starts the retrievals.
        messages_key: where the state keeps its messages.
    """

    def __init__(self, prefetch: Prefetcher, messages_key: str = "messages") -> None:
        self._prefetch, self._messages_key = prefetch, messages_key

    def __call__(self, state: Any) -> dict[str, Any]:
        """Read the latest message. Returns no update."""
        with Guard(self._prefetch, "speculation node"):
            self._read(state)
        return {}

    def _read(self, state: Any) -> None:
        run = run_here(self._prefetch)
        if run is None:
            advice = "SpeculationNode hears no run: compile().with_config(callbacks=[prefetch.handler()])"
            self._prefetch.warn_once("no run", advice)
            return
        messages = state if isinstance(state, list) else _get(state, self._messages_key)
        if not messages or not isinstance(messages[-1], AIMessage) or run.heard_latest:
            return
        step_id = uuid.uuid4()
        run.begin_step(step_id, results=results_in(messages))
        run.hear(step_id, deltas_of_chunk(messages[-1]), GraphCaller.ambient)
        run.end_step(step_id)


def _get(state: Any, key: str) -> list[Any]:
    found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return list(found or [])
