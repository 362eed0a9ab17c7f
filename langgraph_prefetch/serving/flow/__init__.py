"""The flow of an agent: its stages, how requests go between them, and what was measured of both."""

from langgraph_prefetch.serving.flow.declared import StageConstraints, declared, stage
from langgraph_prefetch.serving.flow.flow import Flow
from langgraph_prefetch.serving.flow.recorder import VisitRecorder
from langgraph_prefetch.serving.flow.values import (
    END,
    START,
    Edge,
    FlowValues,
    Placement,
    ServiceTime,
    Stage,
)

__all__ = [
    "END",
    "START",
    "Edge",
    "Flow",
    "FlowValues",
    "Placement",
    "ServiceTime",
    "Stage",
    "StageConstraints",
    "VisitRecorder",
    "declared",
    "stage",
]
