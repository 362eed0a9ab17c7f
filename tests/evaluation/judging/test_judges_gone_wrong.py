"""Judges that flip, talk, prefer a place, fail, dawdle or make no sense: none of it becomes a number."""

from typing import get_args

import pytest
from langchain_anthropic import ChatAnthropic

from langgraph_prefetch.evaluation.judging import Compared, Judge, Judging, Reason, Sample, Scored, Unscored
from langgraph_prefetch.testing.judge.behaviours import (
    Behaviour,
    Fault,
    Flipping,
    Malformed,
    Waiting,
    failing,
    first_place,
    refusing,
    sensible,
    throttled,
    verbose,
)
from langgraph_prefetch.testing.wire import AnthropicWire, Request, Turn
from tests.evaluation.judging.served import NONSENSE, bridge, bridges, judging

FAULTS: tuple[Fault, ...] = get_args(Fault)


def pairs(count: int) -> list[tuple[Sample, Sample]]:
    return [(bridge(n), bridge(n, arm="wrapped", answer=NONSENSE)) for n in range(1, count + 1)]


def test_a_sensible_judge_tells_good_from_bad() -> None:
    """The instrument of all other tests works: support makes the score, and wins the comparison in both orders."""
    with judging() as (panel, _):
        sheet = panel.score([bridge(1), bridge(2, answer=NONSENSE)])
        assert [each.verdict.score for each in sheet.judged if isinstance(each.verdict, Scored)] == [1.0, 0.0]
        compared = panel.compare([(bridge(1), bridge(1, arm="wrapped", answer=NONSENSE))])
        (pair,) = compared.pairs
        assert isinstance(pair.verdict, Compared)
        assert (pair.verdict.winner, pair.verdict.agreed, pair.verdict.score) == ("first", True, 0.0)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        *((Malformed(fault), Reason.MALFORMED) for fault in FAULTS),
        (verbose, Reason.VERBOSE),
        (refusing, Reason.REFUSED),
        (failing, Reason.FAILED),
        (throttled, Reason.FAILED),
    ],
    ids=lambda each: getattr(each, "fault", getattr(each, "__name__", "")),
)
def test_what_is_no_verdict_is_unscored_with_its_reason(behaviour: Behaviour, reason: Reason) -> None:
    """Neither 0 nor NaN nor gone: each sample and each pair has the reason, and the mean is None."""
    with judging(behaviour) as (panel, server):
        sheet = panel.score(bridges(2))
        assert [each.verdict.reason for each in sheet.judged if isinstance(each.verdict, Unscored)] == [reason] * 2
        assert (sheet.mean, sheet.coverage.scored, sheet.coverage.asked) == (None, 0, 2)
        compared = panel.compare([(bridge(1), bridge(1, arm="wrapped", answer=NONSENSE))])
        assert compared.coverage.reasons == {reason: 1}
        assert server.failures == ()


def test_the_reply_that_was_no_verdict_is_kept() -> None:
    """Whoever asks why a sample has no score can read what the judge said."""
    with judging(Malformed("prose")) as (panel, _):
        panel.score([bridge(1)])
        (answer,) = panel.store._answers.values()
        assert answer.text.startswith("On the whole I would say:\n")


@pytest.mark.parametrize(("behaviour", "mean"), [(sensible, 1.0), (Malformed("out of range"), None), (failing, None)])
def test_a_model_of_another_provider_is_a_judge_as_well(behaviour: Behaviour, mean: float | None) -> None:
    """One that replies through a tool call: its arguments are read as strictly."""
    with AnthropicWire(behaviour) as server:
        model = ChatAnthropic(model="claude-x", base_url=server.url, api_key="none", max_retries=0)
        panel = Judging([Judge(name="anthropic:claude-x", model=model)])
        assert panel.score(bridges(2)).mean == mean
        assert panel.compare(pairs(1)).coverage.scored == (1 if mean else 0)


def test_a_judge_that_never_answers_is_given_up() -> None:
    """Each call ends in time, and after a few in a row the others are not made: a run of thousands ends as well."""
    with judging(Waiting(), timeout_seconds=0.2, give_up_after=2, max_concurrency=1) as (panel, server):
        sheet = panel.score(bridges(50))
        assert sheet.coverage.reasons == {Reason.TIMED_OUT: 2, Reason.GAVE_UP: 48}
        assert sheet.stopped == "48 not asked: judge given up"
        assert len(server.requests) == 2


