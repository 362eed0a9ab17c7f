"""The public prefetcher: the engine with its LangChain ways in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch.config import PrefetchOptions, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.survey import refusal_of
from langgraph_prefetch.graph.tools import LangChainTool
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.speculation.shared import Shared

Named = str | ToolPolicy


class Prefetcher(PrefetchEngine):
    """Reads a run's tokens, starts its searches early, answers the real calls.

    Every way in makes one: it is ``agent.prefetch`` of a wrapped graph. Made by hand it serves code that calls a tool
    or a retriever itself, inside a node function or without a graph.

    Args:
        tools: names or policies of the tools that may run early. Naming one asserts that it only reads.
        cues: the language of intent; the cues that come with the package if None.
        shared: executor, ledger and shared cache; the process-wide ones if None.
        options: see :class:`~langgraph_prefetch.config.PrefetchOptions`.

    Raises:
        UnknownOptionError: an option that does not exist.
        ConfigurationError: no tool, or a value out of its range.
    """

    def __init__(
        self, tools: Sequence[Named], *, cues: CueSet | None = None, shared: Shared | None = None, **options: Any
    ) -> None:
        super().__init__(PrefetchOptions.of(options), cues=cues, shared=shared)
        self.policies = _policies(tools)

    def admit(self, tool: BaseTool) -> bool:
        """Take a named tool in, unless something about it speaks against running it early; True if it was taken."""
        policy = self.policies.get(tool.name)
        if policy is None or tool.name in self.refusals:
            return False
        known = self.tools.get(tool.name)
        if isinstance(known, LangChainTool) and known.tool is tool:
            return True
        reason = refusal_of(tool, reads_runtime=policy.reads_runtime)
        if reason is not None:
            self.refuse(tool.name, reason)
            return False
        self.tools[tool.name] = LangChainTool(tool, policy, traced=self.options.trace_speculations, refuse=self.refuse)
        return True


def _policies(tools: Sequence[Named]) -> dict[str, ToolPolicy]:
    if isinstance(tools, str):
        raise ConfigurationError(f"tools takes a list: tools=[{tools!r}]")
    policies = {}
    for each in tools:
        if not isinstance(each, str | ToolPolicy):
            raise ConfigurationError(f"tools takes names and ToolPolicy objects, not {type(each).__name__}")
        policy = ToolPolicy(name=each) if isinstance(each, str) else each
        policies[policy.name] = policy
    if not policies:
        raise ConfigurationError("tools=[] names nothing to prefetch: name the tools that only read")
    return policies
