"""Several judges: what they come to together, and how far they agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far judges agree on the subjects that all of them judged.

    Attributes:
        judges, subjects: how many.
        raw: the share of pairs of judges that said the same, from 0 to 1; None without two judges or without subjects.
        kappa: the same beyond chance: 1 is perfect, 0 is chance. Cohen's (1960) for two judges, Fleiss' (1971) for
            more. None where chance alone would agree always, as when all judges always say the same one thing.
        name: of the kappa.
    """

    judges: int
    subjects: int
    raw: float | None
    kappa: float | None
    name: str


def agreement_of(ratings: Sequence[Sequence[Hashable]]) -> Agreement:
    """The agreement of judges, from one row of categories for each subject, one for each judge, in one order."""
    judges = len(ratings[0]) if ratings else 0
    if judges < 2:
        return Agreement(judges=judges, subjects=len(ratings), raw=None, kappa=None, name="")
    raw = _raw(ratings, judges)
    if judges == 2:
        return Agreement(judges=2, subjects=len(ratings), raw=raw, kappa=_cohen(ratings, raw), name="Cohen's kappa")
    kappa = _beyond(raw, _chance(Counter(each for row in ratings for each in row)))
    return Agreement(judges=judges, subjects=len(ratings), raw=raw, kappa=kappa, name="Fleiss' kappa")


def _raw(ratings: Sequence[Sequence[Hashable]], judges: int) -> float:
    pairs = judges * (judges - 1)
    agreeing = (sum(count * (count - 1) for count in Counter(row).values()) / pairs for row in ratings)
    return math.fsum(agreeing) / len(ratings)


def _cohen(ratings: Sequence[Sequence[Hashable]], raw: float) -> float | None:
    first, second = Counter(row[0] for row in ratings), Counter(row[1] for row in ratings)
    chance = sum(first[each] * second[each] for each in first) / len(ratings) ** 2
    return _beyond(raw, chance)


def _chance(counts: Counter[Hashable]) -> float:
    return sum(count**2 for count in counts.values()) / counts.total() ** 2


def _beyond(raw: float, chance: float) -> float | None:
    return None if math.isclose(chance, 1.0) else (raw - chance) / (1 - chance)
