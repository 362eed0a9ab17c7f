"""Near misses as guesses of recorded results: ranked in their order, by the real store, and learned from."""

from pathlib import Path

import pytest

from langgraph_prefetch.config import NextCalls
from langgraph_prefetch.evaluation.near.guesses import NearGuesses, NearWorld, StoredResults
from langgraph_prefetch.evaluation.near.observed import Observed
from langgraph_prefetch.evaluation.near.store import Store, open_store
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Episode, read_recording
from langgraph_prefetch.evaluation.verified.figures import Tried
from langgraph_prefetch.evaluation.verified.replay import VerifiedReplay, replay_verified
from langgraph_prefetch.intent.cues import default_cues
from langgraph_prefetch.near.settings import NearSettings
from tests.evaluation.near.small import corpus, runs

EPISODE = Episode(style="react_text", question="", steps=())
FOUR = ("000", "001", "002", "003")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return open_store([str(corpus(tmp_path_factory.mktemp("store")))], "tests.evaluation.near.embedders:words", None)


def observed(number: int, *, local: tuple[str, ...] = FOUR, reach: float = 0.5, proved: bool = False) -> Observed:
    return Observed(
        file="f",
        question="q",
        query=f"query {number}",
        thought="",
        guesses=(),
        right=FOUR,
        local=local,
        reach=reach,
        proved=proved,
    )


def test_a_search_returns_the_nearest_passages_in_their_order(store: Store) -> None:
    results = StoredResults(store, 3)
    found = results.of_query("population of Ashford")
    assert found is not None
    assert found.count("\n\n") == 2
    assert found.startswith("Ashford\nThe population of Ashford")
    assert found == results.rendered(store.source.search(store.vectors["population of Ashford"], 3))


def test_a_guess_is_as_sure_as_what_is_known_of_it(store: Store) -> None:
    """A proof is a proof at once; the likely tier opens after enough real searches, as in a live graph."""
    settings = NearSettings(epsilon=0.3, confidence=0.8)
    calls = {(id(EPISODE), at): observed(at, proved=at == 0) for at in range(200)}
    guesses = NearGuesses(calls, StoredResults(store, 4), settings, seed=0)
    said = []
    for at in range(200):
        guess = guesses.guess(EPISODE, at)
        assert guess is not None
        assert guess.output.content == StoredResults(store, 4).rendered(FOUR)
        said.append((guess.probability, guess.bounded))
        guesses.ran()
    assert said[:2] == [(0.97, True), (0.7, False)]
    assert said[-1] == (0.95, True)


def test_what_is_wrong_teaches_that_nothing_is_likely(store: Store) -> None:
    settings = NearSettings(epsilon=0.3, confidence=0.8)
    calls = {(id(EPISODE), at): observed(at, local=("000", "001", "002", "009")) for at in range(200)}
    guesses = NearGuesses(calls, StoredResults(store, 4), settings, seed=0)
    for at in range(200):
        guess = guesses.guess(EPISODE, at)
        assert guess is not None
        assert not guess.bounded
        guesses.ran()


def test_without_a_local_answer_there_is_no_guess(store: Store) -> None:
    guesses = NearGuesses({(id(EPISODE), 1): observed(1, local=())}, StoredResults(store, 4), NearSettings(), seed=0)
    assert guesses.guess(EPISODE, 1) is None
    assert guesses.guess(EPISODE, 2) is None
    guesses.ran()


def test_recorded_runs_are_guessed_from_the_passages_around_their_thoughts(store: Store, tmp_path: Path) -> None:
    """Twice the same, and equal exactly where the ranking is that of the exact search, order included."""
    recording = read_recording(runs(tmp_path, "runs.jsonl", 20, 1))
    results = StoredResults(store, 3)
    world = NearWorld(store=store, settings=NearSettings(n=8), results=results, tools=("search",), cues=default_cues())
    settings = ReplaySettings(sealed=False, max_guesses=0)

    def played() -> tuple[Tried, ...]:
        verified = VerifiedReplay(rules=NextCalls(max_wasted_share=1), world=world)
        return replay_verified([recording], settings, verified)

    calls = played()
    assert calls == played()
    assert len(calls) == 40
    assert {each.kind for each in calls} == {"near"}
    assert 0 < sum(each.equal for each in calls) < 40
    near = world.near(recording)
    guessed = [near.guess(each, number) for each in recording.episodes for number in (1, 2)]
    real = [results.of(step, str(step.query)) for each in recording.episodes for step in each.steps[:2]]
    contents = [None if guess is None else guess.output.content for guess in guessed]
    assert [each.equal for each in calls] == [one == other for one, other in zip(contents, real, strict=True)]
    assert sum(each.adopted for each in calls) == sum(each.equal for each in calls)
