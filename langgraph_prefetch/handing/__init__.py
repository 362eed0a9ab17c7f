"""Components that hand every call on to others, and are to whoever holds them what those others are.

A gateway stands before a component, an experiment before its variants: both are a chat model, a retriever, a tool or
any other runnable, and can what the components behind them can.
"""

from langgraph_prefetch.handing.abilities import behind, has_own_async, sole
from langgraph_prefetch.handing.components import HandingRetriever, HandingRunnable, HandingTool, seen_as
from langgraph_prefetch.handing.degraded import degraded_by, marked
from langgraph_prefetch.handing.epochs import TellsEpoch, tells_epoch
from langgraph_prefetch.handing.handler import Change, Handler
from langgraph_prefetch.handing.models import HandingModel

__all__ = [
    "Change",
    "HandingModel",
    "HandingRetriever",
    "HandingRunnable",
    "HandingTool",
    "Handler",
    "TellsEpoch",
    "behind",
    "degraded_by",
    "has_own_async",
    "marked",
    "seen_as",
    "sole",
    "tells_epoch",
]
