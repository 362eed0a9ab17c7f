"""Tables of the report of ``quality``. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from langgraph_prefetch.evaluation.judging import Agreement, PairSheet, Sample, ScoreSheet
from langgraph_prefetch.evaluation.reporting.values import Table
from langgraph_prefetch.evaluation.statistics.paired import sign_test
from langgraph_prefetch.evaluation.statistics.proportions import proportion
from langgraph_prefetch.evaluation.statistics.shifts import paired_shift
from langgraph_prefetch.evaluation.statistics.values import MarginTest
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.cells import NONE, estimate, figure, p_value, share
from langgraph_prefetch.suites.quality_measures import ControlFound, by_question, unscored_by_arm, wins


def scores_table(tests: Sequence[tuple[ScoreSheet, MarginTest]], worst: MarginTest) -> Table:
    """The two arms by each metric, and the test against the margin."""
    rows = []
    for sheet, test in tests:
        paired = by_question(sheet.judged, BARE, WRAPPED)
        rows.append(
            (sheet.metric, str(len(paired.questions)), _mean(paired.first), _mean(paired.second), *_tested(test))
        )
    primary = tests[0][0].metric
    rows.append((f"{primary}, worst case", str(worst.difference.n), "", "", *_tested(worst)))
    notes = {_why(sheet.metric, test) for sheet, test in tests if test.difference.note}
    return Table(
        caption="Mean scores (0 worst, 1 best), by question",
        head=(
            "metric",
            "questions",
            BARE,
            WRAPPED,
            "wrapped less bare",
            "p against: lower by the margin or more",
            "non-inferior",
        ),
        rows=tuple(rows),
        note="; ".join(
            [
                "Runs of a question are averaged first; in the worst case every missing verdict counts against the "
                "wrapped agent",
                *sorted(notes),
            ]
        ),
    )


def controls_table(found: Sequence[ControlFound]) -> Table:
    """What was made worse on purpose, and whether the judges saw it."""
    return Table(
        caption="Corrupted on purpose: the judges must find these worse",
        head=("control", "metric", "original", "corrupted", "worse, same, better", "p", "found"),
        rows=tuple(
            (
                each.name,
                each.metric,
                NONE if each.original is None else _score(each.original),
                NONE if each.corrupted is None else _score(each.corrupted),
                f"{each.worse}, {each.same}, {each.better}",
                p_value(each.test.p_value),
                "yes" if each.detected else f"no {each.note}".strip(),
            )
            for each in found
        ),
        note="Sign test over questions; scores must fall by the margin on average as well",
    )


def pairs_table(sheet: PairSheet) -> Table:
    """Who won."""
    first, second, ties = wins(sheet)
    identical = sum(getattr(each.verdict, "identical", False) for each in sheet.pairs)
    test = sign_test(first, second, ties=ties)
    win = "none" if test.effect is None else estimate(test.effect)
    return Table(
        caption="Bare and wrapped, blind and in both orders",
        head=("pairs", "wrapped better", "tie", "of these identical", "bare better", "wrapped, of decided", "p"),
        rows=((str(len(sheet.pairs)), str(second), str(ties), str(identical), str(first), win, p_value(test.p_value)),),
        note="Orders that disagree make a tie. p is of a difference: a high one does not show that there is none",
    )


def places_table(sheets: Sequence[PairSheet], judges: Sequence[str]) -> Table:
    """Whether judges prefer a place to an answer; the control's pairs count as well."""
    rows = []
    for name in judges:
        firsts = [sheet.placed_by(name) for sheet in sheets]
        alike = [sheet.consistent_by(name) for sheet in sheets]
        first, named = sum(one for one, _ in firsts), sum(of for _, of in firsts)
        same, asked = sum(one for one, _ in alike), sum(of for _, of in alike)
        rows.append((name, str(asked), estimate(proportion(first, named)), share(same, asked)))
    return Table(
        caption="Places",
        head=("judge", "pairs asked", "the one shown first won", "both orders agree"),
        rows=tuple(rows),
        note="Of replies that named a winner; 0.5 is a judge without a preference for a place",
    )


