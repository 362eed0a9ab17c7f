"""Nodes, models and agents' traces, as a simulation of cache loading needs them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property

from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class NodeKind:
    """A kind of node. Bandwidths in bytes a second.

    Attributes:
        gpus: of a node, each with a compute NIC.
        compute_nic: one compute NIC.
        storage_nic: the node's storage NIC.
        memory: the node's main memory.
        hbm_bytes: memory of one GPU.
        flops: what one GPU achieves in prefill, not what its data sheet says.
        source: where the figures come from, and which are assumed.
    """

    name: str
    gpus: int
    compute_nic: float
    storage_nic: float
    memory: float
    hbm_bytes: float
    flops: float
    source: str = ""

    def __post_init__(self) -> None:
        values = (self.gpus, self.compute_nic, self.storage_nic, self.memory, self.hbm_bytes, self.flops)
        if not all(math.isfinite(value) and value > 0 for value in values) or self.gpus != int(self.gpus):
            raise ConfigurationError(
                f"node kind {self.name!r}: every figure must be a finite number above 0, and its GPUs whole"
            )


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model, as far as its cache and its prefill go.

    Attributes:
        cache_bytes_per_token: of all layers.
        active_parameters: that a token meets.
        attention_flops: of a token's attention, whatever its context (sparse attention reads a fixed number of tokens).
        attention_flops_per_token: of a token's attention, for each token of context.
        weight_bytes: of the whole model.
        sharded: the weights are spread over all GPUs of a side; else each GPU holds them all.
        seconds_per_token: of decoding, at whatever load.
        source: where the figures come from, and which are assumed.
    """

    name: str
    cache_bytes_per_token: float
    active_parameters: float
    attention_flops: float
    attention_flops_per_token: float
    weight_bytes: float
    sharded: bool
    seconds_per_token: float
    source: str = ""

    def __post_init__(self) -> None:
        above = (self.cache_bytes_per_token, self.active_parameters, self.weight_bytes, self.seconds_per_token)
        others = (self.attention_flops, self.attention_flops_per_token)
        if not (all(0 < value < math.inf for value in above) and all(0 <= value < math.inf for value in others)):
            raise ConfigurationError(
                f"model {self.name!r}: bytes, parameters and seconds must be finite and above 0, FLOPs of attention"
                " from 0"
            )

    def prefill_flops(self, cached: int, new: int) -> float:
        """Of ``new`` tokens behind ``cached`` ones."""
        context = cached + new / 2
        each = 2 * self.active_parameters + self.attention_flops + self.attention_flops_per_token * context
        return new * each

    def cache_compute_ratio(self, cached: int, new: int) -> float:
        """GB to load for each PFLOP to compute."""
        return cached * self.cache_bytes_per_token / 1e9 / (self.prefill_flops(cached, new) / 1e15)


@dataclass(frozen=True, slots=True)
class Turn:
    """A model call of an agent: tokens that are cached, that are new, and that are generated.

    Raises:
        ConfigurationError: fewer than 0 that are cached, or than 1 of the others.
    """

    cached: int
    new: int
    generated: int

    def __post_init__(self) -> None:
        if not (self.cached >= 0 and self.new >= 1 and self.generated >= 1):
            raise ConfigurationError(f"a turn has tokens from 0 cached, 1 new and 1 generated on, not {self}")


@dataclass(frozen=True, kw_only=True)
class TraceShape:
    """Agents by the means of their trace.

    The means of a turn are kept as they are, for they are what the load consists of; an agent's context grows from its
    first prompt, which is as long as it takes for the mean context to come out, to its total. Published means need not
    add up (157 turns of 429 + 176 tokens are more than the 55,958 that an agent of table 2 of arXiv 2602.21548 ends
    with), so that growth and appended tokens are not the same here. Assumed: longer agents take more turns in
    proportion, and beyond that the number of turns is log-normal with ``spread``.

    Attributes:
        max_tokens: where an agent is cut.
        turns: mean number.
        appended: mean new tokens of a turn.
        generated: mean of a turn.
        total: mean tokens of an agent at its end.
        context: mean cached tokens of a turn.
        spread: of the logarithm of the turns among agents that are equally long; assumed.
    """

    name: str
    max_tokens: int
    turns: float
    appended: float
    generated: float
    total: float
    context: float
    spread: float = 0.25
    source: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.context < self.total < self.max_tokens < math.inf:
            raise ConfigurationError(f"trace {self.name!r}: needs 0 < context < total < max_tokens")
        if not all(0 < value < math.inf for value in (self.turns, self.appended, self.generated)):
            raise ConfigurationError(f"trace {self.name!r}: means of turns must be finite and above 0")
        if not 0 <= self.spread < math.inf:
            raise ConfigurationError(f"trace {self.name!r}: a spread is 0 or more")

    @cached_property
    def first_share(self) -> float:
        """Of an agent's tokens in its first prompt."""
        return max(0.02, 2 * self.context / self.total - 1)

    def scaled(self, *, appended: float = 1.0, generated: float = 1.0) -> TraceShape:
        """Longer or shorter turns, cut at the same length: an agent has the fewer of them."""
        if not (appended > 0 and generated > 0):
            raise ConfigurationError("turns are scaled by factors above 0")
        new, made = self.appended * appended, self.generated * generated
        turns = self.turns * (self.appended + self.generated) / (new + made)
        return TraceShape(
            name=f"{self.name}, append x{appended:g}, generate x{generated:g}",
            max_tokens=self.max_tokens,
            turns=turns,
            appended=new,
            generated=made,
            total=self.total,
            context=self.context,
            spread=self.spread,
            source=self.source,
        )

    def draw(self, agents: int, *, seed: int = 0, stride: int = 1) -> tuple[tuple[Turn, ...], ...]:
        """The turns of so many agents.

        Args:
            agents: how many.
            seed: the same gives the same.
            stride: every so manieth turn only, which stands for that many: all durations shrink by that much, while
                what is under way at any time stays the same.

        Raises:
            ConfigurationError: a number below 1.
        """
        if agents < 1 or stride < 1:
            raise ConfigurationError(f"agents and stride start at 1, not {agents} and {stride}")
        chance = random.Random(seed)  # noqa: S311  a simulation
        return tuple(self._agent(chance, stride) for _ in range(agents))

    def _agent(self, chance: random.Random, stride: int) -> tuple[Turn, ...]:
        mean = self.total / self.max_tokens
        total = self.max_tokens * chance.random() ** ((1 - mean) / mean)
        drawn = total / self.total * chance.lognormvariate(-(self.spread**2) / 2, self.spread)
        turns = max(1, round(self.turns * drawn))
        first = total * self.first_share
        appended = max(1.0, (turns * self.appended - first) / max(1, turns - 1))
        keep, context, grows = chance.randrange(stride), 0.0, (total - first) / turns
        kept = []
        for number in range(turns):
            if number % stride == keep:
                # A turn that stands for many varies as their mean does; alone it is exponential.
                new = chance.gammavariate(stride, appended / stride) if number else first
                made = chance.gammavariate(stride, self.generated / stride)
                kept.append(Turn(cached=int(context), new=max(1, round(new)), generated=max(1, round(made))))
            context += grows if number else first
        return tuple(kept)
