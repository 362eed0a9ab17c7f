"""What a run of judges came to, as values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.judging.agreement import Agreement, agreement_of, agreement_of_scores
from langgraph_prefetch.evaluation.judging.coverage import Coverage, coverage_of, mean_score
from langgraph_prefetch.evaluation.judging.pairwise import agreed, placed
from langgraph_prefetch.evaluation.judging.spending import Spent
from langgraph_prefetch.evaluation.judging.values import Compared, Judged, JudgedPair, Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSheet:
    """Samples with their verdicts.

    Attributes:
        metric: what they were scored by, such as ``answer@1``.
        judges: names.
        judged: one of each sample, in the order they were given.
        spent: by the :class:`~langgraph_prefetch.evaluation.judging.judging.Judging` so far.
        stopped: why some were not judged, such as a budget that was used up; None if all were asked.
    """

    metric: str
    judges: tuple[str, ...]
    judged: tuple[Judged, ...]
    spent: Spent
    stopped: str | None = None

    @property
    def coverage(self) -> Coverage:
        """How many samples got a score, and why the others did not."""
        return coverage_of(each.verdict for each in self.judged)

    @property
    def mean(self) -> float | None:
        """Of the scores there are; None without any."""
        return mean_score(each.verdict for each in self.judged)

    @property
    def agreement(self) -> Agreement:
        """Of the judges, on the samples that all of them scored."""
        return agreement_of_scores(list(self._ratings()))

    def _ratings(self) -> Iterable[Sequence[float]]:
        for each in self.judged:
            verdicts = [each.by_judge.get(name) for name in self.judges]
            scores = [verdict.score for verdict in verdicts if isinstance(verdict, Scored)]
            if len(scores) == len(self.judges):
                yield scores


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSheet:
    """Pairs with their verdicts.

    Attributes:
        judges: names.
        pairs: in the order they were given.
        spent: by the :class:`~langgraph_prefetch.evaluation.judging.judging.Judging` so far.
        stopped: why some were not judged; None if all were asked.
    """

    judges: tuple[str, ...]
    pairs: tuple[JudgedPair, ...]
    spent: Spent
    stopped: str | None = None

    @property
    def coverage(self) -> Coverage:
        """How many pairs got a verdict, and why the others did not."""
        return coverage_of(each.verdict for each in self.pairs)

    @property
    def placed(self) -> tuple[int, int]:
        """How often the answer shown first won, over all judges, and of how many replies that named a winner."""
        return placed(verdict for each in self.pairs for verdict in each.by_judge.values())

    def placed_by(self, judge: str) -> tuple[int, int]:
        """The same of one judge."""
        return placed(each.by_judge[judge] for each in self.pairs if judge in each.by_judge)

    @property
    def consistent(self) -> tuple[int, int]:
        """How many pairs a judge saw alike in both orders, over all judges, and of how many."""
        return agreed(verdict for each in self.pairs for verdict in each.by_judge.values())

    def consistent_by(self, judge: str) -> tuple[int, int]:
        """The same of one judge."""
        return agreed(each.by_judge[judge] for each in self.pairs if judge in each.by_judge)

    @property
    def agreement(self) -> Agreement:
        """Of the judges, on the pairs that all of them judged; identical answers, which nobody judged, left out."""
        rows: list[list[Hashable]] = []
        for each in self.pairs:
            verdicts = [each.by_judge.get(name) for name in self.judges]
            winners = [v.winner for v in verdicts if isinstance(v, Compared) and not v.identical]
            if len(winners) == len(self.judges):
                rows.append(list(winners))
        return agreement_of(rows)
