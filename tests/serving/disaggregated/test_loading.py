"""Two-path loading in simulation: deterministic, bounded, and in the order that the parts promise."""

from dataclasses import replace

import pytest

from langgraph_prefetch.errors import ConfigurationError, SimulationError
from langgraph_prefetch.serving.disaggregated.catalogue import (
    AGENTS_64K,
    DENSE_32B,
    HOPPER_NODE,
    MOE_27B,
    MOE_660B,
    TRACES,
)
from langgraph_prefetch.serving.disaggregated.cluster import ABLATION, BASIC, FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.hardware import Turn
from langgraph_prefetch.serving.disaggregated.loading import simulate_loading
from langgraph_prefetch.serving.disaggregated.suggest import suggest_pd

AGENTS = AGENTS_64K.draw(256, seed=1, stride=40)
SMALL = replace(HOPPER_NODE, name="small", gpus=2)


def test_the_same_seed_gives_the_same_run() -> None:
    """To the last digit, and another seed another."""
    cluster = Cluster.of(MOE_27B, HOPPER_NODE, 1, 1)
    runs = [simulate_loading(cluster, AGENTS, arrivals_per_second=5.0, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
def test_traces_have_the_published_means(trace) -> None:  # type: ignore[no-untyped-def]
    """Turns, appended, generated and cached tokens, within 4 % over 500 agents."""
    agents = trace.draw(500, seed=3)
    turns = [turn for agent in agents for turn in agent]
    assert len(turns) / 500 == pytest.approx(trace.turns, rel=0.04)
    for name, wanted in (("cached", trace.context), ("new", trace.appended), ("generated", trace.generated)):
        assert sum(getattr(turn, name) for turn in turns) / len(turns) == pytest.approx(wanted, rel=0.04)


@pytest.mark.parametrize(("model", "published"), [(MOE_660B, (13, 36)), (DENSE_32B, (117, 267))], ids=["660B", "32B"])
def test_models_have_the_published_ratio_of_cache_to_compute(model, published) -> None:  # type: ignore[no-untyped-def]
    """Counted from their public shapes, at 16K and 64K, within 6 %."""
    found = [model.cache_compute_ratio(tokens, 429) for tokens in (16_384, 65_536)]
    assert found == pytest.approx(list(published), rel=0.06)


@pytest.mark.parametrize(("model", "split"), [(MOE_27B, (1, 1)), (MOE_27B, (2, 1)), (DENSE_32B, (1, 2))])
def test_no_gain_beyond_the_bandwidth_that_two_paths_add(model, split) -> None:  # type: ignore[no-untyped-def]
    """1 + D/P, whatever else the parts do."""
    cluster = Cluster.of(model, HOPPER_NODE, *split)
    one, two = (simulate_loading(cluster, AGENTS, loading) for loading in (BASIC, FULL))
    assert 1.0 < one.seconds / two.seconds <= cluster.bound


def test_storage_alone_bounds_what_is_read() -> None:
    """No NIC ever carries more than its bandwidth, and every byte is read once."""
    result = simulate_loading(Cluster.of(DENSE_32B, HOPPER_NODE, 1, 2), AGENTS)
    for reads in result.reads.values():
        carried = sum(size for _, _, size in reads)
        assert carried <= HOPPER_NODE.storage_nic * max(end for _, end, _ in reads) * (1 + 1e-9)
        assert all(
            before[1] <= after[0] + 1e-9 for before, after in zip(sorted(reads), sorted(reads)[1:], strict=False)
        )
    cached = sum(turn.cached for agent in AGENTS for turn in agent) * DENSE_32B.cache_bytes_per_token
    assert sum(size for reads in result.reads.values() for _, _, size in reads) == pytest.approx(cached)


def test_every_turn_is_served_once_and_none_before_it_was_asked_for() -> None:
    """Whatever the loading, and with gates that let only a few in at once."""
    cluster = Cluster.of(MOE_27B, SMALL, 1, 1)
    for loading in ABLATION:
        result = simulate_loading(cluster, AGENTS, loading)
        assert sorted(each.turn.cached for each in result.served) == sorted(t.cached for a in AGENTS for t in a)
        assert all(each.asked_at < each.first_at <= each.done_at for each in result.served)


def test_sides_that_take_turns_load_the_one_prefill_nic_as_much_as_two_decode_nics_together() -> None:
    """Which is an imbalance of 1.5 on three machines; the scheduler's is lower."""
    cluster = Cluster.of(DENSE_32B, HOPPER_NODE, 1, 2)
    turns, chosen = (simulate_loading(cluster, AGENTS, loading) for loading in (Loading(scheduled=False), FULL))
    carried = [sum(size for _, _, size in reads) for reads in turns.reads.values()]
    assert max(carried) / (sum(carried) / 3) == pytest.approx(1.5, abs=0.05)
    assert chosen.storage_imbalance() < turns.storage_imbalance() - 0.2


def test_suggest_names_the_best_split_and_what_limits_it() -> None:
    """All splits of four nodes are tried; the best is no worse than any."""
    found = suggest_pd({HOPPER_NODE: 4}, AGENTS_64K, model=DENSE_32B, agents=64, stride=40)
    assert found.exhaustive
    assert {each.name for each in found.tried} == {"1P3D", "2P2D", "3P1D"}
    assert found.best.turns_per_second == max(each.turns_per_second for each in found.tried)
    assert found.best.limiting_resource in str(found)
    assert found.bounds is not None


def test_suggest_puts_the_fast_gpus_where_prefill_is() -> None:
    """Mixed hardware: of two kinds that differ only in FLOP/s, the faster prefills."""
    fast = replace(HOPPER_NODE, name="fast", flops=12e12)
    slow = replace(HOPPER_NODE, name="slow", flops=6e12)
    found = suggest_pd({fast: 1, slow: 1}, AGENTS_64K, model=MOE_27B, agents=128, stride=40)
    assert found.best.prefill == {"fast": 1}
    assert found.best.limiting_resource == "prefill GPUs"
    assert found.bounds is None


def test_suggest_climbs_where_there_are_too_many_splits() -> None:
    """And says that it did not try them all."""
    found = suggest_pd({SMALL: 12}, AGENTS_64K, model=MOE_27B, agents=32, stride=80, max_simulations=6)
    assert not found.exhaustive
    assert 1 < len(found.tried) <= 8


def test_a_model_that_fits_nowhere_is_an_error_that_says_so() -> None:
    """660B weights on one node of each."""
    with pytest.raises(SimulationError, match="does not hold"):
        suggest_pd({SMALL: 2}, AGENTS_64K, model=MOE_660B)
    with pytest.raises(SimulationError, match="at least two nodes"):
        suggest_pd({SMALL: 1}, AGENTS_64K, model=MOE_27B)


def test_bad_input_is_refused() -> None:
    """No turns, turns that are too long, a rate of 0, hardware of nothing."""
    cluster = Cluster.of(MOE_27B, HOPPER_NODE, 1, 1)
    with pytest.raises(SimulationError, match="no turns"):
        simulate_loading(cluster, [[]])
    with pytest.raises(SimulationError, match="a turn of"):
        simulate_loading(cluster, [[Turn(1, 1, 1), Turn(1_000_000, 1, 1)]])
    with pytest.raises(SimulationError, match="arrivals_per_second"):
        simulate_loading(cluster, AGENTS, arrivals_per_second=0)
    with pytest.raises(SimulationError, match="at least one"):
        Cluster(model=MOE_27B, prefill=(), decode=(HOPPER_NODE,))
    with pytest.raises(ConfigurationError):
        replace(HOPPER_NODE, flops=0.0)
    with pytest.raises(ConfigurationError):
        AGENTS_64K.draw(0)


def test_whole_caches_are_read_ahead_as_far_as_a_prefill_gpu_has_room() -> None:
    """With room for one alone the storage NIC rests while the GPU works; layer by layer it never does."""
    turns = [[Turn(40_000, 400, 50)] * 5] * 20
    busy = {}
    for size in (141e9, 31.1e9):
        prefill = replace(HOPPER_NODE, gpus=1, hbm_bytes=size, storage_nic=10e9)
        cluster = Cluster(model=MOE_27B, prefill=(prefill,), decode=(HOPPER_NODE,), longest=50_000)
        for loading in ABLATION[:2]:
            used = simulate_loading(cluster, turns, loading).utilisation
            busy[size, loading.layerwise] = used["storage NIC of prefill nodes"]
            assert (used["memory of prefill GPUs"] == 0) is loading.layerwise
    assert busy[31.1e9, False] < 0.7
    assert min(busy[141e9, False], busy[141e9, True], busy[31.1e9, True]) > 0.99
