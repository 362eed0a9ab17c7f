"""Several judges: votes, and agreement as the textbooks have it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.evaluation.judging import Compared, Reason, Scored, Unscored
from langgraph_prefetch.evaluation.judging.agreement import agreement_of, agreement_of_scores
from langgraph_prefetch.evaluation.judging.votes import majority_vote, mean_vote

SILENT = Unscored(reason=Reason.TIMED_OUT)
FIRST, SECOND, TIE = Compared(winner="first"), Compared(winner="second"), Compared(winner="tie")


def test_scores_are_averaged_over_those_who_scored() -> None:
    """One of three judges may fail; the mean is that of the others."""
    verdict = mean_vote({"a": Scored(score=1.0), "b": Scored(score=0.5), "c": SILENT})
    assert isinstance(verdict, Scored)
    assert verdict.score == 0.75


def test_half_of_the_judges_are_no_quorum() -> None:
    """With one of two judges silent there is no score, and the reason names who was silent and why."""
    verdict = mean_vote({"a": Scored(score=1.0), "b": SILENT})
    assert verdict == Unscored(reason=Reason.NO_QUORUM, detail="b: judge timed out")


def test_one_reason_of_all_judges_stays_that_reason() -> None:
    """An empty answer is an empty answer, not a lack of judges."""
    empty = Unscored(reason=Reason.EMPTY_ANSWER)
    assert mean_vote({"a": empty, "b": empty}) == empty


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        ([FIRST, FIRST, SECOND], "first"),
        ([FIRST, SECOND, TIE], "tie"),
        ([FIRST, FIRST, SECOND, SECOND], "tie"),
        ([FIRST, TIE, TIE], "tie"),
        ([SECOND, SECOND, SILENT], "second"),
        ([FIRST, SECOND, SILENT], "tie"),
    ],
)
def test_more_than_half_decide(votes: list[Compared | Unscored], winner: str) -> None:
    """A plurality is not enough: whatever is not decided is a tie."""
    verdict = majority_vote(dict(zip("abcd", votes, strict=False)))
    assert isinstance(verdict, Compared)
    assert verdict.winner == winner


def test_cohens_kappa_of_a_worked_example() -> None:
    """Two readers of 50 proposals, 20 both yes, 15 both no, 5 and 10 apart: agreement 0.7, kappa 0.4."""
    ratings = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    found = agreement_of(ratings)
    assert found.name == "Cohen's kappa"
    assert found.raw == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)


def test_fleiss_kappa_of_the_worked_example() -> None:
    """Ten subjects, fourteen raters, five categories: P = 0.378, kappa = 0.210."""
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in counts]
    found = agreement_of(ratings)
    assert found.name == "Fleiss' kappa"
    assert found.raw == pytest.approx(0.378, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


def test_weighted_kappa_is_one_less_observed_over_expected_distance() -> None:
    """Two judges mostly one step apart agree exactly in one case of five, and well all the same."""
    one, other = [1, 2, 3, 4, 5], [2, 3, 4, 5, 5]
    seen = (1 + 1 + 1 + 1 + 0) / 5
    chance = sum((a - b) ** 2 for a in one for b in other) / 25
    found = agreement_of_scores(list(zip(one, other, strict=True)))
    assert found.raw == pytest.approx(0.2)
    assert found.kappa == pytest.approx(1 - seen / chance)


def test_agreement_without_anything_to_differ_in_is_not_known() -> None:
    """Judges that always say the same one thing agree by chance as well: there is no kappa, and no division by zero."""
    assert agreement_of([("a", "a")] * 9).kappa is None
    assert agreement_of([("a", "a", "a")] * 9).kappa is None
    assert agreement_of_scores([(1.0, 1.0)] * 9).kappa is None
    assert agreement_of([]).raw is None
    assert agreement_of([("a",)]).kappa is None


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=1, max_size=30))
def test_kappa_never_exceeds_perfect(ratings: list[list[str]]) -> None:
    """1 is the most, and only where all say the same."""
    found = agreement_of(ratings)
    assert found.raw is not None
    assert 0 <= found.raw <= 1
    if found.kappa is not None:
        assert found.kappa <= 1 + 1e-9
        assert (found.kappa > 1 - 1e-9) == (found.raw > 1 - 1e-9)
