"""Splitting nodes between prefill and decode, by cases that can be foretold."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, SimulationError
from langgraph_prefetch.serving.disaggregated.catalogue import AGENTS_64K, DENSE_32B, HOPPER_NODE, MOE_27B, MOE_660B
from langgraph_prefetch.serving.disaggregated.cluster import ABLATION, Cluster
from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, Turn
from langgraph_prefetch.serving.disaggregated.loading import simulate_loading
from langgraph_prefetch.serving.disaggregated.suggest import Suggestion, Tried, _climb, suggest_pd

SMALL = replace(HOPPER_NODE, name="small", gpus=1)
OTHER = replace(SMALL, name="other", flops=2 * SMALL.flops)
NAN, INF = float("nan"), float("inf")


def found(hardware: Mapping[NodeKind, int], **given: Any) -> Suggestion:
    return suggest_pd(hardware, AGENTS_64K, **{"model": MOE_27B, "agents": 8, "stride": 80, **given})


def climbed(counts: tuple[int, ...], best: tuple[int, ...], most: int = 30) -> list[tuple[int, ...]]:
    """The splits that the search looks at, the best first, where their rate falls with the distance from the best."""
    looked: dict[tuple[int, ...], float] = {}

    def rate(split: tuple[int, ...]) -> float:
        return looked.setdefault(split, -sum(abs(one - other) for one, other in zip(split, best, strict=True)))

    _climb(counts, rate, lambda: len(looked) >= most)
    return sorted(looked, key=lambda split: -looked[split])


@pytest.mark.parametrize("best", [1, 2, 7, 20, 31, 38, 39])
def test_the_search_climbs_to_the_best_of_many_splits(best: int) -> None:
    """Wherever it is, its ends included, without looking at all of them."""
    looked = climbed((40,), (best,))
    assert looked[0] == (best,)
    assert len(looked) < 20


def test_the_search_climbs_over_kinds_too() -> None:
    """Each kind has a number of its own, and a search that cannot begin in the middle begins beside it."""
    assert climbed((9, 5), (7, 1))[0] == (7, 1)
    looked = climbed((1,) * 6, (1, 0, 1, 0, 0, 0))
    assert looked[0] == (1, 0, 1, 0, 0, 0)
    for split in (*looked, *climbed((40,), (40,)), *climbed((40,), (0,))):
        assert 0 < sum(split) < (6 if len(split) == 6 else 40), "both sides have nodes"
        assert min(split) >= 0


def test_the_search_ends_when_it_has_looked_often_enough() -> None:
    """But for the neighbours of where it is."""
    assert len(climbed((1_000, 1_000), (1, 1), most=10)) <= 13


def test_every_split_is_tried_where_there_are_few_and_the_best_comes_first() -> None:
    """Of several kinds too; nothing where one side would be empty."""
    split = found({SMALL: 1, OTHER: 2})
    tried = {(each.prefill.get("small", 0), each.prefill.get("other", 0)) for each in split.tried}
    assert tried == {(0, 1), (0, 2), (1, 0), (1, 1)}
    rates = [each.turns_per_second for each in split.tried]
    assert rates == sorted(rates, reverse=True)
    assert split.best == split.tried[0]
    assert split.exhaustive
    assert found({SMALL: 3}, max_simulations=2).exhaustive
    assert not found({SMALL: 4}, max_simulations=2).exhaustive


def test_a_split_that_does_not_hold_the_model_is_in_the_table_with_the_reason() -> None:
    """The others are ranked all the same."""
    split = found({HOPPER_NODE: 4}, model=replace(MOE_660B, weight_bytes=1.2e12))
    assert split.best.name == "2P2D"
    assert split.best.turns_per_second > 0
    assert {each.name for each in split.tried[1:]} == {"1P3D", "3P1D"}
    for each in split.tried[1:]:
        assert each.turns_per_second == 0
        assert "does not hold" in each.limiting_resource
    assert len(str(split).splitlines()) == 4


def test_bounds_are_those_of_the_formula_and_none_where_it_says_nothing() -> None:
    """Kinds of which there are no nodes do not count; storage as fast as all compute NICs of a node has no range."""
    bounds = found({HOPPER_NODE: 2, SMALL: 0}).bounds
    assert bounds is not None
    assert (bounds.least, bounds.most) == (Fraction(1, 7), Fraction(7, 2))
    assert found({SMALL: 2}).bounds is None
    assert found({SMALL: 1, OTHER: 1}).bounds is None


@pytest.mark.parametrize(
    ("hardware", "given", "message"),
    [
        ({}, {}, "at least two nodes"),
        ({SMALL: -1, OTHER: 4}, {}, "at least two nodes"),
        ({SMALL: 2.5}, {}, "counted"),
        ({SMALL: NAN}, {}, "counted"),
        ({SMALL: None}, {}, "counted"),
        ({SMALL: 2}, {"max_simulations": 0}, "max_simulations"),
        ({SMALL: 2}, {"agents": 0}, "agents"),
        ({SMALL: 2}, {"stride": 0}, "stride"),
        ({SMALL: 1, replace(OTHER, name="small"): 1}, {}, "same name"),
        ({replace(SMALL, gpus=2, hbm_bytes=40e9): 4}, {"model": DENSE_32B}, "does not hold Qwen2.5-32B"),
    ],
)
def test_what_cannot_be_split(hardware: Mapping[NodeKind, int], given: dict[str, Any], message: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(ConfigurationError, match=message):
        found(hardware, **given)


@pytest.mark.parametrize("value", [0, -1, NAN, INF])
def test_hardware_models_and_traces_of_impossible_figures_are_refused(value: Any) -> None:
    """Where they are made, rather than in the middle of a simulation."""
    for name in ("gpus", "compute_nic", "storage_nic", "memory", "hbm_bytes", "flops"):
        with pytest.raises(ConfigurationError, match="'small'"):
            replace(SMALL, **{name: value})
    for name in ("cache_bytes_per_token", "active_parameters", "weight_bytes", "seconds_per_token"):
        with pytest.raises(ConfigurationError, match="27B"):
            replace(MOE_27B, **{name: value})
    for name in ("turns", "appended", "generated", "total", "context", "max_tokens"):
        with pytest.raises(ConfigurationError, match="'64K'"):
            replace(AGENTS_64K, **{name: value})
    if value != 0:
        for name in ("attention_flops", "attention_flops_per_token"):
            with pytest.raises(ConfigurationError, match="27B"):
                replace(MOE_27B, **{name: value})
        with pytest.raises(ConfigurationError, match="spread"):
            replace(AGENTS_64K, spread=value)
    for factor in ("appended", "generated"):
        with pytest.raises(ConfigurationError):
            AGENTS_64K.scaled(**{factor: value})
    if value != INF:
        with pytest.raises(SimulationError, match="longest"):
            Cluster(model=MOE_27B, prefill=(SMALL,), decode=(SMALL,), longest=value)


def test_half_a_gpu_is_none() -> None:
    """They are counted."""
    with pytest.raises(ConfigurationError, match="whole"):
        replace(SMALL, gpus=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("turn", [(-1, 1, 1), (0, 0, 1), (0, 1, 0), (NAN, 1, 1)])
def test_impossible_turns_are_refused(turn: tuple[Any, Any, Any]) -> None:
    """Nothing may be cached, but something is always new and something comes of it."""
    with pytest.raises(ConfigurationError, match="a turn has"):
        Turn(*turn)


@pytest.mark.parametrize("rate", [0, -1, NAN])
def test_impossible_arrivals_are_refused(rate: float) -> None:
    """A rate is above 0."""
    with pytest.raises(SimulationError, match="arrivals_per_second"):
        simulate_loading(Cluster.of(MOE_27B, SMALL, 1, 1), [[Turn(0, 1, 1)]], arrivals_per_second=rate)


def test_a_split_of_several_kinds_says_so_many_of_which() -> None:
    """And one of a single kind what everybody says."""
    made = {"turns_per_second": 1.0, "limiting_resource": "none"}
    mixed = Tried(prefill={"small": 7, "other": 1}, decode={"other": 4}, **made)  # type: ignore[arg-type]
    assert mixed.name == "7 small + 1 other P, 4 other D"
    assert Tried(prefill={"small": 2}, decode={"small": 4}, **made).name == "2P4D"  # type: ignore[arg-type]


def test_a_table_of_splits_has_straight_columns() -> None:
    """However long their names are."""
    tried = tuple(
        Tried(prefill={"k": prefill}, decode={"k": 12 - prefill}, turns_per_second=1.5, limiting_resource="memory")
        for prefill in (9, 11)
    )
    lines = str(Suggestion(best=tried[0], tried=tried, exhaustive=True, bounds=None)).splitlines()
    assert [line.split()[0] for line in lines] == ["split", "9P3D", "11P1D"]
    assert len({line.index(word) for line, word in zip(lines, ("limited", "memory", "memory"), strict=True)}) == 1


def test_names_say_what_a_cluster_is_and_how_it_loads() -> None:
    """As tables show them."""
    cluster = Cluster.of(MOE_27B, SMALL, 2, 4)
    assert (cluster.name, cluster.bound) == ("2P4D", 3.0)
    assert [each.name for each in ABLATION] == [
        "basic",
        "layerwise",
        "layerwise + two paths",
        "layerwise + two paths + scheduler",
    ]


def test_a_gpu_holds_what_weights_and_a_tenth_leave() -> None:
    """Weights are shared by all GPUs of a side where the model is sharded; else each holds them all."""
    cluster = Cluster.of(MOE_27B, HOPPER_NODE, 1, 2)
    free = {side: 0.9 * 141e9 - 27e9 / gpus for side, gpus in (("prefill", 8), ("decode", 16))}
    for side in ("prefill", "decode"):
        held = cluster.context_tokens(HOPPER_NODE, getattr(cluster, side))
        assert held == pytest.approx(free[side] / MOE_27B.cache_bytes_per_token)
    whole = Cluster.of(DENSE_32B, HOPPER_NODE, 1, 1)
    assert whole.context_tokens(HOPPER_NODE, whole.decode) == pytest.approx(
        (0.9 * 141e9 - 65e9) / DENSE_32B.cache_bytes_per_token
    )
