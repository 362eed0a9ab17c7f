"""A verdict is a score or a reason; means and coverage are made of the one and count the other."""

import math

import pytest

from langgraph_prefetch.errors import ConfigurationError, LowCoverageError
from langgraph_prefetch.evaluation.judging import Reason, Sample, Scored, Unscored
from langgraph_prefetch.evaluation.judging.coverage import coverage_of, mean_score
from langgraph_prefetch.evaluation.judging.rubric import GROUNDED, rubric_data, unjudgeable

TIMED_OUT = Unscored(reason=Reason.TIMED_OUT)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_no_score(value: float) -> None:
    """NaN cannot become a score, whoever hands it in."""
    with pytest.raises(ValueError, match="Unscored"):
        Scored(score=value)


def test_an_unscored_sample_is_in_no_mean() -> None:
    """It counts neither as 0 nor as anything else, and it is not forgotten."""
    verdicts: list[Scored | Unscored] = [Scored(score=1.0), Scored(score=0.5), TIMED_OUT]
    assert mean_score(verdicts) == 0.75
    coverage = coverage_of(verdicts)
    assert (coverage.asked, coverage.scored, coverage.reasons) == (3, 2, {Reason.TIMED_OUT: 1})


def test_without_scores_there_is_no_mean() -> None:
    """None, not NaN and not 0; and the coverage of nothing is not full."""
    assert mean_score([TIMED_OUT]) is None
    assert mean_score([]) is None
    assert coverage_of([]).share is None
    assert not coverage_of([]).reaches(0.0)


def test_too_little_coverage_fails_and_counts_the_reasons() -> None:
    """Below the set coverage nothing can be said, and the error says why; at it, all is well."""
    coverage = coverage_of([Scored(score=1.0)] * 9 + [TIMED_OUT])
    coverage.require(0.9)
    with pytest.raises(LowCoverageError, match=r"9 of 10 answers \(90%\), less than the 95% .* 1 judge timed out"):
        coverage.require(0.95, "answers")
    with pytest.raises(ConfigurationError, match="share of 1"):
        coverage.require(95)


def test_what_no_judge_could_have_scored_is_set_apart() -> None:
    """A metric of contexts says nothing of answers that had none; that is no fault of the judges."""
    coverage = coverage_of([Scored(score=1.0), TIMED_OUT, Unscored(reason=Reason.NO_CONTEXTS)]).applicable
    assert (coverage.asked, coverage.scored, coverage.named_reasons()) == (2, 1, "1 judge timed out")


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample(question_id="q", question="?", answer="", error="the tool failed"), Reason.RUN_FAILED),
        (Sample(question_id="q", question="?", answer=" \n"), Reason.EMPTY_ANSWER),
        (Sample(question_id="q", question="?", answer="a"), Reason.NO_CONTEXTS),
        (Sample(question_id="q", question="?", answer="a", contexts=(" ",)), Reason.NO_CONTEXTS),
    ],
)
def test_what_is_unscored_before_anybody_is_asked(sample: Sample, reason: Reason) -> None:
    """A failed run, an empty answer and a missing part have their own reasons."""
    verdict = unjudgeable(sample, GROUNDED.needs)
    assert verdict is not None
    assert verdict.reason == reason


def test_a_judge_is_not_told_who_answered() -> None:
    """What it sees names no arm, no run and no label of the question."""
    sample = Sample(question_id="id-7", question="Q", answer="A", arm="wrapped", kind="fact", run="r1", contexts=("C",))
    assert rubric_data(GROUNDED, sample) == {"question": "Q", "answer": "A", "contexts": ["C"]}
