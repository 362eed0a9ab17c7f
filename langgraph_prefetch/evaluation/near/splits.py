"""Calibrated on one half of the questions, measured on the other, over many random splits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.near.observed import Observed
from langgraph_prefetch.near.binomial import upper_bound
from langgraph_prefetch.near.control import WARM_UP
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.threshold import Checked, first_threshold, passing

Accepts = Callable[[Observed], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One file, or all, in the measured half of one split.

    Attributes:
        calls: search calls.
        accepted: of them answered from the neighbourhood.
        proved: of those by the certificate.
        wrong: of the accepted, wrong sets.
        recall: summed over the accepted.
    """

    calls: int
    accepted: int
    proved: int
    wrong: int
    recall: float

    @property
    def rate(self) -> float:
        """Wrong sets among the accepted."""
        return self.wrong / self.accepted if self.accepted else 0.0

    @property
    def upper95(self) -> float:
        """The one-sided Clopper-Pearson bound of the rate."""
        return upper_bound(self.wrong, self.accepted, 0.95) if self.accepted else 0.0


def halves(calls: Sequence[Observed], splits: int, seed: int) -> Iterator[tuple[list[Observed], list[Observed]]]:
    """Random halves of the questions: all calls of a question, in whatever run and file, fall on the same side."""
    questions = sorted({call.question for call in calls})
    for number in range(splits):
        order = questions[:]
        random.Random(f"{seed} {number}").shuffle(order)  # noqa: S311 - no secret
        first = set(order[: len(order) // 2])
        yield [call for call in calls if call.question in first], [call for call in calls if call.question not in first]


def calibrated(known: Sequence[Observed], settings: NearSettings, seed: object) -> float | None:
    """The threshold of the reach that passes on ``known``; None where nothing but proved answers may be served.

    One test at the full confidence, of calls in random order, the first few telling only where to begin; a query that
    was right before is no new evidence when it is right again. What :class:`~langgraph_prefetch.near.control.Control`
    does, which has to share its confidence among several looks.
    """
    order = list(known)
    random.Random(f"{seed}").shuffle(order)  # noqa: S311 - no secret
    news: list[Checked] = []
    right_before: set[str] = set()
    for call in order:
        if call.wrong or call.query not in right_before:
            news.append(Checked(call.reach, call.wrong))
            if not call.wrong:
                right_before.add(call.query)
    warm, pool = [call.reach for call in news[:WARM_UP]], news[WARM_UP:]
    first = first_threshold(warm, len(pool), settings.epsilon, settings.confidence)
    passed = passing(pool, first, settings.epsilon, settings.confidence)
    return passed[-1].threshold if passed else None


def measure(calls: Sequence[Observed], threshold: float | None) -> Measured:
    """What would have been served under ``threshold``."""
    accepted = [call for call in calls if call.proved or (threshold is not None and call.reach > threshold)]
    return Measured(
        calls=len(calls),
        accepted=len(accepted),
        proved=sum(call.proved for call in accepted),
        wrong=sum(call.wrong for call in accepted),
        recall=sum(call.recall for call in accepted),
    )
