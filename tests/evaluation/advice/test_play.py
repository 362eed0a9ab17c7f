"""Traced runs through the real machine: the figures of a replay where both know the same, more where there is more."""

from pathlib import Path

import pytest

from langgraph_prefetch.evaluation.advice.figures import Prices, counts_of, mode_figures
from langgraph_prefetch.evaluation.advice.play import Played, Scenario, play
from langgraph_prefetch.evaluation.advice.tools import facts_of
from langgraph_prefetch.evaluation.importers.read import read_trace
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import read_recording
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.intent.cues import default_cues
from tests.evaluation.advice.made import call, run, step
from tests.evaluation.recordings import RUNS, write

SAID = "I need to search Ada Lovelace, and find out which machine she wrote her program for and in which year. "


def played(*runs: TracedRun, guesses_for: str | None = "search", tools: tuple[str, ...] = ("search",)) -> Played:
    facts = tuple(each for each in facts_of(runs, 0.5) if each.name in tools)
    return play(runs, Scenario(tools=facts, guesses_for=guesses_for), default_cues())


def answers(what: Played) -> list[SearchCallAnswered]:
    return [each for events in what.events.values() for each in events if isinstance(each, SearchCallAnswered)]


@pytest.mark.parametrize("reuse", [None, 60.0])
def test_episodes_give_the_figures_of_a_replay(reuse: float | None, tmp_path: Path) -> None:
    """The same calls, coverage, hidden seconds and wasted searches, whichever of the two plays them."""
    path = write(tmp_path / "runs.jsonl", RUNS)
    theirs = replay(read_recording(path), ReplaySettings(reuse_seconds=reuse))
    runs = read_trace(path).runs
    (facts,) = (each for each in facts_of(runs, 0.5) if each.name == "search")
    ours = play(runs, Scenario(tools=(facts,), guesses_for="search", reuse_seconds=reuse), default_cues())
    figures = mode_figures("", counts_of(ours.events.values(), "search"), Prices(call=0.2, second=1.0))
    assert figures.calls == theirs.search_calls
    assert figures.coverage.value == pytest.approx(theirs.coverage)
    assert figures.guessed.value == pytest.approx(theirs.coverage_reasoning)
    assert figures.ready == pytest.approx(theirs.timeliness * theirs.coverage)
    assert figures.hidden.value == pytest.approx(theirs.hidden_seconds / theirs.search_calls)
    assert figures.extra.value == pytest.approx(theirs.amplification - 1)
    assert ours.wrong_answers == 0


def test_recorded_times_decide_what_is_hidden() -> None:
    """A slow model hides a whole search behind its thought, a fast one hardly anything; the tool takes its own time."""
    slow = step(SAID, call("Ada Lovelace", seconds=0.2), seconds=4.0)
    fast = step(SAID, call("Ada Lovelace", seconds=0.2), seconds=0.01)
    (slowly,), (hastily,) = answers(played(run(slow))), answers(played(run(fast)))
    assert slowly.retrieval_seconds == pytest.approx(0.2)
    assert slowly.hidden_seconds == pytest.approx(0.2)
    assert hastily.hidden_seconds < 0.02


def test_each_call_takes_the_time_that_was_recorded() -> None:
    """Two searches of one run with times of their own; a guess that is asked for takes that of its call."""
    runs = run(step(SAID, call("Ada Lovelace", seconds=0.1)), step("No. ", call("other", seconds=0.7)))
    assert [each.retrieval_seconds for each in answers(played(runs))] == [pytest.approx(0.1), pytest.approx(0.7)]


def test_calls_side_by_side_run_side_by_side() -> None:
    """The step takes as long as its slowest call, and each is answered from its own sealed arguments."""
    both = run(step("No. ", call("one", seconds=0.5), call("two", seconds=0.5), gap=0.0, seconds=1.0))
    what = played(both, guesses_for=None)
    assert len(answers(what)) == 2
    assert all(each.source == "sealed" for each in answers(what))
    assert what.seconds[0] < 1.55
    first, second = sorted(answers(what), key=lambda each: -each.hidden_seconds)
    assert first.hidden_seconds > second.hidden_seconds  # its arguments had closed before the other's


def test_another_tool_voids_what_was_read() -> None:
    """Between two equal searches something was written: the second one is no reuse of the first."""
    wrote = run(step("No. ", call("x")), step("No. ", call({"text": "y"}, name="write_note")), step("No. ", call("x")))
    facts = tuple(each for each in facts_of([wrote], 0.5) if each.name == "search")
    what = play([wrote], Scenario(tools=facts, reuse_seconds=60.0), default_cues())
    assert what.wrong_answers == 0
    assert [each.source for each in answers(what)] == ["sealed", "sealed"]
    again = run(step("No. ", call("x")), step("No. ", call("x")))
    what = play([again], Scenario(tools=facts, reuse_seconds=60.0), default_cues())
    assert [each.source for each in answers(what)] == ["sealed", "reuse"]


def test_guesses_are_for_one_tool() -> None:
    """The others start from closed arguments alone."""
    runs = run(step(SAID, call("Ada Lovelace")), step(SAID, call("Ada Lovelace", name="look_up")))
    found = {each.tool: each.source for each in answers(played(runs, tools=("search", "look_up")))}
    assert found == {"search": "reasoning", "look_up": "sealed"}
