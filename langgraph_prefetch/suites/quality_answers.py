"""What the verdicts of ``quality`` say of its hypotheses. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langgraph_prefetch.evaluation.judging import PairSheet
from langgraph_prefetch.evaluation.statistics.paired import sign_test
from langgraph_prefetch.evaluation.statistics.values import MarginTest
from langgraph_prefetch.suites.became import Answer, held, no_difference, p_said, said
from langgraph_prefetch.suites.quality_measures import ControlFound, wins

if TYPE_CHECKING:
    from langgraph_prefetch.evaluation.judging import ScoreSheet


def quality_answers(
    tests: Sequence[tuple[ScoreSheet, MarginTest]], pairs: PairSheet | None, controls: Sequence[ControlFound]
) -> tuple[Answer, ...]:
    """Of each metric, of the comparison, and of each control."""
    (primary, first), *others = tests
    return (
        _not_inferior(primary.metric, first),
        *((_compared(pairs),) if pairs is not None else ()),
        *(_not_inferior(sheet.metric, test) for sheet, test in others),
        *(_control(each) for each in controls),
    )


def _not_inferior(metric: str, test: MarginTest) -> Answer:
    return held(
        f"By {metric}, wrapped answers are lower by less than {test.margin:g}",
        None if test.p_lower is None else test.not_lower,
        f"difference {said(test.difference)}, {p_said(test.p_lower)}, {test.difference.n} questions",
        otherwise="not shown",
    )


def _compared(sheet: PairSheet) -> Answer:
    first, second, ties = wins(sheet)
    answer = no_difference(
        "Compared blind, neither arm's answers win more often", [("sign test", sign_test(first, second, ties=ties))]
    )
    alike = sum(getattr(each.verdict, "identical", False) for each in sheet.pairs)
    counts = f"wrapped {second}, bare {first}, ties {ties}, of which {alike} are the same text"
    if not first + second and ties:
        return held(answer.claim, True, f"no pair was decided: {counts}")
    return Answer(claim=answer.claim, became=answer.became, found=f"{counts}; {answer.found}")


def _control(each: ControlFound) -> Answer:
    return held(
        f"The judges find what was made worse on purpose, by {each.metric}: {each.name}",
        each.detected,
        f"worse {each.worse}, same {each.same}, better {each.better}, {p_said(each.test.p_value)}"
        + (f"; {each.note}" if each.note else ""),
    )
