"""What a replay assumes about the model, the backend and the prefetcher."""

from __future__ import annotations

import math
from dataclasses import dataclass

from langgraph_prefetch.config import Budgets, ExecutorLimits, PrefetchOptions, Price
from langgraph_prefetch.errors import ConfigurationError

_UNLIMITED = 1_000_000_000
"""So that no bound keeps two callers of a crowd from meeting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """The assumptions of a replay.

    Attributes:
        tools: the recorded actions that are search calls.
        tokens_per_second: how fast the model writes; its first token comes after one token's time.
        latency_seconds: how long every search takes.
        graph_step_seconds: from the end of the model's message to the call of the tool.
        sealed: start exact calls from closed arguments and textual actions; False leaves reasoning alone.
        reuse_seconds: see :class:`~langgraph_prefetch.config.PrefetchOptions`.
        max_guesses: guessed queries started during one step, at most.
        threshold: P(search) from which a guess may start; None takes the default.
        min_probability: guesses less likely than this are not made; None takes the default.
        gate: start a guess only where that is worth its price.
        cost: the price of one call, in the unit of ``value_of_second``.
        value_of_second: what a saved second is worth.
        look_every_seconds: so often the stream is looked at, and all that has been written is read; 0: every token.
        inject_collisions: run every episode as many callers at once whose calls look alike (see ``callers``).
    """

    tools: tuple[str, ...] = ("search",)
    tokens_per_second: float = 50.0
    latency_seconds: float = 0.5
    graph_step_seconds: float = 0.002
    sealed: bool = True
    reuse_seconds: float | None = None
    max_guesses: int = 3
    threshold: float | None = None
    min_probability: float | None = None
    gate: bool = False
    cost: float = 0.2
    value_of_second: float = 1.0
    look_every_seconds: float = 0.0
    inject_collisions: bool = False

    def __post_init__(self) -> None:
        if not self.tools or not all(self.tools):
            raise ConfigurationError("name at least one tool, and none with an empty name")
        if not 0 < self.tokens_per_second < math.inf:
            raise ConfigurationError(f"tokens_per_second must be above 0, not {self.tokens_per_second!r}")
        for name in ("latency_seconds", "graph_step_seconds", "look_every_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigurationError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        if self.min_probability is not None and not 0 <= self.min_probability <= 1:
            raise ConfigurationError(f"min_probability must be in [0, 1], not {self.min_probability!r}")
        for name in ("cost", "value_of_second"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigurationError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        self.options()  # checks the rest

    def options(self) -> PrefetchOptions:
        """The prefetcher's own options."""
        if not self.inject_collisions:
            return PrefetchOptions(
                budgets=Budgets(guesses_per_step=self.max_guesses),
                reuse_seconds=self.reuse_seconds,
                threshold=self.threshold,
                value_of_second=self._value(),
            )
        return PrefetchOptions(
            budgets=Budgets(
                guesses_per_step=self.max_guesses,
                per_run=_UNLIMITED,
                per_scope_per_minute=_UNLIMITED,
                per_process_per_minute=_UNLIMITED,
            ),
            reuse_seconds=self.reuse_seconds,
            threshold=self.threshold,
            value_of_second=self._value(),
            scope=lambda configurable: configurable["tenant"],
        )

    def price(self) -> Price | None:
        """What one call costs the gate; None without one."""
        return Price(money=self.cost) if self.gate else None

    def _value(self) -> Price | None:
        return Price(money=self.value_of_second) if self.gate else None

    def limits(self) -> ExecutorLimits:
        """The bounds of the executor."""
        if not self.inject_collisions:
            return ExecutorLimits()
        return ExecutorLimits(max_running=_UNLIMITED, max_queued=_UNLIMITED)
