"""The suite `quality`, from rows of runs to its report, with judges that work and with judges that do not."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import (
    ConfigurationError,
    JudgeModelError,
    MissingPartError,
    NoJudgeError,
    NothingToJudgeError,
)
from langgraph_prefetch.evaluation.reporting.values import Figure, SuiteReport, Table
from langgraph_prefetch.suites import quality
from langgraph_prefetch.suites.contract import Spending, SuiteContext
from langgraph_prefetch.suites.quality_settings import JudgingSettings
from tests.suites.quality_rows import context, row, rows


def run(context: SuiteContext) -> SuiteReport:
    return asyncio.run(quality.run(context))


def tables(report: SuiteReport) -> dict[str, Table]:
    return {block.caption: block for each in report.sections for block in each.blocks if isinstance(block, Table)}


def figure(report: SuiteReport, name: str) -> Figure:
    return next(each for each in (*report.summary.quality, *report.summary.cost) if each.name.startswith(name))


def test_equal_answers_are_non_inferior_and_the_controls_are_found(tmp_path: Path) -> None:
    """Thirty questions at a margin of 0.1: shown, by judges that see what was made worse on purpose."""
    report = run(context(tmp_path, rows(30), judges=("scripted", "scripted:strict"), margin=0.1))
    assert report.failures == ()
    assert "yes" in figure(report, "answer@1, wrapped less bare").note
    assert figure(report, "positive controls found").value == "3 of 3"
    assert figure(report, "compared").value == "0, 30, 0"
    assert figure(report, "coverage").value == "100.0% (60 of 60)"
    assert [each[0] for each in tables(report)["By language: answer@1"].rows] == ["en", "ko"]
    assert [each[0] for each in tables(report)["By type: answer@1"].rows] == ["comparison", "fact"]
    assert any("Margin, stated before the run" in each for each in report.hypotheses)


def test_worse_answers_are_not_called_as_good(tmp_path: Path) -> None:
    """Half of each wrapped answer is made up: the suite fails, and the comparison names the bare one."""
    worse = "It spans something. Elephants painted all of it yellow. Nobody knows who paid for the elephants."
    report = run(context(tmp_path, rows(12, answer=worse)))
    assert report.failures == ("answer@1: not shown to be lower by less than 0.05",)
    assert figure(report, "compared").value == "0, 0, 12"


def test_no_significant_difference_is_not_enough(tmp_path: Path) -> None:
    """With few questions nothing differs, and nothing is shown: that is no success."""
    report = run(context(tmp_path, rows(8)))
    (failure,) = report.failures
    assert failure.endswith("not shown to be lower by less than 0.05: none of 8 questions differs, but that takes 59")


@pytest.mark.parametrize("judge", ["scripted:flipping", "scripted:first-place"])
def test_judges_that_see_nothing_fail_the_suite(tmp_path: Path, judge: str) -> None:
    """Whatever they say of the arms: what was made worse on purpose must be found worse."""
    report = run(context(tmp_path, rows(12), judges=(judge,), rubrics=["answer"]))
    assert any("control was not found: answers of other questions" in each for each in report.failures)


def test_the_rate_of_places_gives_a_judge_away(tmp_path: Path) -> None:
    """One that always prefers the first answer has a rate of 1 and never agrees with itself."""
    report = run(context(tmp_path, rows(12), judges=("scripted:first-place",)))
    ((name, asked, rate, alike),) = tables(report)["Places"].rows
    assert (name, asked, alike) == ("scripted:first-place", "12", "0.0% (0 of 12)")
    assert rate.startswith("1 (")


def test_an_arm_that_failed_half_way_is_counted_and_bounds_what_it_hides(tmp_path: Path) -> None:
    """Failed runs are unscored for that reason; coverage falls, and the worst case counts them against the arm."""
    given = rows(40)
    given = [*given[:60], *(row(n, "wrapped", answer="", error="TimeoutError: no answer") for n in range(20, 40))]
    report = run(context(tmp_path, given))
    assert any(
        each.startswith("answer@1: 60 of 80 have a verdict") and "20 run failed" in each for each in report.failures
    )
    reasons = tables(report)["Coverage, and what has no verdict"].rows
    assert ("answer@1", "wrapped", "20", "run failed") in reasons
    worst = next(
        each for each in tables(report)["Mean scores (0 worst, 1 best), by question"].rows if "worst" in each[0]
    )
    assert (worst[1], worst[-1]) == ("40", "not shown")
    assert worst[4].startswith("-0.")


def test_empty_answers_refusals_and_languages_are_all_accounted_for(tmp_path: Path) -> None:
    """Each is somewhere in the report; no mean is NaN."""
    given = [
        *rows(10),
        row(10, "bare", answer=""),
        row(10, "wrapped"),
        row(11, "bare"),
        row(11, "wrapped", answer="모르겠습니다."),
    ]
    report = run(context(tmp_path, given, coverage=0.5))
    assert ("answer@1", "bare", "1", "empty answer") in tables(report)["Coverage, and what has no verdict"].rows
    assert "nan" not in repr(report).lower()


@pytest.mark.parametrize("judge", ["scripted:failing", "scripted:malformed", "scripted:refusing", "scripted:verbose"])
def test_a_judge_without_verdicts_fails_the_suite_and_makes_no_numbers(tmp_path: Path, judge: str) -> None:
    """Coverage is 0, the means are none, and the failures say which reason and how often."""
    report = run(context(tmp_path, rows(8), judges=(judge,), give_up_after=3))
    assert figure(report, "answer@1, wrapped less bare").value == "none"
    assert any(each.startswith("answer@1: 0 of 16 have a verdict") for each in report.failures)
    assert "nan" not in repr(report).lower()


def test_a_budget_ends_in_a_partial_report(tmp_path: Path) -> None:
    """What matters most was asked first; the rest is not asked, and the report says so."""
    report = run(context(tmp_path, rows(20), budget=Spending(calls=12)))
    assert figure(report, "calls of judges").value == "12"
    assert any("answer@1 is partial" in each and "out of budget" in each for each in report.limitations)
    assert any("have a verdict" in each for each in report.failures)


def test_a_resumed_run_pays_for_no_verdict_twice(tmp_path: Path) -> None:
    """The second run finds everything in verdicts.jsonl, and says the same."""
    first = run(context(tmp_path, rows(8)))
    second = run(context(tmp_path, rows(8)))
    assert int(figure(first, "calls of judges").value) > 0
    assert figure(second, "calls of judges").value == "0"
    assert figure(first, "answer@1").value == figure(second, "answer@1").value


def test_transcripts_and_scores_stand_in_the_folder(tmp_path: Path) -> None:
    """One can read what each judge was told and said of each answer."""
    run(context(tmp_path, rows(6), judges=("scripted", "scripted:strict")))
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text("utf-8").splitlines()]
    assert {each["prompt"] for each in verdicts} == {"answer@1", "grounded@1", "pairwise@1"}
    assert all(each["messages"] and each["text"] and each["prompt_digest"] for each in verdicts)
    scores = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines()]
    assert len(scores) == 2 * 12
    assert set(scores[0]["verdicts"]) == {"all", "scripted", "scripted:strict"}


def test_what_the_agreement_of_judges_is(tmp_path: Path) -> None:
    """Two judges, one always a point stricter: near each other, and never the same."""
    report = run(context(tmp_path, rows(8), judges=("scripted", "scripted:strict")))
    metric, judges, together, same, _ = tables(report)["Agreement of the judges"].rows[0]
    assert (metric, judges, together, same) == ("answer@1", "2", "16", "0%")


def test_a_judge_that_is_the_agents_model_is_flagged(tmp_path: Path) -> None:
    """In the limitations and beside the judges."""
    report = run(context(tmp_path, rows(6), model="elsewhere:scripted"))
    assert "A judge is the agent's own model." in report.limitations


def test_missing_judge(tmp_path: Path) -> None:
    """Offline the scripted judge is named, or there is none: nothing is judged silently by something else."""
    with pytest.raises(NoJudgeError, match="missing judge"):
        run(context(tmp_path, rows(6), judges=()))
    with pytest.raises(NoJudgeError):
        quality.plan(context(tmp_path, rows(6), judges=()))


@pytest.mark.parametrize(
    ("judge", "error", "says"),
    [
        ("scripted:sensibel", ConfigurationError, "Did you mean 'sensible'"),
        ("no-such-provider:x", JudgeModelError, "no-such-provider"),
    ],
)
def test_a_judge_that_cannot_be_made(tmp_path: Path, judge: str, error: type[Exception], says: str) -> None:
    """Before anything is asked, with the name of the judge."""
    with pytest.raises(error, match=says):
        run(context(tmp_path, rows(6), judges=(judge,)))


def test_rows_without_both_arms_are_refused(tmp_path: Path) -> None:
    """There is nothing to compare with."""
    with pytest.raises(NothingToJudgeError, match="bare and wrapped; there are bare"):
        run(context(tmp_path, [row(1, "bare")]))


def test_a_rubric_that_lacks_references_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    """The message says what to add or to leave out."""
    given = [row(n, arm, reference=None) for arm in ("bare", "wrapped") for n in range(6)]
    with pytest.raises(MissingPartError, match="correct needs references"):
        run(context(tmp_path, given, rubrics=["answer", "correct"]))
    assert not (tmp_path / "verdicts.jsonl").exists()


def test_answers_without_searches_have_a_control_as_well(tmp_path: Path) -> None:
    """A user's agent may search nothing: then contexts cannot be exchanged, answers can."""
    given = [row(n, arm, searches=()) for arm in ("bare", "wrapped") for n in range(10)]
    report = run(context(tmp_path, given, rubrics=["answer"], limits={"non_inferior": False}))
    assert report.failures == ()
    assert figure(report, "positive controls found").value == "2 of 2"


