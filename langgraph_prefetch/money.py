"""Exact money: decimal numbers that no operation rounds unless it is asked to.

Amounts are products and sums of decimals, and both are exact if enough digits are kept. Of what enters, the digits are
bounded, so that the digits here are always enough; if they ever were not, `decimal.Inexact` would be raised rather than
a rounded sum be shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, InvalidOperation, Overflow

from langgraph_prefetch.errors import ConfigurationError

MAX_DIGITS = 30
"""A price or a quantity has at most so many digits, and lies between 1e-18 and 1e18 or is 0."""
MICRO = Decimal("0.000001")
"""What amounts per 1,000 questions are rounded to, before they are added up."""
_EXPONENT = 18
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN, traps=[Inexact, InvalidOperation, Overflow])
_ROUNDED = Context(prec=400, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, Overflow])


def number(name: str, value: Decimal | float) -> Decimal:
    """``value`` as a decimal that can be calculated with: a float is what it prints as.

    Raises:
        ConfigurationError: it is not a finite number from 0 on, or has more digits than a price or a count can need.
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        raise ConfigurationError(f"{name} must be a number, not {value!r}")
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    if not exact.is_finite() or exact < 0:
        raise ConfigurationError(f"{name} must be a finite number from 0 on, not {value!r}")
    if exact and (len(exact.as_tuple().digits) > MAX_DIGITS or abs(exact.adjusted()) > _EXPONENT):
        raise ConfigurationError(f"{name} must have at most {MAX_DIGITS} digits and lie between 1e-18 and 1e18")
    return abs(exact)  # of a zero: without its sign


def times(quantity: Decimal, price: Decimal) -> Decimal:
    """Their product, exactly."""
    return _EXACT.multiply(quantity, price)


def less(first: Decimal, second: Decimal) -> Decimal:
    """``first - second``, exactly."""
    return _EXACT.subtract(first, second)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """Their sum, exactly."""
    result = Decimal(0)
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def per_thousand(amount: Decimal, questions: int) -> Decimal:
    """What 1,000 questions cost if ``questions`` cost ``amount``, to a millionth. 0 questions are an error."""
    return share(times(amount, Decimal(1000)), Decimal(questions), MICRO)


def share(amount: Decimal, of: Decimal, step: Decimal) -> Decimal:
    """``amount / of``, rounded to a multiple of ``step``, half to even; ``of`` must not be 0."""
    return _ROUNDED.quantize(_ROUNDED.divide(amount, of), step)


def shown(amount: Decimal) -> str:
    """All digits, none of them an exponent, and no zeros at the end."""
    text = f"{amount:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
