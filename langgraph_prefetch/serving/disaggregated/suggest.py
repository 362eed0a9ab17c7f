"""How to split nodes between prefill and decode, found in the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.disaggregated.cluster import FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, ServedModel, TraceShape, Turn
from langgraph_prefetch.serving.disaggregated.loading import simulate_loading
from langgraph_prefetch.serving.disaggregated.ratio import PdRange, pd_range

Split = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One split of the nodes.

    Attributes:
        prefill: kind -> nodes that prefill.
        decode: kind -> nodes that decode.
        turns_per_second: of all agents together, before the tail; 0 where the model does not fit.
        limiting_resource: what is used most, or why the split is impossible.
        utilisation: resource -> share used.
    """

    prefill: Mapping[str, int]
    decode: Mapping[str, int]
    turns_per_second: float
    limiting_resource: str
    utilisation: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As in 2P4D; with several kinds, so many of which."""
        if len(self.prefill.keys() | self.decode.keys()) == 1:
            return f"{sum(self.prefill.values())}P{sum(self.decode.values())}D"
        sides = (" + ".join(f"{n} {kind}" for kind, n in side.items()) for side in (self.prefill, self.decode))
        return " P, ".join(sides) + " D"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The best split, and all that were tried, best first.

    Attributes:
        best: the one to take.
        tried: all of them.
        exhaustive: every split was tried; else the search climbed from an even one, and may have missed a better one.
        bounds: ratios at which nothing holds up the storage NICs, for nodes of one kind; None for mixed ones, and where
            storage is as fast as all compute NICs of a node, for which there are none.
    """

    best: Tried
    tried: tuple[Tried, ...]
    exhaustive: bool
    bounds: PdRange | None

    def __str__(self) -> str:
        wide = max(len("split"), *(len(each.name) for each in self.tried))
        lines = [f"{'split':<{wide}}  {'turns/s':>8}  limited by"]
        lines += [
            f"{each.name:<{wide}}  {each.turns_per_second:>8.1f}  {each.limiting_resource}" for each in self.tried
        ]
        return "\n".join(lines)


def suggest_pd(
    hardware: Mapping[NodeKind, int],
    trace: TraceShape,
    *,
    model: ServedModel,
    agents: int = 256,
    loading: Loading = FULL,
    seed: int = 0,
    stride: int = 20,
    max_simulations: int = 40,
) -> Suggestion:
    """Split the nodes so that agents get most turns a second.

    Args:
        hardware: kind of node -> how many there are; all are used.
        trace: what agents do.
        model: that they call.
        agents: at once; too few leave every split idle, and then all are alike.
        loading: how caches are read.
        seed: of the trace.
        stride: of the trace, for speed.
        max_simulations: beyond, the search climbs instead of trying everything.

    Raises:
        SimulationError: fewer than two nodes, kinds of one name, or none of the splits tried holds the model.
    """
    kinds = tuple(hardware)
    counts = tuple(hardware.values())
    if not all(isinstance(count, int) and count >= 0 for count in counts) or sum(counts) < 2 or max_simulations < 1:
        raise SimulationError("suggest_pd needs at least two nodes, counted, and max_simulations of at least 1")
    if len({kind.name for kind in kinds}) < len(kinds):
        raise SimulationError("two kinds of nodes have the same name: a split could not say which is which")
    turns = trace.draw(agents, seed=seed, stride=stride)
    tried: dict[Split, Tried] = {}

    def rate(split: Split) -> float:
        if split not in tried:
            tried[split] = _try(kinds, counts, split, trace, model, turns, loading)
        return tried[split].turns_per_second

    exhaustive = math.prod(count + 1 for count in counts) - 2 <= max_simulations
    if exhaustive:
        for split in product(*(range(count + 1) for count in counts)):
            if _possible(split, counts):
                rate(split)
    else:
        _climb(counts, rate, lambda: len(tried) >= max_simulations)
    ranked = sorted(tried.values(), key=lambda each: -each.turns_per_second)
    if not ranked[0].turns_per_second:
        raise SimulationError(f"no split of the nodes holds {model.name}: {ranked[0].limiting_resource}")
    return Suggestion(best=ranked[0], tried=tuple(ranked), exhaustive=exhaustive, bounds=_bounds(hardware))


def _try(
    kinds: Sequence[NodeKind],
    counts: Split,
    split: Split,
    trace: TraceShape,
    model: ServedModel,
    turns: Sequence[Sequence[Turn]],
    loading: Loading,
) -> Tried:
    rest = tuple(count - used for count, used in zip(counts, split, strict=True))
    prefill, decode = ({kind.name: n for kind, n in zip(kinds, side, strict=True) if n} for side in (split, rest))
    try:
        cluster = Cluster(
            model=model, prefill=_nodes(kinds, split), decode=_nodes(kinds, rest), longest=trace.max_tokens
        )
    except SimulationError as error:
        return Tried(prefill=prefill, decode=decode, turns_per_second=0.0, limiting_resource=str(error))
    result = simulate_loading(cluster, turns, loading)
    return Tried(
        prefill=prefill,
        decode=decode,
        turns_per_second=result.throughput(),
        limiting_resource=result.limiting_resource,
        utilisation=result.utilisation,
    )


def _nodes(kinds: Sequence[NodeKind], split: Split) -> tuple[NodeKind, ...]:
    return tuple(kind for kind, number in zip(kinds, split, strict=True) for _ in range(number))


def _possible(split: Split, counts: Split) -> bool:
    return 0 < sum(split) < sum(counts) and all(0 <= used <= count for used, count in zip(split, counts, strict=True))


def _climb(counts: Split, rate: Callable[[Split], float], spent: Callable[[], bool]) -> None:
    here = tuple(count // 2 for count in counts)
    if not _possible(here, counts):
        here = next(split for split in _around(tuple(0 for _ in counts)) if _possible(split, counts))
    step = max(1, max(counts) // 4)
    while not spent():
        best = max((s for s in _around(here, step) if _possible(s, counts)), key=rate, default=here)
        if rate(best) > rate(here):
            here = best
        elif step == 1:
            return
        else:
            step //= 2


def _around(split: Split, step: int = 1) -> Iterator[Split]:
    for place in range(len(split)):
        for change in (-step, step):
            yield (*split[:place], split[place] + change, *split[place + 1 :])


def _bounds(hardware: Mapping[NodeKind, int]) -> PdRange | None:
    used = [kind for kind, count in hardware.items() if count]
    if len(used) != 1 or used[0].storage_nic >= used[0].gpus * used[0].compute_nic:
        return None
    kind = used[0]
    return pd_range(kind.gpus, kind.storage_nic / kind.compute_nic, kind.memory, kind.compute_nic)
