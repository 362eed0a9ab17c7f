"""How many replicas each stage of a flow gets under a budget, once and while it serves."""

from langgraph_prefetch.serving.planning.budget import parse_budget
from langgraph_prefetch.serving.planning.plan import plan
from langgraph_prefetch.serving.planning.publish import CountsFile, Publish, PublishedSizing
from langgraph_prefetch.serving.planning.resizer import Resizer
from langgraph_prefetch.serving.planning.rivals import SharedOut, equal_split, shared_out, whole_pipeline
from langgraph_prefetch.serving.planning.values import NextUnit, Plan, StagePlan

__all__ = [
    "CountsFile",
    "NextUnit",
    "Plan",
    "Publish",
    "PublishedSizing",
    "Resizer",
    "SharedOut",
    "StagePlan",
    "equal_split",
    "parse_budget",
    "plan",
    "shared_out",
    "whole_pipeline",
]
