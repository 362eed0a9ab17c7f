"""Start a LangGraph agent's searches while the model is still thinking, and answer the real calls from them."""

from typing import TYPE_CHECKING, Any

from langgraph_prefetch.config import Budgets, ExecutorLimits, NextCalls, PrefetchOptions, Price, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError, MissingExtraError, PrefetchError, SpeculationDeclinedError
from langgraph_prefetch.graph.front import Prefetcher
from langgraph_prefetch.graph.nodes import SpeculationNode, prefetching_tool_node
from langgraph_prefetch.graph.operators.context import ReduceContextNode
from langgraph_prefetch.graph.operators.epochs import EpochStore
from langgraph_prefetch.graph.operators.memory import Memory
from langgraph_prefetch.graph.operators.reduction import reduce_context
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

if TYPE_CHECKING:
    from langgraph_prefetch.graph.middleware import PrefetchMiddleware
    from langgraph_prefetch.graph.variants.agents import PrefetchVariantsMiddleware

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


def __getattr__(name: str) -> Any:
    if name == "PrefetchMiddleware":  # needs langchain, which the core does without
        from langgraph_prefetch.graph.middleware import PrefetchMiddleware

        return PrefetchMiddleware
    if name == "PrefetchVariantsMiddleware":
        from langgraph_prefetch.graph.variants.agents import PrefetchVariantsMiddleware

        return PrefetchVariantsMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
