"""Asking arms the same questions, in an order that favours none, and keeping what came of it.

Agents are LangChain runnables whose state has ``messages``; who makes them is not known here.
"""

from langgraph_prefetch.evaluation.trials.claim import SETTINGS_FILE, claim, release
from langgraph_prefetch.evaluation.trials.event_log import EventLog
from langgraph_prefetch.evaluation.trials.hearing import SCOPE
from langgraph_prefetch.evaluation.trials.plan import Key, Trial, balanced_orders, paired_trials, series_trials
from langgraph_prefetch.evaluation.trials.questions import Question, read_questions
from langgraph_prefetch.evaluation.trials.row_file import RowFile, key_of, read_rows
from langgraph_prefetch.evaluation.trials.runner import (
    Agent,
    Arm,
    Check,
    Outcome,
    RunSettings,
    require_one_embedder,
    run_trials,
)

__all__ = [
    "SCOPE",
    "SETTINGS_FILE",
    "Agent",
    "Arm",
    "Check",
    "EventLog",
    "Key",
    "Outcome",
    "Question",
    "RowFile",
    "RunSettings",
    "Trial",
    "balanced_orders",
    "claim",
    "key_of",
    "paired_trials",
    "read_questions",
    "read_rows",
    "release",
    "require_one_embedder",
    "run_trials",
    "series_trials",
]
