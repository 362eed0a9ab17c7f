"""Other ways on the same calls: their hits, and their wrong sets against an exact search."""

import numpy as np
import pytest

from langgraph_prefetch.evaluation.near.observed import Observed
from langgraph_prefetch.evaluation.near.rivals import Answer, Arm, arms
from langgraph_prefetch.evaluation.near.vcache import VCache
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.near.source import MemorySource
from tests.near.stores import hashed

TEXTS = [f"passage {word} {other}" for word in ("red", "green", "blue") for other in ("cat", "dog", "owl", "fox")]


def call(query: str, source: MemorySource, *, guesses: tuple[str, ...] = (), thought: str = "") -> Observed:
    return Observed(
        file="f",
        question="q",
        query=query,
        thought=thought,
        guesses=guesses,
        right=source.search(hashed([query])[0], 2),
        local=(),
        reach=0.0,
        proved=False,
    )


@pytest.fixture
def found() -> dict[str, Arm]:
    source = MemorySource([f"p{at:02d}" for at in range(len(TEXTS))], hashed(TEXTS), texts=TEXTS)
    calls = [
        call("red cat passage", source, guesses=("red cat passage",), thought="blue owl " * 20),
        call("red cat passage", source, guesses=("green dog",)),
        call("passage green fox", source),
    ]
    return {arm.name: arm for arm in arms(calls, source, Vectors(hashed), k=2, seed=0)}


def test_exact_serving_is_right_whenever_it_answers(found: dict[str, Arm]) -> None:
    assert found["exact, from reasoning"].hits == pytest.approx(1 / 3)
    assert found["exact, from reasoning"].wrong_set_rate == 0


def test_a_cosine_cache_answers_what_was_asked_before(found: dict[str, Arm]) -> None:
    assert [each.hit for each in found["cosine cache 0.95"].answers] == [False, True, False]
    assert found["cosine cache 0.95"].wrong_set_rate == 0
    assert [each.hit for each in found["cosine cache, any"].answers] == [False, True, True]
    assert found["cosine cache, any"].wrong_set_rate == 0.5


def test_a_guess_and_a_stale_window_are_served_as_they_are(found: dict[str, Arm]) -> None:
    guessed = found["guessed query's results"].answers
    assert [(each.hit, each.wrong) for each in guessed] == [(True, False), (True, True), (False, False)]
    stale = found["stale window, every 16 tokens"].answers
    assert [(each.hit, each.wrong) for each in stale] == [(True, True), (False, False), (False, False)]


def test_the_best_share_is_what_a_threshold_chosen_in_hindsight_answers() -> None:
    answers = [Answer(hit=True, wrong=at == 60, score=100.0 - at) for at in range(100)] + [Answer(hit=False)] * 100
    arm = Arm(name="x", answers=tuple(answers))
    assert arm.best_share(0.01) == 0.5
    assert arm.best_share(0.001) == 0.3
    tied = Arm(name="x", answers=(Answer(hit=True, score=1.0), Answer(hit=True, wrong=True, score=1.0)))
    assert tied.best_share(0.01) == 0
    assert Arm(name="x", answers=()).best_share(0.5) == 0


def test_vcache_keeps_its_bound_and_learns_to_answer() -> None:
    """On one entry that is right from a similarity of 0.8 on; its errors stay under delta of all calls."""
    rng = np.random.default_rng(0)
    cache = VCache(0.1)
    assert not cache.exploits(0, 1.0, 0.999999)
    hits = wrong = 0
    for _ in range(600):
        similarity = float(rng.uniform(0.5, 1.0))
        right = similarity > 0.8
        if cache.exploits(0, similarity, float(rng.random())):
            hits, wrong = hits + 1, wrong + (not right)
        else:
            cache.learn(0, similarity, right=right)
    assert hits > 100
    assert wrong <= 60
