"""What several judges come to together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from langgraph_prefetch.evaluation.judging.values import (
    Compared,
    PairVerdict,
    Reason,
    Scored,
    Unscored,
    Verdict,
)


def mean_vote(by_judge: Mapping[str, Verdict]) -> Verdict:
    """The mean of the judges' scores. Unless more than half of them scored, there is no score."""
    scored = [verdict for verdict in by_judge.values() if isinstance(verdict, Scored)]
    if 2 * len(scored) <= len(by_judge):
        return _no_quorum(by_judge)
    return Scored(
        score=math.fsum(verdict.score for verdict in scored) / len(scored),
        why=scored[0].why if len(by_judge) == 1 else "",
    )


def majority_vote(by_judge: Mapping[str, PairVerdict]) -> PairVerdict:
    """The arm that more than half of those who replied name, or else a tie. Unless more than half replied: unscored."""
    replied = [verdict for verdict in by_judge.values() if isinstance(verdict, Compared)]
    if 2 * len(replied) <= len(by_judge):
        return _no_quorum(by_judge)
    winner, votes = Counter(verdict.winner for verdict in replied).most_common(1)[0]
    return Compared(
        winner=winner if 2 * votes > len(replied) else "tie",
        agreed=all(verdict.agreed for verdict in replied),
        identical=all(verdict.identical for verdict in replied),
        placed=(sum(verdict.placed[0] for verdict in replied), sum(verdict.placed[1] for verdict in replied)),
        why=tuple(why for verdict in replied for why in verdict.why),
    )


def _no_quorum(by_judge: Mapping[str, Verdict] | Mapping[str, PairVerdict]) -> Unscored:
    reasons = {name: verdict for name, verdict in by_judge.items() if isinstance(verdict, Unscored)}
    kinds = {verdict.reason for verdict in reasons.values()}
    if len(reasons) == len(by_judge) and len(kinds) == 1:  # all of them for one reason: that one says more
        first = next(iter(reasons.values()))
        return Unscored(reason=first.reason, detail=first.detail)
    said = "; ".join(f"{name}: {verdict.reason}" for name, verdict in reasons.items())
    return Unscored(reason=Reason.NO_QUORUM, detail=said)
