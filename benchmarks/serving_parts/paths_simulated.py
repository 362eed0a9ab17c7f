"""Two-path loading of KV caches in simulation: one constant is fitted, everything else is predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

from langgraph_prefetch.serving.disaggregated.catalogue import (
    AGENTS_64K,
    CALIBRATED_FLOPS,
    DENSE_32B,
    HOPPER_NODE,
    MOE_27B,
    MOE_660B,
)
from langgraph_prefetch.serving.disaggregated.cluster import ABLATION, BASIC, FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.hardware import ServedModel, TraceShape
from langgraph_prefetch.serving.disaggregated.loading import simulate_loading
from langgraph_prefetch.serving.disaggregated.outcome import LoadingResult

SLO_SECONDS = 4.0
"""To the first token (arXiv 2602.21548 section 7.4)."""
STEADY = 1.15
"""A wait that grows by more from one third of a run to the next is no steady state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is simulated."""

    stride: int
    online_agents: int
    bisections: int


LONG = Scale(stride=20, online_agents=3_000, bisections=6)
SHORT = Scale(stride=40, online_agents=1_500, bisections=5)


@cache
def offline(
    model: ServedModel,
    split: tuple[int, int],
    loading: Loading,
    agents: int,
    stride: int,
    seed: int,
    trace: TraceShape = AGENTS_64K,
    flops: float = CALIBRATED_FLOPS,
) -> LoadingResult:
    """All agents at once, until the last is done."""
    cluster = Cluster.of(model, replace(HOPPER_NODE, flops=flops), *split)
    return simulate_loading(cluster, trace.draw(agents, seed=seed, stride=stride), loading)


def speedup(model: ServedModel, split: tuple[int, int], agents: int, stride: int, seed: int, **more: float) -> float:
    """Of everything together over one path, whole caches, engines taking turns: in turns a second, without the tail."""
    basic, full = (offline(model, split, each, agents, stride, seed, **more) for each in (BASIC, FULL))
    return full.throughput() / basic.throughput()


def scaled_speedup(factor: float, stride: int, seed: int) -> float:
    """The 660B model with turns that append more or less."""
    trace = AGENTS_64K.scaled(appended=factor)
    basic, full = (offline(MOE_660B, (2, 4), each, 1024, stride, seed, trace) for each in (BASIC, FULL))
    return full.throughput() / basic.throughput()


def calibrated(stride: int, seed: int, wanted: float = 1.87, rounds: int = 6) -> float:
    """FLOP/s of a GPU at which the 660B model on 2P4D comes to ``wanted``, by bisection."""
    low, high = 300e12, 1200e12
    for _ in range(rounds):
        middle = (low + high) / 2
        if speedup(MOE_660B, (2, 4), 2048, stride, seed, flops=middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def ablation(stride: int, seed: int) -> list[tuple[str, float]]:
    """Name and cut of the time that the same turns take against basic, on average over 1,024 and 2,048 agents."""
    found = []
    for loading in ABLATION:
        cuts = []
        for agents in (1024, 2048):
            basic, this = (offline(MOE_660B, (2, 4), each, agents, stride, seed) for each in (BASIC, loading))
            cuts.append(1 - basic.throughput() / this.throughput())
        found.append((loading.name, fmean(cuts)))
    return found


def cluster_with(hbm_bytes: float) -> Cluster:
    """2P4D for the 660B model, whose prefill GPUs have so much memory."""
    prefill = replace(HOPPER_NODE, hbm_bytes=hbm_bytes)
    return Cluster(model=MOE_660B, prefill=(prefill,) * 2, decode=(HOPPER_NODE,) * 4)


def layerwise_cut(cluster: Cluster, stride: int, seed: int) -> float:
    """Of the time by layerwise loading alone, on average over 1,024 and 2,048 agents."""
    cuts = []
    for agents in (1024, 2048):
        turns = AGENTS_64K.draw(agents, seed=seed, stride=stride)
        basic, layerwise = (simulate_loading(cluster, turns, loading).throughput() for loading in ABLATION[:2])
        cuts.append(1 - basic / layerwise)
    return fmean(cuts)


def cut_in_step(cluster: Cluster, trace: TraceShape) -> float:
    """Of the time, by layerwise loading, if all GPUs of a node read, load and compute in step without it.

    The storage NIC then rests while they load and compute. With layerwise loading the longest of the three is all
    that is left. By the trace's mean turn, over one path.
    """
    node, size = cluster.prefill[0], trace.context * cluster.model.cache_bytes_per_token
    read, load = size / node.storage_nic, 2 * size / node.compute_nic / node.gpus
    compute = cluster.model.prefill_flops(round(trace.context), round(trace.appended)) / node.flops / node.gpus
    return 1 - max(read, load, compute) / (read + load + compute)


def capacity(model: ServedModel, split: tuple[int, int], loading: Loading, scale: Scale, seed: int) -> float:
    """Agents a second that can come at random while the first token takes 4 s at most on average, by bisection."""
    cluster = Cluster.of(model, HOPPER_NODE, *split)
    agents = AGENTS_64K.draw(scale.online_agents, seed=seed, stride=scale.stride)
    size = sum(turn.cached for agent in agents for turn in agent) * model.cache_bytes_per_token / len(agents)
    nodes = (*cluster.prefill, *cluster.decode) if loading.two_paths else cluster.prefill
    bound = sum(node.storage_nic for node in nodes) / size
    low, high = 0.2 * bound, 1.05 * bound
    for _ in range(scale.bisections):
        middle = (low * high) ** 0.5
        result = simulate_loading(cluster, agents, loading, arrivals_per_second=middle, seed=seed)
        coming = scale.online_agents / middle / result.seconds  # the share of the run in which agents still came
        before, after = (result.seconds_to_first_token(a * coming, b * coming) for a, b in ((0.4, 0.7), (0.7, 1.0)))
        good = after <= SLO_SECONDS and after <= STEADY * before
        low, high = (middle, high) if good else (low, middle)
    return low / scale.stride


MODELS = {"660B": MOE_660B, "27B": MOE_27B, "32B": DENSE_32B}
