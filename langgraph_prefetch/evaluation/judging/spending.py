"""What judging may cost, what it has cost, and what it would cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError

REPLY_TOKENS = 300
"""What a reply is taken to have before it is known: a few sentences and a score."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrice:
    """What a judge charges for a million tokens, in the currency of the budget."""

    input_per_million: float
    output_per_million: float

    def __post_init__(self) -> None:
        for name in ("input_per_million", "output_per_million"):
            _finite(name, getattr(self, name))

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What that many tokens cost."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBudget:
    """What one run of judges may spend; None: no limit.

    Attributes:
        calls: replies asked for, whatever came of them; stored verdicts are free.
        money: in the currency of the judges' prices. A call that might go beyond it is not made.
    """

    calls: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if self.calls is not None:
            require_at_least("a budget of calls", self.calls, 0)
        if self.money is not None:
            _finite("a budget of money", self.money)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent.

    Attributes:
        calls: made in this run.
        stored: verdicts that were there already, and cost nothing.
        input_tokens, output_tokens: as the judges reported, or as estimated where they did not.
        money: of the calls of judges whose price is known.
    """

    calls: int = 0
    stored: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    """What a run would do; a dry run, nothing is called.

    Attributes:
        calls: to be made, at most.
        stored: verdicts that are there already.
        input_tokens, output_tokens: estimated.
        money: estimated; None if a judge's price is not known.
        within_budget: whether all of it fits the budget.
    """

    calls: int
    stored: int
    input_tokens: int
    output_tokens: int
    money: float | None
    within_budget: bool


@dataclass(slots=True)
class Ledger:
    """Counts what is spent, and reserves before it is: calls side by side cannot go beyond the budget together."""

    budget: JudgeBudget
    calls: int = 0
    stored: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    reserved: float = 0.0
    refused: int = 0

    def reserve(self, money: float) -> bool:
        """Takes a call that may cost ``money``; False, and nothing taken, if it does not fit."""
        calls, limit = self.budget.calls, self.budget.money
        if (calls is not None and self.calls >= calls) or (
            limit is not None and self.money + self.reserved + money > limit + 1e-12
        ):
            self.refused += 1
            return False
        self.calls += 1
        self.reserved += money
        return True

    def settle(self, reserved: float, spent: float, input_tokens: int, output_tokens: int) -> None:
        """Replaces what was reserved for a call by what it cost."""
        self.reserved -= reserved
        self.money += spent
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens

    @property
    def spent(self) -> Spent:
        """So far."""
        return Spent(
            calls=self.calls,
            stored=self.stored,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            money=self.money,
        )


def tokens_of(messages: Sequence[tuple[str, str]]) -> int:
    """About how many tokens messages have: one for 3 bytes of UTF-8, rather more than the usual tokenizers make."""
    return sum(4 + math.ceil(len(text.encode()) / 3) for _, text in messages)


def _finite(name: str, value: float) -> None:
    require_at_least(name, value, 0)
    if not math.isfinite(value):
        raise ConfigurationError(f"{name} must be finite, not {value!r}")
