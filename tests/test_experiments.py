"""Who gets which variant."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from langgraph_prefetch.experiments import Experiment

EVEN = {"a": 1.0, "b": 1.0}
USERS = [f"user-{number}" for number in range(20_000)]


def dealt(name: str, weights: dict[str, float]) -> list[str]:
    experiment = Experiment(name=name, weights=weights, key="user")
    return [experiment.variant_of(user) for user in USERS]


SPLITS: list[dict[str, float]] = [EVEN, {"a": 9, "b": 1}, {"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 1, "off": 0, "b": 1}]


@pytest.mark.parametrize("weights", SPLITS)
def test_the_split_is_as_the_weights_say(weights: dict[str, float]) -> None:
    """Names that differ by a digit spread evenly; a weight of 0 gets nobody."""
    counts = Counter(dealt("split", weights))
    live = {name: weight for name, weight in weights.items() if weight}
    expected = [len(USERS) * weight / sum(live.values()) for weight in live.values()]
    assert set(counts) == set(live)
    assert stats.chisquare([counts[name] for name in live], expected).pvalue > 0.001


def test_experiments_know_nothing_of_each_other() -> None:
    """Under another name the same keys are dealt out anew: knowing one variant says nothing about the other."""
    table = Counter(zip(dealt("first", EVEN), dealt("second", EVEN), strict=True))
    counts = [[table["a", "a"], table["a", "b"]], [table["b", "a"], table["b", "b"]]]
    assert stats.chi2_contingency(counts).pvalue > 0.001


def test_a_change_of_weights_moves_only_whom_it_must() -> None:
    """From 10 % to 20 %: nobody who had the new one loses it, and a tenth changes over."""
    before, after = dealt("ramp", {"old": 90, "new": 10}), dealt("ramp", {"old": 80, "new": 20})
    moved = Counter(zip(before, after, strict=True))
    assert moved["new", "old"] == 0
    assert moved["old", "new"] == pytest.approx(len(USERS) / 10, rel=0.1)


def test_the_same_in_every_process_and_version() -> None:
    """These assignments are for ever: another hash would move everybody in the middle of an experiment."""
    assert "".join(dealt("reranker", EVEN)[:16]) == "abaaaabbbbbbbbba"


def test_kinds_of_keys() -> None:
    """Texts, whole numbers and UUIDs are keys, each kind its own; anything else is none, and gets the default."""
    experiment = Experiment(name="kinds", weights=EVEN, key="user", default="b")
    for key in ("u", 7, -1, UUID(int=5)):
        given_one = experiment.assign({"user": key})
        assert (given_one.key, given_one.variant) == (str(key), experiment.variant_of(key))
    for none in (None, "", True, 1.5, b"u", object(), ["u"]):
        assert (experiment.assign({"user": none}).key, experiment.assign({"user": none}).variant) == (None, "b")
    assert experiment.assign({}).variant == "b"
    kinds = [(experiment.variant_of(n), experiment.variant_of(str(n))) for n in range(64)]
    assert any(one != other for one, other in kinds)


def test_a_key_of_ones_own() -> None:
    """A function tells the key; one that fails or finds none leaves the run to the default."""
    experiment = Experiment(name="own", weights=EVEN, key=lambda values: values["tenant"], default="a")
    assert experiment.assign({"tenant": "t"}).key == "t"
    assert experiment.assign({}).key is None


@given(st.text(min_size=1), st.dictionaries(st.text(min_size=1), st.floats(0, 1e9), min_size=1))
def test_every_key_has_a_variant_with_a_weight(key: str, weights: dict[str, float]) -> None:
    """Whatever the names and the weights, somebody with a weight above 0 gets the run, always the same."""
    if not any(weights.values()):
        return
    experiment = Experiment(name="any", weights=weights)
    variant = experiment.variant_of(key)
    assert weights[variant] > 0
    assert experiment.variant_of(key) == variant
    found: Any = experiment.assign({"thread_id": key})
    assert found.variant == variant
