"""What the rows of ``speed`` say of its hypotheses. A question asked again counts once. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.groups import kruskal_wallis
from langgraph_prefetch.evaluation.statistics.paired import paired_permutation
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.suites.agents import ARMS, BARE, DIRECT, WRAPPED
from langgraph_prefetch.suites.became import ALPHA, Answer, held, no_difference, p_said, said
from langgraph_prefetch.suites.cells import estimate
from langgraph_prefetch.suites.comparing import seconds_by_batch
from langgraph_prefetch.suites.pairing import Pairs, answered, pairs, searches
from langgraph_prefetch.suites.waiting import as_real, same_answers


def speed_answers(rows: Sequence[RunRow], *, seed: int) -> tuple[Answer, ...]:
    """One for each hypothesis of the suite's file, in its order."""
    return (_sooner(rows, seed), _warm(rows), _direct(rows), _batches(rows), _same(rows))


def _sooner(rows: Sequence[RunRow], seed: int) -> Answer:
    test = paired_permutation(*pairs(rows, BARE, WRAPPED, warm=False).by_question(), seed=seed)
    effect = None if test.effect is None else test.effect.value
    is_so = None if test.p_value is None or effect is None else test.p_value < ALPHA and effect < 0
    found = "none" if test.effect is None else estimate(test.effect, "s")
    return held(
        "Wrapped cold runs take less time than bare ones",
        is_so,
        f"mean difference {found}, {p_said(test.p_value)}, {test.n[0]} questions",
        otherwise="not shown",
    )


def _warm(rows: Sequence[RunRow]) -> Answer:
    claim = "Wrapped warm runs take no longer than wrapped cold ones"
    if not any(row.warm for row in rows):
        return held(claim, None, "there are no warm runs")
    ratio = geometric_mean_ratio(*_cold_and_warm(rows).by_question())
    bare = geometric_mean_ratio(*pairs(rows, BARE, WRAPPED, warm=True).by_question())
    is_so = None if ratio.interval is None else ratio.interval.high <= 1
    return held(
        claim,
        is_so,
        f"warm / cold, by question: {said(ratio)}; wrapped / bare, warm: {said(bare)}",
        otherwise="not shown",
    )


def _cold_and_warm(rows: Sequence[RunRow]) -> Pairs:
    def place(row: RunRow) -> tuple[str, int, int]:
        return row.question_id, row.batch, row.repeat

    warm = {place(row): row for row in answered(rows, arm=WRAPPED, warm=True)}
    cold = [row for row in answered(rows, arm=WRAPPED, warm=False) if place(row) in warm]
    return Pairs(tuple(cold), tuple(warm[place(row)] for row in cold))


def _direct(rows: Sequence[RunRow]) -> Answer:
    ratio = geometric_mean_ratio(*pairs(rows, BARE, DIRECT, warm=False).by_question())
    claim = "A direct run takes as long as a bare one"
    if ratio.interval is None:
        return held(claim, None, f"direct / bare, by question: {said(ratio)}")
    inside = ratio.interval.low <= 1 <= ratio.interval.high
    found = f"direct / bare, by question: {estimate(ratio)}; equal to within these bounds, and no closer is shown"
    return held(claim, False, found, otherwise="no difference found" if inside else "not held")


def _batches(rows: Sequence[RunRow]) -> Answer:
    found = [(arm, kruskal_wallis(seconds_by_batch(rows, arm, warm=False))) for arm in ARMS]
    return no_difference("Batches do not differ", found)


def _same(rows: Sequence[RunRow]) -> Answer:
    found = pairs(rows, BARE, WRAPPED)
    alike = [one.answer == other.answer for one, other in zip(found.first, found.second, strict=True)]
    real = [
        each.as_real
        for each in searches(answered(rows, arm=WRAPPED))
        if each.answered != "ran" and each.as_real is not None
    ]
    is_so = all(alike) and all(real) if alike else None
    return held(
        "Answers and passages of bare and wrapped runs are the same",
        is_so,
        f"answers: {same_answers(rows)}; served passages as searched again: {as_real(answered(rows, arm=WRAPPED))}",
    )
