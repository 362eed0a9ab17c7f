"""What there is to plan with: so many of each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from langgraph_prefetch.errors import ConfigurationError


def checked_budget(budget: Mapping[str, float]) -> dict[str, float]:
    """The budget as numbers.

    Raises:
        ConfigurationError: nothing in it, or an amount that is negative or no number.
    """
    if not budget:
        raise ConfigurationError("an empty budget: name what there is, such as {'cpu': 16}")
    for name, amount in budget.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not (isfinite(amount) and amount >= 0):
            raise ConfigurationError(f"the budget has {amount!r} of {name!r}; it is a number, 0 or more")
    return {name: float(amount) for name, amount in budget.items()}


def parse_budget(words: Iterable[str]) -> dict[str, float]:
    """``["cpu=16", "gpu=2"]`` as a budget; one word may hold several with commas between them.

    Raises:
        ConfigurationError: a word that is not NAME=NUMBER, or a resource twice.
    """
    budget: dict[str, float] = {}
    for word in (part.strip() for each in words for part in each.split(",")):
        name, _, number = word.partition("=")
        try:
            amount = float(number)
        except ValueError:
            raise ConfigurationError(f"a budget is NAME=NUMBER, such as cpu=16, not {word!r}") from None
        if not name or name in budget:
            raise ConfigurationError(f"the budget names {name!r} twice" if name else f"no name in {word!r}")
        budget[name] = amount
    return checked_budget(budget)
