"""Warm-up: what will be needed is started at once, ahead of its call, and what is expected is kept warm."""

from langgraph_prefetch.serving.warmup.expected import ExpectedWarmth
from langgraph_prefetch.serving.warmup.functions import WarmedByCall
from langgraph_prefetch.serving.warmup.keeping import WarmRule, WarmStage, keep_warm, stages_of
from langgraph_prefetch.serving.warmup.processes import ServerProcess
from langgraph_prefetch.serving.warmup.rates import WeeklyRates
from langgraph_prefetch.serving.warmup.scaling import ComponentScaling, ScalingRule
from langgraph_prefetch.serving.warmup.warmer import REQUEST, Warmable, WarmComponent, Warmer

__all__ = [
    "REQUEST",
    "ComponentScaling",
    "ExpectedWarmth",
    "ScalingRule",
    "ServerProcess",
    "WarmComponent",
    "WarmRule",
    "WarmStage",
    "Warmable",
    "WarmedByCall",
    "Warmer",
    "WeeklyRates",
    "keep_warm",
    "stages_of",
]
