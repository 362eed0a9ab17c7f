"""What verdicts say of two arms: differences against the stated margin, and whether the controls were found. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.judging.sheets import PairSheet, ScoreSheet
from langgraph_prefetch.evaluation.judging.values import Compared, Judged, Scored, Unscored
from langgraph_prefetch.evaluation.statistics.equivalence import tost_paired
from langgraph_prefetch.evaluation.statistics.paired import sign_test
from langgraph_prefetch.evaluation.statistics.values import MarginTest, TestResult

SCALE = (0.0, 1.0)
ScoreOf = Callable[[Judged], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByQuestion:
    """Mean scores of two arms, one pair a question: runs of one question are not independent of each other."""

    questions: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFound:
    """What became of a positive control.

    Attributes:
        name: what was corrupted.
        metric: by which it was to be found worse.
        original, corrupted: mean scores; None without any.
        worse, better, same: questions whose corrupted form scored lower, higher, alike.
        test: that worse is more frequent than better.
        detected: it is, and by the margin on average.
        note: why it could not be told.
    """

    name: str
    metric: str
    original: float | None
    corrupted: float | None
    worse: int
    better: int
    same: int
    test: TestResult
    detected: bool
    note: str = ""


def score_of(judged: Judged) -> float | None:
    """The score, if there is one."""
    return judged.verdict.score if isinstance(judged.verdict, Scored) else None


def by_question(judged: Iterable[Judged], first: str, second: str, score: ScoreOf = score_of) -> ByQuestion:
    """Of the runs that both arms have a score for, the means by question."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for each in judged:
        value = score(each)
        if value is not None:
            found.setdefault((each.sample.question_id, each.sample.run), {})[each.sample.arm] = value
    paired: dict[str, list[tuple[float, float]]] = {}
    for (question, _), arms in found.items():
        if first in arms and second in arms:
            paired.setdefault(question, []).append((arms[first], arms[second]))
    return ByQuestion(
        questions=tuple(paired),
        first=tuple(_mean([one for one, _ in pairs]) for pairs in paired.values()),
        second=tuple(_mean([other for _, other in pairs]) for pairs in paired.values()),
    )


def difference(paired: ByQuestion, margin: float, alpha: float) -> MarginTest:
    """The second arm's scores less the first's, against the margin; scores lie between 0 and 1."""
    inside = all(SCALE[0] <= value <= SCALE[1] for value in (*paired.first, *paired.second))
    return tost_paired(paired.first, paired.second, margin, alpha=alpha, bounds=SCALE if inside else None)


def worst_case(judged: Sequence[Judged], first: str, second: str, margin: float, alpha: float) -> MarginTest:
    """The same if every missing verdict had gone against the second arm: its own counts as 0, the first's as 1.

    What is missing is seldom missing by chance, and this bounds what it can hide.
    """

    def score(each: Judged) -> float | None:
        known = score_of(each)
        if known is not None:
            return known
        return {first: SCALE[1], second: SCALE[0]}.get(each.sample.arm)

    return difference(by_question(judged, first, second, score), margin, alpha)


def control_of_scores(
    name: str, sheet: ScoreSheet, original: str, corrupted: str, margin: float, alpha: float
) -> ControlFound:
    """Whether a corruption was found by its scores."""
    paired = by_question(sheet.judged, original, corrupted)
    changes = [other - one for one, other in zip(paired.first, paired.second, strict=True)]
    worse, better = sum(change < 0 for change in changes), sum(change > 0 for change in changes)
    test = sign_test(better, worse, ties=len(changes) - worse - better)
    lower = _mean(changes) <= -margin if changes else False
    return ControlFound(
        name=name,
        metric=sheet.metric,
        original=_mean(paired.first) if changes else None,
        corrupted=_mean(paired.second) if changes else None,
        worse=worse,
        better=better,
        same=len(changes) - worse - better,
        test=test,
        detected=lower and worse > better and _below(test, alpha),
        note=_too_few(len(changes), alpha),
    )


def control_of_pairs(name: str, sheet: PairSheet, alpha: float) -> ControlFound:
    """Whether a corruption of the second of each pair was found by comparing."""
    first, second, ties = wins(sheet)
    test = sign_test(second, first, ties=ties)
    return ControlFound(
        name=name,
        metric="pairwise",
        original=None,
        corrupted=None,
        worse=first,
        better=second,
        same=ties,
        test=test,
        detected=first > second and _below(test, alpha),
        note=_too_few(first + second + ties, alpha),
    )


def wins(sheet: PairSheet) -> tuple[int, int, int]:
    """How often the first arm won, the second, and neither."""
    winners = [each.verdict.winner for each in sheet.pairs if isinstance(each.verdict, Compared)]
    return winners.count("first"), winners.count("second"), winners.count("tie")


def unscored_by_arm(judged: Iterable[Judged]) -> dict[tuple[str, str], int]:
    """How many samples of each arm have no score, for each reason."""
    counts: dict[tuple[str, str], int] = {}
    for each in judged:
        if isinstance(each.verdict, Unscored):
            key = (each.sample.arm, each.verdict.reason.value)
            counts[key] = counts.get(key, 0) + 1
    return counts


def _below(test: TestResult, alpha: float) -> bool:
    return test.p_value is not None and test.p_value < alpha


def _too_few(n: int, alpha: float) -> str:
    """A sign test of n questions, all of them worse, has p = 2 / 2^n."""
    least = math.ceil(1 - math.log2(alpha)) if alpha < 1 else 1
    return f"{n} questions are too few to find anything; it takes {least}" if 2 * 0.5**n >= alpha else ""


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
