"""Verified serving on recorded runs: what is guessed, what is adopted, what is hidden, and what a wrong guess costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep, Recording, read_recording
from langgraph_prefetch.evaluation.verified.figures import (
    AT_HAND,
    NO_GUESS,
    TOGETHER,
    Tried,
    as_json,
    by_file,
    figures_of,
    verified_table,
)
from langgraph_prefetch.evaluation.verified.private import PrivateCalls
from langgraph_prefetch.evaluation.verified.replay import VerifiedReplay, replay_verified
from langgraph_prefetch.evaluation.verified.results import Near, Recorded, Results
from langgraph_prefetch.events import Event, RunEnded
from langgraph_prefetch.guesses import ResultGuess
from langgraph_prefetch.values import Output
from tests.evaluation.recordings import episode, finish, write

NOTHING_EARLY = ReplaySettings(sealed=False, max_guesses=0)
"""So that every search takes its half second."""
EVERY_ONE = VerifiedReplay(rules=NextCalls(max_wasted_share=1))
LONG = finish(
    "Now I will think about this for a good while, word by word, before I say what I have found out in the end."
)
QUESTION = "Who wrote the first program?"


def asked(query: str, observation: str | None, thought: str = "Let me see.") -> dict[str, Any]:
    step = {"thought": thought, "action": "search", "query": query}
    return step if observation is None else {**step, "observation": observation}


def recorded(tmp_path: Path, *lines: str) -> Recording:
    return read_recording(write(tmp_path / "runs.jsonl", lines))


def tried(
    recording: Recording, settings: ReplaySettings = NOTHING_EARLY, how: VerifiedReplay = EVERY_ONE
) -> Sequence[Tried]:
    return replay_verified([recording], settings, how)


def test_a_result_that_came_before_is_guessed_and_its_private_call_adopted(tmp_path: Path) -> None:
    """Of a model call that is longer than the search, the whole search is hidden."""
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", "ebb"), LONG))
    first, second = tried(runs)
    assert (first.kind, first.hidden) == (NO_GUESS, 0)
    assert first.waited == pytest.approx(0.5)
    assert (second.kind, second.equal, second.started, second.adopted) == ("stale", True, True, True)
    assert second.hidden == pytest.approx(0.5)
    assert (second.read, second.written) == (0, 0)


def test_no_more_is_hidden_than_the_next_model_call_takes(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", "ebb"), finish("So.", "ebb")))
    tokens = len(cut("So.\nAction: Finish[ebb]"))
    assert (tokens + 1) / 50 < 0.5
    assert tried(runs)[1].hidden == pytest.approx((tokens + 1) / 50)


def test_another_result_cancels_and_its_tokens_are_counted(tmp_path: Path) -> None:
    """Read: the question, both messages, the first result and the guess. Written: at the model's speed."""
    runs = recorded(tmp_path, episode(asked("tides", "ebb and flow"), asked("tides", "spring tide"), LONG))
    _, second = tried(runs)
    assert (second.kind, second.equal, second.started, second.adopted, second.hidden) == (
        "stale",
        False,
        True,
        False,
        0,
    )
    message = len(cut("Let me see.\nAction: Search[tides]"))
    assert second.read == len(cut(QUESTION)) + 2 * message + 2 * len(cut("ebb and flow"))
    assert second.written == 25  # half a second at 50 tokens a second


def test_a_cancelled_call_writes_no_more_than_the_model_did(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "a"), asked("tides", "b"), finish("So.", "ebb")))
    assert tried(runs)[1].written == len(cut("So.\nAction: Finish[ebb]"))


def test_the_same_passages_in_another_order_are_another_message(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "one\n\ntwo"), asked("tides", "two\n\none"), LONG))
    assert not tried(runs)[1].equal


