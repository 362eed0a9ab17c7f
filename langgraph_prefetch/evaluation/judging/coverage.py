"""How much of what was asked got a verdict, and why the rest did not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, LowCoverageError
from langgraph_prefetch.evaluation.judging.values import Compared, Reason, Scored, Unscored

_LACKING = (Reason.NO_REFERENCE, Reason.NO_CONTEXTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many verdicts there are.

    Attributes:
        asked: samples or pairs that were to be judged.
        scored: of them, those with a score.
        reasons: of the others, how many for each reason.
    """

    asked: int
    scored: int
    reasons: Mapping[Reason, int]

    @property
    def share(self) -> float | None:
        """``scored / asked``; None if nothing was asked."""
        return self.scored / self.asked if self.asked else None

    @property
    def applicable(self) -> Coverage:
        """The same without samples that lack what the metric is about: no judge could have scored those."""
        lacking = {reason: count for reason, count in self.reasons.items() if reason in _LACKING}
        return Coverage(
            asked=self.asked - sum(lacking.values()),
            scored=self.scored,
            reasons={reason: count for reason, count in self.reasons.items() if reason not in lacking},
        )

    def reaches(self, minimum: float) -> bool:
        """Whether at least the share ``minimum`` has a score; never, if nothing was asked."""
        return self.asked > 0 and self.scored >= minimum * self.asked - 1e-9

    def require(self, minimum: float, what: str = "verdicts") -> None:
        """Nothing, if at least the share ``minimum`` (0 to 1) has a score.

        Raises:
            ConfigurationError: a minimum that is no share.
            LowCoverageError: it has not; so few verdicts say nothing about the others.
        """
        require_at_least("coverage", minimum, 0)
        if not minimum <= 1:
            raise ConfigurationError(f"coverage is a share of 1 at most, not {minimum!r}")
        if not self.reaches(minimum):
            raise LowCoverageError(what, self.scored, self.asked, minimum, self.named_reasons())

    def named_reasons(self) -> str:
        """The reasons in words, the most frequent first: ``3 judge timed out, 1 empty answer``."""
        ordered = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"{count} {reason}" for reason, count in ordered)


def coverage_of(verdicts: Iterable[Scored | Compared | Unscored]) -> Coverage:
    """Counts verdicts of either kind."""
    reasons: Counter[Reason] = Counter()
    scored = 0
    for verdict in verdicts:
        if isinstance(verdict, Unscored):
            reasons[verdict.reason] += 1
        else:
            scored += 1
    return Coverage(asked=scored + reasons.total(), scored=scored, reasons=dict(reasons))


def mean_score(verdicts: Iterable[Scored | Compared | Unscored]) -> float | None:
    """The mean of the scores there are; None, never NaN, if there are none. Say the coverage beside it."""
    scores = [verdict.score for verdict in verdicts if not isinstance(verdict, Unscored)]
    return math.fsum(scores) / len(scores) if scores else None
