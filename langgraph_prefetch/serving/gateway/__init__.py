"""A gateway before any component of LangChain's: limits, breakers, stand-ins, variants, and what each call cost."""

from langgraph_prefetch.handing import degraded_by
from langgraph_prefetch.serving.gateway._extras import Breaker, BreakerRule
from langgraph_prefetch.serving.gateway.accounts import Account, AccountLine, Fruit, Statement
from langgraph_prefetch.serving.gateway.calls import Call, Pipeline, pipeline
from langgraph_prefetch.serving.gateway.core import ComponentState, Gateway
from langgraph_prefetch.serving.gateway.front import VariantSplit, gateway
from langgraph_prefetch.serving.gateway.limit import AdaptiveLimit, LimitRule, Verdict
from langgraph_prefetch.serving.gateway.prices import CallPrice
from langgraph_prefetch.serving.gateway.spilling import Spilling, SpillRule

__all__ = [
    "Account",
    "AccountLine",
    "AdaptiveLimit",
    "Breaker",
    "BreakerRule",
    "Call",
    "CallPrice",
    "ComponentState",
    "Fruit",
    "Gateway",
    "LimitRule",
    "Pipeline",
    "SpillRule",
    "Spilling",
    "Statement",
    "VariantSplit",
    "Verdict",
    "degraded_by",
    "gateway",
    "pipeline",
]
