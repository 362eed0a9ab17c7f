"""Comparing two answers blind, in both orders: a judge that prefers a place to an answer makes ties, not winners."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph_prefetch.evaluation.judging.prompts import PairReply
from langgraph_prefetch.evaluation.judging.rubric import shown, unjudgeable
from langgraph_prefetch.evaluation.judging.values import (
    Compared,
    PairVerdict,
    Preference,
    Sample,
    Unscored,
)

_SWAPPED: dict[str, Preference] = {"first": "second", "second": "first", "tie": "tie"}
_AS_SHOWN: dict[str, Preference] = {"first": "first", "second": "second", "tie": "tie"}


def settled(first: Sample, second: Sample) -> PairVerdict | None:
    """The verdict on a pair that no judge needs to be asked about: one has no answer, or both are the same text."""
    for sample in (first, second):
        reason = unjudgeable(sample)
        if reason is not None:
            return Unscored(reason=reason.reason, detail=f"{sample.arm}: {reason.detail}".rstrip(": "))
    if first.answer.strip() == second.answer.strip():
        return Compared(winner="tie", identical=True)
    return None


def pair_data(shown_first: Sample, shown_second: Sample) -> dict[str, Any]:
    """What the judge sees of a pair in one order; not which arm is which.

    The contexts are those of both, without saying whose. They are sorted, so that the two askings differ in nothing but
    the places of the answers.
    """
    contexts = sorted({*shown_first.contexts, *shown_second.contexts})
    return {
        "question": shown_first.question,
        **shown(shown_first, ("reference",)),
        **({"contexts": contexts} if contexts else {}),
        "first": shown_first.answer,
        "second": shown_second.answer,
    }


def combined(as_is: PairReply | Unscored, swapped: PairReply | Unscored) -> PairVerdict:
    """What both orders came to: the arm that both name, or else a tie; unscored unless both were answered."""
    for reply in (as_is, swapped):
        if isinstance(reply, Unscored):
            return reply
    assert isinstance(as_is, PairReply)
    assert isinstance(swapped, PairReply)
    ways = _AS_SHOWN[as_is.better], _SWAPPED[swapped.better]
    named = [reply.better for reply in (as_is, swapped) if reply.better != "tie"]
    return Compared(
        winner=ways[0] if ways[0] == ways[1] else "tie",
        agreed=ways[0] == ways[1],
        placed=(named.count("first"), len(named)),
        why=(as_is.reasoning, swapped.reasoning),
    )


def placed(verdicts: Iterable[PairVerdict]) -> tuple[int, int]:
    """Of all replies that named a winner, how often the one shown first won, and their number; half is unbiased."""
    pairs = [verdict.placed for verdict in verdicts if isinstance(verdict, Compared)]
    return sum(first for first, _ in pairs), sum(of for _, of in pairs)


def agreed(verdicts: Iterable[PairVerdict]) -> tuple[int, int]:
    """How many pairs were judged alike in both orders, and how many were asked."""
    asked = [verdict for verdict in verdicts if isinstance(verdict, Compared) and not verdict.identical]
    return sum(verdict.agreed for verdict in asked), len(asked)