def test_a_plan_counts_at_most_what_is_asked(tmp_path: Path) -> None:
    """Nothing is called; the budget and what it would end at are said."""
    planned = quality.plan(
        context(tmp_path, rows(20), judges=("scripted", "scripted:strict"), budget=Spending(calls=9))
    )
    assert planned.runs == 0
    assert planned.judge_calls == 2 * (2 * 40 + 3 * 12 + 40 + 2 * 12)
    assert planned.spending.money == 0.0
    assert "the budget ends it at 9 calls" in planned.notes
    more = quality.plan(context(tmp_path, rows(20), ragas=["faithfulness", "answer_relevancy"]))
    assert more.judge_calls == planned.judge_calls / 2 + 5 * 40


@pytest.mark.parametrize(
    ("judging", "says"),
    [
        ({}, "needs a margin"),
        ({"margin": 0}, "margin is out of range"),
        ({"margin": 0.1, "coverage": 95}, "coverage is a share"),
        ({"margin": 0.1, "rubrics": []}, "rubrics names none"),
        ({"margin": 0.1, "rubrics": ["anwser"]}, "Did you mean 'answer'"),
        ({"margin": 0.1, "ragas": ["faith"]}, "faithfulness"),
        ({"margin": 0.1, "marign": 1}, "no 'marign'"),
        ({"margin": "wide"}, "wrong type"),
    ],
)
def test_rules_that_make_no_sense_are_refused(judging: dict[str, Any], says: str) -> None:
    """Each says what is wrong, before anything is run."""
    with pytest.raises(ConfigurationError, match=says):
        JudgingSettings.of({"judging": judging})
