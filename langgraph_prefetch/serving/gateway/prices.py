"""What a call costs, as plain decimals; `load_prices` of the evaluation reads them from a dated file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from langgraph_prefetch.money import number, times

_MILLION = Decimal("0.000001")


class PerToken(Protocol):
    """The prices of a chat model, as a price file has them."""

    @property
    def input_per_million(self) -> Decimal: ...  # noqa: D102
    @property
    def output_per_million(self) -> Decimal: ...  # noqa: D102
    @property
    def cached_input_per_million(self) -> Decimal | None: ...  # noqa: D102


class PerCall(Protocol):
    """The price of a search, as a price file has it."""

    @property
    def per_call(self) -> Decimal: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPrice:
    """Of one component. What is 0 costs nothing.

    Attributes:
        per_call: of each call that the component began to answer.
        input_per_million, output_per_million: tokens.
        cached_input_per_million: of tokens read from the provider's prompt cache; as ``input_per_million`` if None.
        per_second: while it answers, for what is billed by time.
    """

    per_call: Decimal = Decimal(0)
    input_per_million: Decimal = Decimal(0)
    output_per_million: Decimal = Decimal(0)
    cached_input_per_million: Decimal | None = None
    per_second: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for name in ("per_call", "input_per_million", "output_per_million", "cached_input_per_million", "per_second"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, number(name, value))

    @classmethod
    def of(cls, price: CallPrice | PerToken | PerCall | Decimal | float) -> CallPrice:
        """``price`` as one of these: a number is that of a call; a model's or a search's price of a price file.

        Raises:
            ConfigurationError: it is none of them, or negative.
        """
        if isinstance(price, CallPrice):
            return price
        told: Any = price
        if hasattr(told, "input_per_million"):
            return cls(
                input_per_million=told.input_per_million,
                output_per_million=told.output_per_million,
                cached_input_per_million=told.cached_input_per_million,
            )
        return cls(per_call=number("price", getattr(told, "per_call", told)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What one call used. Tokens read from a cache are not among ``input_tokens``."""

    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    seconds: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One thing that was used, and its price.

    Attributes:
        what: ``calls``, ``input tokens`` …
        quantity: of it.
        unit_price: of one.
    """

    what: str
    quantity: Decimal
    unit_price: Decimal

    @property
    def amount(self) -> Decimal:
        """Exactly."""
        return times(self.quantity, self.unit_price)


def charges(used: Used, price: CallPrice) -> Iterable[Charge]:
    """What a call costs, thing by thing; nothing that was not used or costs nothing."""
    cached = price.cached_input_per_million
    rows: tuple[tuple[str, Decimal | int, Decimal], ...] = (
        ("calls", used.calls, price.per_call),
        ("input tokens", used.input_tokens, times(price.input_per_million, _MILLION)),
        (
            "cached input tokens",
            used.cached_input_tokens,
            times(price.input_per_million if cached is None else cached, _MILLION),
        ),
        ("output tokens", used.output_tokens, times(price.output_per_million, _MILLION)),
        ("seconds", used.seconds, price.per_second),
    )
    for what, quantity, unit_price in rows:
        if quantity and unit_price:
            yield Charge(what=what, quantity=Decimal(quantity), unit_price=unit_price)
