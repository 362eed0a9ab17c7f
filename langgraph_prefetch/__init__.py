"""Start a LangGraph agent's searches while the model is still thinking, and answer the real calls from them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph_prefetch.config import Budgets, ExecutorLimits, NextCalls, PrefetchOptions, Price, ToolPolicy
    from langgraph_prefetch.errors import ConfigurationError, MissingExtraError, PrefetchError, SpeculationDeclinedError
    from langgraph_prefetch.graph.front import Prefetcher
    from langgraph_prefetch.graph.middleware import PrefetchMiddleware
    from langgraph_prefetch.graph.nodes import SpeculationNode, prefetching_tool_node
    from langgraph_prefetch.graph.operators.context import ReduceContextNode
    from langgraph_prefetch.graph.operators.epochs import EpochStore
    from langgraph_prefetch.graph.operators.memory import Memory
    from langgraph_prefetch.graph.operators.reduction import reduce_context
    from langgraph_prefetch.graph.variants.agents import PrefetchVariantsMiddleware
    from langgraph_prefetch.graph.variants.arms import PrefetchVariants
    from langgraph_prefetch.graph.variants.chooser import Variants
    from langgraph_prefetch.graph.variants.settings import variants_of, with_prefetch_variants
    from langgraph_prefetch.graph.wrap import prefetcher_of, with_prefetch
    from langgraph_prefetch.guesses import Asked, ResultGuess, ResultGuesser
    from langgraph_prefetch.intent.cue_file import load_cues
    from langgraph_prefetch.intent.cues import Cue, CueSet, default_cues
    from langgraph_prefetch.near_miss import NearMiss
    from langgraph_prefetch.observe.unclaimed import UnclaimedCall
    from langgraph_prefetch.outbound import OutboundRules, Outgoing
    from langgraph_prefetch.report import Report
    from langgraph_prefetch.speculation.shared import limit_process
    from langgraph_prefetch.speculative import is_speculative, speculating

__all__ = [
    "Asked",
    "Budgets",
    "ConfigurationError",
    "Cue",
    "CueSet",
    "EpochStore",
    "ExecutorLimits",
    "Memory",
    "MissingExtraError",
    "NearMiss",
    "NextCalls",
    "OutboundRules",
    "Outgoing",
    "PrefetchError",
    "PrefetchMiddleware",
    "PrefetchOptions",
    "PrefetchVariants",
    "PrefetchVariantsMiddleware",
    "Prefetcher",
    "Price",
    "ReduceContextNode",
    "Report",
    "ResultGuess",
    "ResultGuesser",
    "SpeculationDeclinedError",
    "SpeculationNode",
    "ToolPolicy",
    "UnclaimedCall",
    "Variants",
    "default_cues",
    "is_speculative",
    "limit_process",
    "load_cues",
    "prefetcher_of",
    "prefetching_tool_node",
    "reduce_context",
    "speculating",
    "variants_of",
    "with_prefetch",
    "with_prefetch_variants",
]

# What is behind a name is imported when the name is first used: the host alone takes over a second to import, which
# no one should wait for who asks the command line for its help, and the middlewares need more than the core does.
_HOMES = {
    "Asked": "guesses",
    "Budgets": "config",
    "ConfigurationError": "errors",
    "Cue": "intent.cues",
    "CueSet": "intent.cues",
    "EpochStore": "graph.operators.epochs",
    "ExecutorLimits": "config",
    "Memory": "graph.operators.memory",
    "MissingExtraError": "errors",
    "NearMiss": "near_miss",
    "NextCalls": "config",
    "OutboundRules": "outbound",
    "Outgoing": "outbound",
    "PrefetchError": "errors",
    "PrefetchMiddleware": "graph.middleware",
    "PrefetchOptions": "config",
    "PrefetchVariants": "graph.variants.arms",
    "PrefetchVariantsMiddleware": "graph.variants.agents",
    "Prefetcher": "graph.front",
    "Price": "config",
    "ReduceContextNode": "graph.operators.context",
    "Report": "report",
    "ResultGuess": "guesses",
    "ResultGuesser": "guesses",
    "SpeculationDeclinedError": "errors",
    "SpeculationNode": "graph.nodes",
    "ToolPolicy": "config",
    "UnclaimedCall": "observe.unclaimed",
    "Variants": "graph.variants.chooser",
    "default_cues": "intent.cues",
    "is_speculative": "speculative",
    "limit_process": "speculation.shared",
    "load_cues": "intent.cue_file",
    "prefetcher_of": "graph.wrap",
    "prefetching_tool_node": "graph.nodes",
    "reduce_context": "graph.operators.reduction",
    "speculating": "speculative",
    "variants_of": "graph.variants.settings",
    "with_prefetch": "graph.wrap",
    "with_prefetch_variants": "graph.variants.settings",
}

if not TYPE_CHECKING:  # which would make a type checker accept any name

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
