"""Fitted cues: moved as far as the evidence goes, judged on the rest, refused where there is too little."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.cli import main
from langgraph_prefetch.errors import ConfigurationError, FitError
from langgraph_prefetch.evaluation.fit import LEAST_SEEN, RATE_PRIOR, rates, weights
from langgraph_prefetch.evaluation.fit_reading import Candidate, Directive, candidates, directives, spoken
from langgraph_prefetch.evaluation.fit_scores import Tally, scores, tally
from langgraph_prefetch.evaluation.fit_trial import fit_traces
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep
from langgraph_prefetch.intent.cue_file import load_cues
from langgraph_prefetch.intent.cues import default_cues
from langgraph_prefetch.intent.likelihood import RATES, rates_of
from tests.evaluation.recordings import episode, search

CUES = default_cues()
WEIGHTS = {cue.name: cue.weight for cue in CUES.cues}
NAMES = ("Lake Baikal", "Ada Lovelace", "Humber Bridge", "Marie Curie", "Mount Kenya")


def lines(count: int, *, right: float = 1.0) -> list[str]:
    """Agents that announce a search for a name, and then ask that name, or something else."""
    draw = random.Random(3)
    runs = []
    for number in range(count):
        name = f"{draw.choice(NAMES)} {number}"
        query = name if draw.random() < right else f"what is known of it, part {number}"
        step = search(f"I need to search {name}, and find out more about it.", query)
        runs.append(episode(step, question=f"Question {number}?"))
    return runs


def episodes(count: int, *, right: float = 1.0) -> list[Episode]:
    return [
        Episode(
            style="react_text",
            question=each["question"],
            steps=tuple(
                RecordedStep(thought=s["thought"], action=s["action"], query=s["query"]) for s in each["steps"]
            ),
        )
        for each in map(json.loads, lines(count, right=right))
    ]


@given(
    st.lists(st.tuples(st.sampled_from(sorted(RATES)), st.booleans(), st.sampled_from("abcdefghijklmno")), max_size=150)
)
def test_rates_lie_between_what_was_shipped_and_what_was_seen(cases: list[tuple[str, bool, str]]) -> None:
    """A rate moves towards the evidence and never beyond it; what few questions show does not move at all."""
    found = rates((Candidate(row, right, question) for row, right, question in cases), CUES)
    for row in RATES:
        by_question: dict[str, list[bool]] = {}
        for name, right, question in cases:
            if name == row:
                by_question.setdefault(question, []).append(right)
        if len(by_question) < LEAST_SEEN:
            assert row not in found
            continue
        seen = sum(sum(each) / len(each) for each in by_question.values()) / len(by_question)
        low, high = sorted((RATES[row], seen))
        assert low - 1e-4 <= found[row] <= high + 1e-4


def test_one_question_asked_often_counts_once() -> None:
    """A thousand runs of one question are no thousand observations."""
    often = [Candidate("whole/name/names", False, "the same")] * 1_000
    assert rates(often, CUES) == {}
    many = [Candidate("whole/name/names", False, str(number)) for number in range(int(RATE_PRIOR))]
    assert rates([*often, *many], CUES)["whole/name/names"] == pytest.approx(0.95 * 20 / 41, abs=1e-4)


@pytest.mark.parametrize("truth", [0.1, 0.5, 0.95])
def test_weights_converge_to_what_the_traces_show(truth: float) -> None:
    """With many questions, the two cues together say how often a search follows."""
    said = [Directive("en.need_to", "en.search", number < truth * 5_000, str(number)) for number in range(5_000)]
    found = weights(said, CUES)
    assert 1 - (1 - found["en.need_to"]) * (1 - found["en.search"]) == pytest.approx(truth, abs=0.03)


def test_weights_without_evidence_stay() -> None:
    """Nine questions move nothing; neither does anything move a cue that was not seen."""
    said = [Directive("en.need_to", "en.search", False, str(number)) for number in range(LEAST_SEEN - 1)]
    assert weights(said, CUES) == {}
    assert CUES.reweigh(weights([], CUES)) == CUES


def test_what_is_read_is_what_the_agent_said() -> None:
    """A step gives its directive and its candidates, and what speaks against a search is no evidence on the cues."""
    runs = list(spoken(episodes(1), ["search"], episodes(1)))
    (step,) = runs[0]
    assert list(directives(step, CUES)) == [Directive("en.need_to", "en.search", True, "Question 0?")]
    assert Candidate("whole/name/nothing", True, "Question 0?") in list(candidates(step, CUES))
    negated = RecordedStep(thought="I do not need to search Lake Baikal again.", action="finish", query="done")
    other = [Episode(style="react_text", question="", steps=(negated,))]
    assert [list(directives(step, CUES)) for run in spoken(other, ["search"], other) for step in run] == [[]]


def test_scores_are_those_of_their_definitions() -> None:
    """Two forecasts of 0.8, one right, and a third of 0.1 that was wrong."""
    found = scores(Tally(guesses=4, right=1, searches=2, found=1, forecasts=((0.8, True), (0.8, False), (0.1, False))))
    assert (found.precision, found.recall) == (0.25, 0.5)
    assert found.f1 == pytest.approx(1 / 3)
    assert found.brier == pytest.approx((0.04 + 0.64 + 0.01) / 3)
    assert found.calibration_error == pytest.approx((0.6 + 0.1) / 3)
    assert scores(Tally()).f1 == 0.0


def test_a_query_guessed_earlier_is_found() -> None:
    """Recall counts a call whose query an earlier step of the run had guessed."""
    (line,) = lines(1)
    said = json.loads(line)["steps"][0]
    steps = (
        RecordedStep(thought=said["thought"], action="read", query=""),
        RecordedStep(thought="So.", action="search", query=said["query"]),
    )
    runs = list(spoken(two := [Episode(style="react_text", question="q", steps=steps)], ["search"], two))
    counted = tally(runs, [], CUES)
    assert (counted.searches, counted.found, counted.guesses, counted.right) == (1, 1, 1, 1)


def test_agents_that_ask_something_else_are_learned() -> None:
    """Where lone names are asked in one of four cases, the fitted rate says so and calibration gets better."""
    fitted = fit_traces(episodes(400, right=0.25), ["search"], CUES)
    assert rates_of(fitted.cues)["whole/name/nothing"] == pytest.approx(0.28, abs=0.07)
    assert fitted.after.calibration_error < fitted.before.calibration_error / 3
    assert fitted.after.brier < fitted.before.brier
    assert (fitted.questions, fitted.searches) == (400, 400)


def test_small_sets_are_refused() -> None:
    """A handful of runs fits nothing; the message says how many it takes."""
    with pytest.raises(
        FitError, match=r"without overfitting \(questions: 20, at least 50; search calls: 20, at least 100"
    ):
        fit_traces(episodes(20), ["search"], CUES)
    with pytest.raises(FitError, match="search calls: 0, at least 100"):
        fit_traces(episodes(200), ["no_such_tool"], CUES)
    with pytest.raises(ConfigurationError, match="at least one tool"):
        fit_traces(episodes(200), [], CUES)


def test_what_teaches_nothing_is_refused() -> None:
    """Cues that were fitted already are not fitted again on the same runs."""
    runs = episodes(150, right=0.95)
    with pytest.raises(FitError, match="no better on the rest"):
        fit_traces(runs, ["search"], CUES.rate({"whole/name/nothing": 0.9467, "whole/mixed/plain": 0.95}))


def test_two_fits_are_equal() -> None:
    """No chance: the folds are the same everywhere, whatever the order of the episodes."""
    runs = episodes(150, right=0.4)
    one, two = fit_traces(runs, ["search"], CUES), fit_traces(runs[::-1], ["search"], CUES)
    assert (one.cues, one.before) == (two.cues, two.before)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints and writes the figures before and after, and what it wrote can be loaded and replayed."""
    traces, out = tmp_path / "runs.jsonl", tmp_path / "cues.json"
    traces.write_text("\n".join(lines(150, right=0.4)), encoding="utf-8")
    assert main(["fit", str(traces), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "150 questions, 150 search calls" in printed
    assert "precision of guesses" in printed
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["evaluation"]["after"]["brier"] < written["evaluation"]["before"]["brier"]
    assert rates_of(load_cues(out))["whole/name/nothing"] < 0.6
    assert main(["replay", str(traces), "--cues", str(out), "--limit-episodes", "5"]) == 0
    assert main(["fit", str(traces), "--out", str(out), "--cues", str(out)]) in (0, 2)


def test_the_command_refuses_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one line that says why, and no file; a place that cannot be written to is found before the work."""
    traces, out = tmp_path / "runs.jsonl", tmp_path / "cues.json"
    traces.write_text("\n".join(lines(10)), encoding="utf-8")
    assert main(["fit", str(traces), "--out", str(out)]) == 2
    assert "record more runs" in capsys.readouterr().err
    assert not out.exists()
    assert main(["fit", str(traces), "--out", str(tmp_path / "no" / "cues.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err
