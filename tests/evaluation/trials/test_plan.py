"""Which arm is asked which question when: no arm has the better places."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.trials import Trial, paired_trials, series_trials

ARMS = ("bare", "wrapped", "direct")


def orders(trials: tuple[Trial, ...]) -> list[tuple[str, ...]]:
    """The order of the arms, question by question, as they are asked one after another."""
    kept = itertools.groupby(trials, key=lambda trial: (trial.question_id, trial.batch, trial.repeat, trial.warm))
    return [tuple(trial.arm for trial in group) for _, group in kept]


@given(
    count=st.integers(1, 30),
    arms=st.integers(1, 6),
    batches=st.integers(1, 3),
    repeats=st.integers(1, 3),
    warm=st.booleans(),
    seed=st.integers(),
)
@settings(max_examples=60)
def test_every_question_is_asked_of_every_arm_as_often_as_was_said(
    count: int, arms: int, batches: int, repeats: int, warm: bool, seed: int
) -> None:
    """All arms of a question come one after another, each once, and no run is planned twice."""
    names = [f"arm-{number}" for number in range(arms)]
    asked = [f"q{number}" for number in range(count)]
    trials = paired_trials(asked, names, batches=batches, repeats=repeats, warm=warm, seed=seed)
    assert len({trial.key for trial in trials}) == len(trials) == count * arms * batches * repeats * (1 + warm)
    assert [trial.place for trial in trials] == list(range(len(trials)))
    assert all(sorted(order) == names for order in orders(trials))


@given(count=st.integers(2, 40), seed=st.integers())
@settings(max_examples=40)
def test_each_order_of_the_arms_is_used_equally_often_or_once_more(count: int, seed: int) -> None:
    """So that no arm is asked first more often than the others, beyond what cannot be divided."""
    trials = paired_trials([f"q{number}" for number in range(count)], ARMS, seed=seed)
    used = Counter(orders(trials))
    assert max(used.values()) - min([used[order] for order in itertools.permutations(ARMS)]) <= 1


def test_the_seed_decides_and_nothing_else() -> None:
    """The same seed gives the same plan; another one gives another."""
    asked = [f"q{number}" for number in range(12)]
    one = paired_trials(asked, ARMS, warm=True, seed=1)
    assert one == paired_trials(asked, ARMS, warm=True, seed=1)
    assert one != paired_trials(asked, ARMS, warm=True, seed=2)


def test_warm_runs_come_after_all_cold_ones_and_share_their_scope() -> None:
    """A cold run finds nothing that another run kept; a warm one finds what its own cold run kept."""
    trials = paired_trials(["a", "b"], ARMS, repeats=2, warm=True, seed=3)
    for repeat in (0, 1):
        states = [trial.warm for trial in trials if trial.repeat == repeat]
        assert states == sorted(states)
    cold = {(trial.arm, trial.question_id, trial.repeat): trial.scope for trial in trials if not trial.warm}
    assert len(set(cold.values())) == len(cold)
    assert all(cold[trial.arm, trial.question_id, trial.repeat] == trial.scope for trial in trials if trial.warm)


def test_a_series_is_cold_once_and_warm_afterwards() -> None:
    """The first batch is cold, the later ones are warm in the same scope."""
    trials = series_trials(["a", "b", "c"], "series", batches=4, seed=4)
    assert [trial.warm for trial in trials] == [False] * 3 + [True] * 9
    assert len({trial.scope for trial in trials}) == 3


@pytest.mark.parametrize(
    ("asked", "arms", "batches"),
    [([], ["bare"], 1), (["a"], [], 1), (["a", "a"], ["bare"], 1), (["a"], ["bare"], 0)],
)
def test_a_plan_of_nothing_is_refused(asked: list[str], arms: list[str], batches: int) -> None:
    """No question, no arm, one twice, or no batch: the error says which."""
    with pytest.raises(ConfigurationError):
        paired_trials(asked, arms, batches=batches, seed=0)
