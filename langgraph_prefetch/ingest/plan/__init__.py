"""What an agent's retrieval workflow does, as operators with their communication patterns. Needs no extra."""

from langgraph_prefetch.ingest.plan.catalogue import INGEST, MEMORY, REDUCE_CONTEXT, RETRIEVE
from langgraph_prefetch.ingest.plan.interpret import Decision, interpret, replay
from langgraph_prefetch.ingest.plan.operators import Operator, Pattern, Plan
from langgraph_prefetch.ingest.plan.trace import OperatorStep, OperatorTrace

__all__ = [
    "INGEST",
    "MEMORY",
    "REDUCE_CONTEXT",
    "RETRIEVE",
    "Decision",
    "Operator",
    "OperatorStep",
    "OperatorTrace",
    "Pattern",
    "Plan",
    "interpret",
    "replay",
]
