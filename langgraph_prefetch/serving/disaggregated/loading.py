"""Agents' turns on a simulated cluster: caches read over one path or two, prefilled, handed over, decoded.

What chooses is what chooses live: `choose_engine` and `choose_path`. Simulated are storage NICs (each reads one cache
after the other, at its full rate), prefill GPUs (one request after the other), the compute NICs of both sides, and the
memory of GPUs: on decode nodes it bounds how many requests decode at once, on prefill nodes how many whole caches are
read ahead. Layer by layer a GPU holds two layers at a time, for which there is always room.

Left out: RDMA and virtual lanes (model traffic is assumed undisturbed), the steps that GPUs take together, the buffers
in main memory, GPU multiplexing, writing of new caches to storage (under 2 % of what is read), and failures.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from itertools import cycle
from statistics import fmean
from typing import Any, TypeVar

from langgraph_prefetch.errors import MissingExtraError, SimulationError
from langgraph_prefetch.serving.disaggregated.choice import PathLoad, choose_engine, choose_path
from langgraph_prefetch.serving.disaggregated.cluster import FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.engines import DecodeGpu, Line, Memory, Node, PrefillGpu
from langgraph_prefetch.serving.disaggregated.hardware import Turn
from langgraph_prefetch.serving.disaggregated.outcome import LoadingResult, Served

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error

Process = Generator[simpy.Event, Any, Any]
AnyGpu = TypeVar("AnyGpu", PrefillGpu, DecodeGpu)

_BULK = 0.8
"""How far resources are watched; in the tail the longest agents are alone."""


def simulate_loading(
    cluster: Cluster,
    agents: Sequence[Sequence[Turn]],
    loading: Loading = FULL,
    *,
    arrivals_per_second: float | None = None,
    seed: int = 0,
) -> LoadingResult:
    """Play every agent's turns, one after the other, without a pause for its tools.

    Args:
        cluster: the machines.
        agents: their turns; a turn longer than the cluster's ``longest`` is an error.
        loading: how caches are read.
        arrivals_per_second: agents come one by one, at random (Poisson); None: all at once.
        seed: of the arrivals.

    Raises:
        SimulationError: no turns, a turn that no GPU holds, or a rate that is not above 0.
    """
    if not any(agents):
        raise SimulationError("no turns to simulate")
    if arrivals_per_second is not None and not arrivals_per_second > 0:
        raise SimulationError(f"arrivals_per_second must be above 0, not {arrivals_per_second!r}")
    longest = max(turn.cached + turn.new + turn.generated for agent in agents for turn in agent)
    if longest > 1.2 * cluster.longest:
        raise SimulationError(f"a turn of {longest} tokens; the cluster is made for {cluster.longest}")
    world = _World(cluster, agents, loading)
    world.env.process(world.arrive(agents, arrivals_per_second, random.Random(seed)))  # noqa: S311  a simulation
    world.env.run()
    return world.result()


class _Request:
    """A turn that waits for engines."""

    __slots__ = ("admitted", "asked_at", "tokens", "turn")

    def __init__(self, turn: Turn, admitted: simpy.Event, now: float) -> None:
        self.turn, self.admitted, self.asked_at = turn, admitted, now
        self.tokens = turn.cached + turn.new


class _World:
    def __init__(self, cluster: Cluster, agents: Sequence[Sequence[Turn]], loading: Loading) -> None:
        self.env, self.cluster, self.loading = simpy.Environment(), cluster, loading
        rate = _handle_tokens_per_flop(cluster, agents)
        self.nodes: list[Node] = []
        self.prefill: list[PrefillGpu] = []
        self.decode: list[DecodeGpu] = []
        for side, name in ((cluster.prefill, "P"), (cluster.decode, "D")):
            for number, kind in enumerate(side):
                node = Node(f"{name}{number}", kind, cluster.model)
                self.nodes.append(node)
                for gpu in range(kind.gpus):
                    label = f"{node.name}.{gpu}"
                    memory = Memory(cluster.context_tokens(kind, side), self.env)
                    if name == "P":
                        self.prefill.append(PrefillGpu(label, node, kind.flops * rate, memory))
                    else:
                        self.decode.append(DecodeGpu(label, node, memory))
        self._turns_p: Iterator[PrefillGpu] = cycle(_across(self.prefill))
        self._turns_d: Iterator[DecodeGpu] = cycle(_across(self.decode))
        self._bulk = max(1, round(_BULK * sum(map(len, agents))))
        self._use: dict[str, float] = {}
        # A side for a whole round of GPUs: side and GPU in step would send one node's requests down one path.
        self._sides = cycle((True,) * len(self.prefill) + (False,) * len(self.prefill))
        self._waiting: deque[_Request] = deque()
        self.served: list[Served] = []
        self.finished: list[float] = []

    def arrive(self, agents: Sequence[Sequence[Turn]], rate: float | None, chance: random.Random) -> Process:
        for agent in agents:
            if rate is not None:
                yield self.env.timeout(chance.expovariate(rate))
            self.env.process(self._agent(agent))

    def _agent(self, turns: Sequence[Turn]) -> Process:
        began = self.env.now
        for turn in turns:
            yield from self._turn(turn)
        if turns:
            self.finished.append(float(self.env.now - began))

    def _turn(self, turn: Turn) -> Process:
        env, model, loading = self.env, self.cluster.model, self.loading
        request = _Request(turn, env.event(), env.now)
        self._waiting.append(request)
        self._admit()
        prefill, decode = yield request.admitted
        size = turn.cached * model.cache_bytes_per_token
        whole = 0.0 if loading.layerwise else prefill.memory.fitting(request.tokens)
        if whole:  # all its layers have their place before they are read, and keep it until they are handed on
            yield from prefill.memory.take(whole)
        node = self._reader(prefill, decode)
        over_prefill = node is prefill.node
        node.queued += turn.cached
        started, read_at = node.storage.pass_through(env.now, size / node.kind.storage_nic)
        node.reads.append((started, read_at, size))
        yield env.timeout(read_at - env.now)
        node.queued -= turn.cached
        # The prefill GPU's NIC carries a cache that came the direct way twice: in, and out to the decode node.
        load = size / prefill.node.kind.compute_nic * (2 if over_prefill else 1)
        compute = model.prefill_flops(turn.cached, turn.new) / prefill.node.kind.flops
        busy = max(compute, load) if loading.layerwise else compute + load
        prefill.computing += compute
        _, done_at = prefill.line.pass_through(env.now, busy)
        yield env.timeout(done_at - env.now)
        if whole:
            prefill.memory.give_back(whole)
        prefill.unfinished -= request.tokens
        self._admit()
        # Into the decode node, and from its main memory into its GPU: twice over that GPU's NIC, whatever the path was.
        _, there_at = decode.line.pass_through(env.now, 2 * size / decode.node.kind.compute_nic)
        yield env.timeout(there_at - env.now)
        tokens = decode.memory.fitting(request.tokens + turn.generated)
        yield from decode.memory.take(tokens)
        first = float(env.now + model.seconds_per_token)
        yield env.timeout(turn.generated * model.seconds_per_token)
        decode.memory.give_back(tokens)
        decode.unfinished -= request.tokens
        self.served.append(Served(asked_at=request.asked_at, first_at=first, done_at=float(env.now), turn=turn))
        if len(self.served) == self._bulk:
            self._use = self._used(float(env.now))

    def _admit(self) -> None:
        """Those who wait get engines, first come first served, while there are any that take them."""
        while self._waiting:
            prefill = self._prefill_gpu()
            if prefill is None:
                return
            request = self._waiting.popleft()
            decode = self._decode_gpu()
            prefill.unfinished += request.tokens
            decode.unfinished += request.tokens
            request.admitted.succeed((prefill, decode))

    def _prefill_gpu(self) -> PrefillGpu | None:
        if not self.loading.scheduled:
            return next(self._turns_p)
        chosen = choose_engine([each.load for each in self.prefill], self.loading.gates)
        return None if chosen is None else next(each for each in self.prefill if each.name == chosen.name)

    def _decode_gpu(self) -> DecodeGpu:
        return min(self.decode, key=lambda gpu: gpu.unfinished) if self.loading.scheduled else next(self._turns_d)

    def _reader(self, prefill: PrefillGpu, decode: DecodeGpu) -> Node:
        if not self.loading.two_paths:
            return prefill.node
        if not self.loading.scheduled:
            return prefill.node if next(self._sides) else decode.node
        sides = [
            PathLoad(name=each.name, read_queue=each.queued, read_rate=each.read_rate)
            for each in (prefill.node, decode.node)
        ]
        chosen = choose_path(sides, self.loading.gates)
        return decode.node if chosen is not None and chosen.name == decode.node.name else prefill.node

    def _used(self, seconds: float) -> dict[str, float]:
        lines: dict[str, list[Line]] = {}
        for node in self.nodes:
            lines.setdefault(f"storage NIC of {_side(node)} nodes", []).append(node.storage)
        lines["prefill GPUs"] = [each.line for each in self.prefill]
        lines["compute NICs of decode nodes"] = [each.line for each in self.decode]
        use = {name: min(1.0, sum(e.busy for e in group) / len(group) / seconds) for name, group in lines.items()}
        for name, gpus in (("prefill", self.prefill), ("decode", self.decode)):
            use[f"memory of {name} GPUs"] = fmean(each.memory.used(seconds) for each in gpus)
        return use

    def result(self) -> LoadingResult:
        return LoadingResult(
            cluster=self.cluster.name,
            model=self.cluster.model.name,
            loading=self.loading.name,
            seconds=float(self.env.now),
            served=tuple(self.served),
            agent_seconds=tuple(self.finished),
            utilisation=self._use,
            reads={node.name: tuple(node.reads) for node in self.nodes},
        )


def _side(node: Node) -> str:
    return "prefill" if node.name.startswith("P") else "decode"


def _across(gpus: Sequence[AnyGpu]) -> list[AnyGpu]:
    """One GPU of each node, then the next of each: taking turns alternates between the nodes."""
    nodes: dict[str, list[AnyGpu]] = {}
    for gpu in gpus:
        nodes.setdefault(gpu.node.name, []).append(gpu)
    longest = max(map(len, nodes.values()))
    return [group[place] for place in range(longest) for group in nodes.values() if place < len(group)]


def _handle_tokens_per_flop(cluster: Cluster, agents: Sequence[Sequence[Turn]]) -> float:
    """Tokens, cached ones included, that a FLOP handles: what the thresholds are made of, known beforehand."""
    turns = [turn for agent in agents for turn in agent]
    flops = sum(cluster.model.prefill_flops(turn.cached, turn.new) for turn in turns)
    return sum(turn.cached + turn.new for turn in turns) / flops