def groups_table(caption: str, sheet: ScoreSheet, group_of: Callable[[Sample], str]) -> Table:
    """The primary metric in each group of questions."""
    names = sorted({group_of(each.sample) for each in sheet.judged})
    rows = []
    for name in names:
        paired = by_question([each for each in sheet.judged if group_of(each.sample) == name], BARE, WRAPPED)
        change = estimate(paired_shift(paired.first, paired.second)) if paired.questions else NONE
        rows.append(
            (name or "not stated", str(len(paired.questions)), _mean(paired.first), _mean(paired.second), change)
        )
    return Table(
        caption=f"{caption}: {sheet.metric}",
        head=("group", "questions", BARE, WRAPPED, "shift (Hodges-Lehmann)"),
        rows=tuple(rows),
    )


def agreement_table(sheets: Sequence[ScoreSheet], pairs: PairSheet | None) -> Table:
    """How far several judges agree."""
    found = [(sheet.metric, sheet.agreement) for sheet in sheets if sheet.judges]
    found += [("pairwise", pairs.agreement)] if pairs is not None else []
    return Table(
        caption="Agreement of the judges",
        head=("metric", "judges", "judged by all", "same verdict", "beyond chance"),
        rows=tuple((name, *_agreed(each)) for name, each in found),
        note="Beyond chance, 1 is perfect and 0 is chance: of scores, near being better than far, weighted "
        "kappa (Cohen); of comparisons Cohen's or Fleiss' kappa; none where all of them always say the same",
    )


def unscored_table(sheets: Sequence[ScoreSheet], pairs: PairSheet | None) -> Table:
    """What has no verdict, and why: it is in no mean."""
    rows = []
    for sheet in sheets:
        coverage = sheet.coverage.applicable
        rows.append((sheet.metric, "all", share(coverage.scored, coverage.asked), ""))
        rows += [
            (sheet.metric, arm, str(count), reason)
            for (arm, reason), count in sorted(unscored_by_arm(sheet.judged).items())
        ]
    if pairs is not None:
        coverage = pairs.coverage
        rows.append(("pairwise", "all", share(coverage.scored, coverage.asked), coverage.named_reasons()))
    return Table(
        caption="Coverage, and what has no verdict",
        head=("metric", "arm", "answers", "why"),
        rows=tuple(rows),
        note="Coverage is of the answers that a metric can be asked of: those that lack what it is about, such as "
        "contexts, are listed and do not count against it",
    )


def _why(metric: str, test: MarginTest) -> str:
    """What the difference has to say of itself; where all pairs are alike, how many of them it would have taken."""
    note, needed = test.difference.note, too_few(test)
    if needed is None:
        return note
    return (
        f"{metric}: {note}, and yet {test.difference.n} questions are too few to rule out a share of worse ones that "
        f"none of them happened to be: that takes {needed}"
    )


def too_few(test: MarginTest) -> int | None:
    """How many questions it takes where none differs; None where some do, or there are enough."""
    if test.not_lower or test.difference.value != 0 or test.p_lower is None or test.margin >= 1:
        return None
    return math.ceil(math.log(test.alpha) / math.log(1 - test.margin))


def _tested(test: MarginTest) -> tuple[str, str, str]:
    return estimate(test.difference), p_value(test.p_lower), "yes" if test.not_lower else "not shown"


def _agreed(found: Agreement) -> tuple[str, str, str, str]:
    raw = NONE if found.raw is None else f"{found.raw:.0%}"
    kappa = NONE if found.kappa is None else f"{found.name} {figure(found.kappa)}"
    return str(found.judges), str(found.subjects), raw, kappa


def _mean(values: Sequence[float]) -> str:
    return _score(sum(values) / len(values)) if values else NONE


def _score(value: float) -> str:
    return f"{value:.3f}"
