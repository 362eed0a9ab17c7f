"""Judges that can be trusted as far as they go: versioned, blind, within a budget, and never silent about a failure."""

from langgraph_prefetch.evaluation.judging.agreement import Agreement
from langgraph_prefetch.evaluation.judging.coverage import Coverage
from langgraph_prefetch.evaluation.judging.judge import Judge, JudgeLimits, judging_themselves
from langgraph_prefetch.evaluation.judging.judging import Judging
from langgraph_prefetch.evaluation.judging.rubric import ANSWER, CORRECT, GROUNDED, Rubric
from langgraph_prefetch.evaluation.judging.sheets import PairSheet, ScoreSheet
from langgraph_prefetch.evaluation.judging.spending import JudgeBudget, JudgePlan, JudgePrice, Spent
from langgraph_prefetch.evaluation.judging.store import VerdictStore
from langgraph_prefetch.evaluation.judging.values import (
    Compared,
    Judged,
    JudgedPair,
    Reason,
    Sample,
    Scored,
    Unscored,
)

__all__ = [
    "ANSWER",
    "CORRECT",
    "GROUNDED",
    "Agreement",
    "Compared",
    "Coverage",
    "Judge",
    "JudgeBudget",
    "JudgeLimits",
    "JudgePlan",
    "JudgePrice",
    "Judged",
    "JudgedPair",
    "Judging",
    "PairSheet",
    "Reason",
    "Rubric",
    "Sample",
    "ScoreSheet",
    "Scored",
    "Spent",
    "Unscored",
    "VerdictStore",
    "judging_themselves",
]