def test_a_reply_resets_the_count_of_silent_calls() -> None:
    """Failures that are not in a row do not end the judging."""
    asked = iter(range(100))

    def every_other(request: Request) -> Turn:
        return (failing if next(asked) % 2 else sensible)(request)

    with judging(every_other, give_up_after=2, max_concurrency=1) as (panel, _):
        assert panel.score(bridges(8)).coverage.reasons == {Reason.FAILED: 4}


def test_a_judge_that_prefers_the_first_place_makes_ties() -> None:
    """Both orders are asked; they contradict each other, so that nobody wins, and the rate of places gives it away."""
    with judging(first_place) as (panel, server):
        sheet = panel.compare(pairs(6))
        assert [each.verdict.winner for each in sheet.pairs if isinstance(each.verdict, Compared)] == ["tie"] * 6
        assert (sheet.placed, sheet.consistent) == ((12, 12), (0, 6))
        assert len(server.requests) == 12


def test_a_judge_without_a_preference_for_a_place_has_a_rate_of_one_half() -> None:
    """The one shown first wins in exactly one of the two orders."""
    with judging() as (panel, _):
        sheet = panel.compare(pairs(6))
        assert (sheet.placed, sheet.consistent) == ((6, 12), (6, 6))


def test_a_flipping_judge_does_not_agree_with_itself() -> None:
    """What a coin says is no verdict on the answers: many pairs are ties, and the share of consistent pairs is low."""
    with judging(Flipping(seed=1)) as (panel, _):
        sheet = panel.compare(pairs(24))
        same, asked = sheet.consistent
        assert asked == 24
        assert same < 20


def test_the_first_and_second_of_a_pair_are_shown_in_both_places() -> None:
    """The two askings differ in nothing but the places."""
    with judging() as (panel, server):
        panel.compare([(bridge(1), bridge(1, arm="wrapped", answer=NONSENSE))])
        one, other = sorted(request.prompt for request in server.requests)
        assert one.replace(NONSENSE, "X") != one
        assert sorted(one) == sorted(other)
        assert "wrapped" not in one + other
        assert "bare" not in one + other


def test_identical_answers_are_a_tie_for_which_nobody_is_paid() -> None:
    """Where prefetch changes nothing, comparing costs nothing, and says nothing of the judge."""
    with judging() as (panel, server):
        sheet = panel.compare([(bridge(1), bridge(1, arm="wrapped", contexts=("other",)))])
        (pair,) = sheet.pairs
        assert isinstance(pair.verdict, Compared)
        assert (pair.verdict.winner, pair.verdict.identical) == ("tie", True)
        assert (sheet.placed, len(server.requests)) == ((0, 0), 0)


def test_a_pair_of_which_one_run_failed_is_unscored() -> None:
    """It is neither a win of the other nor left out."""
    with judging() as (panel, server):
        sheet = panel.compare([(bridge(1), bridge(1, arm="wrapped", answer="", error="TimeoutError"))])
        (pair,) = sheet.pairs
        assert pair.verdict == Unscored(reason=Reason.RUN_FAILED, detail="wrapped: TimeoutError")
        assert len(server.requests) == 0


def test_refusals_empty_and_korean_answers_each_have_a_status() -> None:
    """A refusal is judged, an empty answer is not, and a Korean one is as good as an English one."""
    samples = [
        bridge(1, answer="I don't know."),
        bridge(2, answer=""),
        bridge(
            3,
            question="험버교의 주경간은 얼마나 긴가요?",
            answer="험버교의 주경간은 1410미터이다.",
            reference="1410미터",
            contexts=("험버교의 주경간은 1410미터로 오랫동안 가장 길었다.",),
            language="ko",
        ),
    ]
    with judging() as (panel, _):
        refused, empty, korean = (each.verdict for each in panel.score(samples).judged)
        assert isinstance(refused, Scored)
        assert refused.score == 0.0
        assert empty == Unscored(reason=Reason.EMPTY_ANSWER)
        assert isinstance(korean, Scored)
        assert korean.score == 1.0
