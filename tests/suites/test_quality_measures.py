"""Samples, pairs and controls; differences against a margin, and what is missing at its worst."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.evaluation.judging import Judged, Reason, Sample, Scored, ScoreSheet, Spent, Unscored
from langgraph_prefetch.suites.quality_measures import by_question, control_of_scores, difference, worst_case
from langgraph_prefetch.suites.quality_samples import (
    one_each,
    pairs_of,
    sample_of,
    with_others_answers,
    with_others_contexts,
)
from tests.suites.quality_rows import row, rows


def judged(question: str, arm: str, score: float | None, run: str = "") -> Judged:
    verdict = Unscored(reason=Reason.TIMED_OUT) if score is None else Scored(score=score)
    return Judged(
        sample=Sample(question_id=question, question="?", answer="a", arm=arm, run=run), verdict=verdict, by_judge={}
    )


def test_runs_of_a_question_are_one_observation() -> None:
    """Asking one question ten times is no ten questions; a run whose partner has no score is left out on both sides."""
    found = by_question(
        [
            *(judged("q1", "bare", 1.0, "1"), judged("q1", "wrapped", 0.5, "1")),
            *(judged("q1", "bare", 0.0, "2"), judged("q1", "wrapped", 0.5, "2")),
            *(judged("q2", "bare", 1.0), judged("q2", "wrapped", None)),
        ],
        "bare",
        "wrapped",
    )
    assert (found.questions, found.first, found.second) == (("q1",), (0.5,), (0.5,))


def test_the_worst_case_counts_what_is_missing_against_the_second_arm() -> None:
    """Its own missing verdicts are 0, the first's are 1."""
    given = [judged(f"q{n}", arm, 0.5) for arm in ("bare", "wrapped") for n in range(8)]
    given += [
        judged("x", "bare", 0.5),
        judged("x", "wrapped", None),
        judged("y", "bare", None),
        judged("y", "wrapped", 0.5),
    ]
    assert difference(by_question(given, "bare", "wrapped"), 0.1, 0.05).difference.value == 0
    worst = worst_case(given, "bare", "wrapped", 0.1, 0.05)
    assert worst.difference.n == 10
    assert worst.difference.value == pytest.approx(-0.1)


def sheet(*changes: float) -> ScoreSheet:
    found = [judged(f"q{n}", "bare", 0.5) for n in range(len(changes))]
    found += [judged(f"q{n}", "corrupted", 0.5 + change) for n, change in enumerate(changes)]
    return ScoreSheet(metric="answer@1", judges=("j",), judged=tuple(found), spent=Spent())


@pytest.mark.parametrize(
    ("changes", "detected"),
    [
        ([-0.5] * 6, True),
        ([-0.5] * 5, False),  # too few for any sign test
        ([-0.01] * 20, False),  # worse each time, and by less than matters
        ([-0.5, 0.5] * 10, False),
        ([0.5] * 20, False),
        ([0.0] * 20, False),
        ([], False),
    ],
)
def test_a_control_is_found_if_it_is_worse_often_and_by_enough(changes: list[float], detected: bool) -> None:
    """Both: one alone would let a careless judge pass."""
    found = control_of_scores("answers", sheet(*changes), "bare", "corrupted", 0.05, 0.05)
    assert found.detected is detected
    assert bool(found.note) is (len(changes) < 6)


@given(st.integers(min_value=2, max_value=16))
def test_nobody_keeps_his_own(count: int) -> None:
    """A control is another question's answer, or another question's contexts, and everything else as it was."""
    base = one_each([sample_of(each) for each in rows(count)], "bare", 100, seed=3)
    for original, corrupted in with_others_answers(base):
        assert corrupted.answer != original.answer
        assert (corrupted.question, corrupted.contexts) == (original.question, original.contexts)
    for original, corrupted in with_others_contexts(base):
        assert not {*original.contexts} & {*corrupted.contexts}
        assert (corrupted.question, corrupted.answer) == (original.question, original.answer)
    assert len(with_others_answers(base)) == len(with_others_contexts(base)) == count


def test_a_control_keeps_the_language_where_it_can() -> None:
    """An answer in another language would be found for that reason alone."""
    base = one_each([sample_of(each) for each in rows(10)], "bare", 100, seed=3)
    languages = {sample.answer: sample.language for sample in base}
    assert all(languages[corrupted.answer] == original.language for original, corrupted in with_others_answers(base))


def test_samples_carry_what_judges_may_see() -> None:
    """Passages of all searches, each once and in order; the reason of a failed run."""
    failed = sample_of(row(1, "wrapped", answer="", error="TimeoutError", searches=row(2, "x").searches * 2, warm=True))
    assert len(failed.contexts) == 1
    assert (failed.error, failed.run) == ("TimeoutError", "batch 0, repeat 0, warm")


def test_failed_runs_stay_in_their_pairs() -> None:
    """Leaving them out would hide that one arm fails more often."""
    samples = [sample_of(row(1, "bare")), sample_of(row(1, "wrapped", answer="", error="x")), sample_of(row(2, "bare"))]
    ((first, second),) = pairs_of(samples, "bare", "wrapped")
    assert (first.error, second.error) == (None, "x")