def test_a_call_that_is_answered_at_once_needs_no_guess(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", "ebb"), LONG))
    _, second = tried(runs, ReplaySettings(sealed=False, max_guesses=0, reuse_seconds=60))
    assert (second.kind, second.waited, second.started, second.hidden) == (AT_HAND, 0, False, 0)


def test_only_what_is_left_of_a_search_under_way_can_be_hidden(tmp_path: Path) -> None:
    """A closed action starts the search two tokens and a graph step before the call, which joins it."""
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", "ebb"), LONG))
    _, second = tried(runs, ReplaySettings(max_guesses=0))
    assert 0.4 < second.waited < 0.5
    assert second.hidden == pytest.approx(second.waited)


def test_what_the_run_never_asked_for_cannot_be_adopted(tmp_path: Path) -> None:
    """The recording ends with the search: the guess was right, but there was no next model call."""
    _, second = tried(recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", "ebb"))))
    assert (second.equal, second.started, second.adopted, second.hidden, second.written) == (True, True, False, 0, 25)


def test_results_stay_in_their_run(tmp_path: Path) -> None:
    runs = recorded(tmp_path, *2 * [episode(asked("tides", "ebb"), LONG)])
    assert [each.kind for each in tried(runs)] == [NO_GUESS, NO_GUESS]


def test_a_query_of_nearly_the_same_words_is_guessed_too(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides of the sea", "ebb"), asked("tides of the sea why", "ebb"), LONG))
    assert [(each.kind, each.adopted) for each in tried(runs)] == [(NO_GUESS, False), ("similar", True)]


def test_what_was_not_recorded_is_neither_guessed_nor_judged(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), asked("tides", None), asked("tides", "ebb"), LONG))
    assert [each.kind for each in tried(runs)] == [NO_GUESS, NO_GUESS, "stale"]
    unknown = recorded(tmp_path, episode(asked("tides", None), LONG))
    with pytest.raises(ConfigurationError, match="give --corpus"):
        tried(unknown)


def test_the_gate_stops_what_is_mostly_wrong_and_its_own_words_say_why(tmp_path: Path) -> None:
    """It is the live gate: it goes on watching, and a bound of a run holds as well."""
    changing = episode(*(asked("tides", f"tide {at}") for at in range(8)), LONG)
    runs = recorded(tmp_path, changing)
    every = tried(runs)
    assert sum(each.started for each in every) == 7
    gated = tried(runs, how=VerifiedReplay())
    assert 1 <= sum(each.started for each in gated) <= 2
    assert as_json(gated)["ignored"] == {"next call: too many wasted": 7 - sum(each.started for each in gated)}
    assert sum(each.read for each in gated) < sum(each.read for each in every)
    bounded = tried(runs, how=VerifiedReplay(rules=NextCalls(max_wasted_share=1, per_run=3)))
    assert [each.started for each in bounded] == [False] + 3 * [True] + 4 * [False]
    assert as_json(bounded)["ignored"] == {"budget: per_run": 4}
    dear = NextCalls(max_wasted_share=1, token_price=Price(money=1))
    steady = recorded(tmp_path, episode(*4 * [asked("tides", "ebb")], LONG))
    held = tried(steady, how=VerifiedReplay(rules=dear))
    assert [each.equal for each in held] == [False, True, True, True]
    assert not any(each.started or each.hidden for each in held)


def test_a_run_ends_earlier_by_what_was_hidden(tmp_path: Path) -> None:
    """The next message goes on from where the private call was, and is not said anew."""
    steady = episode(*5 * [asked("tides", "ebb", "I wonder about that, and will look again.")], LONG)
    runs = recorded(tmp_path, steady)

    def played(ahead: PrivateCalls | None) -> float:
        events: list[Event] = []
        replay(runs, NOTHING_EARLY, sink=lambda event: events.append(event), ahead=ahead)
        (end,) = [each for each in events if isinstance(each, RunEnded)]
        return end.at

    calls = private(runs)
    bare, verified = played(None), played(calls)
    hidden = sum(each.hidden for each in calls.tried)
    assert hidden > 1
    assert bare - verified == pytest.approx(hidden)


def private(runs: Recording, results: Results | None = None, near: Near | None = None) -> PrivateCalls:
    return PrivateCalls(
        file=runs.file,
        results=results or Recorded(),
        near=near,
        rules=NextCalls(max_wasted_share=1),
        value_of_second=None,
        tokens_per_second=50,
    )


class Library:
    """Searches return what is written here."""

    def __init__(self, **shelves: str) -> None:
        self._shelves = shelves

    def of(self, step: RecordedStep, query: str | None) -> str | None:
        return self.of_query(query or "")

    def of_query(self, query: str) -> str | None:
        return self._shelves.get(query.replace(" ", "_"))


def test_a_speculation_that_nobody_asked_for_says_what_a_similar_call_returns(tmp_path: Path) -> None:
    """As far as a corpus tells what it returned."""
    thought = "I need to search Ada Lovelace, and find out which machine she wrote her program for and in which year."
    runs = recorded(tmp_path, episode(asked("Ada Lovelace life", None, thought), LONG))
    for life, equal in (("the same", True), ("another", False)):
        calls = private(runs, Library(Ada_Lovelace="the same", Ada_Lovelace_life=life))
        replay(runs, ReplaySettings(sealed=False), ahead=calls)
        (only,) = calls.tried
        assert (only.kind, only.equal, only.adopted) == ("similar", equal, equal)
    calls = private(runs, Library(Ada_Lovelace_life="the same"))
    replay(runs, ReplaySettings(sealed=False), ahead=calls)
    assert calls.tried[0].kind == NO_GUESS


class Ranking:
    """Says the same of every call but the first, and counts what returned."""

    def __init__(self, guess: str) -> None:
        self._guess, self.returned = guess, 0

    def guess(self, episode: Episode, number: int) -> ResultGuess | None:
        if number == 1:
            return None
        return ResultGuess(output=Output(self._guess), kind="near", probability=0.9)

    def ran(self) -> None:
        self.returned += 1


def test_near_misses_are_asked_first(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(*3 * [asked("tides", "ebb")], LONG))
    near = Ranking("ebb")
    calls = private(runs, near=near)
    replay(runs, NOTHING_EARLY, ahead=calls)
    assert [each.kind for each in calls.tried] == [NO_GUESS, "near", "near"]
    assert all(each.adopted for each in calls.tried[1:])
    assert near.returned == 2


def test_kinds_add_up_to_files_and_files_to_all(tmp_path: Path) -> None:
    first = recorded(
        tmp_path,
        episode(asked("tides", "a"), asked("tides", "a"), asked("tides", "b"), asked("sun and moon", "c"), LONG),
        episode(asked("sun and moon", "c"), asked("sun and moon tides", "d"), LONG),
    )
    second = read_recording(write(tmp_path / "other.jsonl", [episode(asked("tides", "a"), asked("tides", "a"), LONG)]))
    calls = replay_verified([first, second], NOTHING_EARLY, EVERY_ONE)
    parts = by_file(calls, [first.file, second.file])
    assert list(parts) == [first.file, second.file, TOGETHER]
    assert [len(held) for held in parts.values()] == [6, 2, 8]
    every = as_json(parts[TOGETHER])
    for name in (
        "guessed_share",
        "started_share",
        "adopted_share",
        "hidden_seconds",
        "cancelled",
        "wasted_input_tokens",
    ):
        assert every[name] == pytest.approx(sum(kind[name] for kind in every["by_kind"].values()), abs=1e-5)
    assert every["guessed_share"] == 0.5
    assert every["equal_share"] == 0.5
    assert every["cancelled"] == 2
    assert every["wasted_output_tokens"] == 25 + len(cut("Let me see.\nAction: Search[sun and moon]"))
    table = verified_table(calls, [first.file, second.file])
    assert "runs.jsonl" in table
    assert "stale" in table


def test_shares_of_nothing_are_zero() -> None:
    figures = figures_of([])
    assert set(figures.as_json().values()) == {0}
    assert as_json([])["by_kind"] == {}
    assert TOGETHER in verified_table([], [])


def test_callers_at_once_are_refused(tmp_path: Path) -> None:
    runs = recorded(tmp_path, episode(asked("tides", "ebb"), LONG))
    with pytest.raises(ConfigurationError, match="one run at a time"):
        tried(runs, ReplaySettings(inject_collisions=True))


def test_an_observation_of_any_shape_is_read(tmp_path: Path) -> None:
    step = {"thought": "", "action": "search", "query": "tides", "observation": {"tide": ["ebb", "flöw"]}}
    (only,) = recorded(tmp_path, episode(step)).episodes
    assert only.steps[0].observation == '{"tide": ["ebb", "flöw"]}'
