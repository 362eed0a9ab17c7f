"""Sums of money are exact, whatever is added up."""

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.money import less, number, per_thousand, shown, times, total

PRICES = st.decimals(min_value=0, max_value=10**9, places=12).map(lambda each: number("price", each))
QUANTITIES = st.integers(0, 10**15).map(Decimal)


@given(st.lists(st.tuples(QUANTITIES, PRICES), max_size=30))
def test_products_and_sums_are_exact(items: list[tuple[Decimal, Decimal]]) -> None:
    """The sum of decimals is that of the fractions they stand for."""
    amount = total(times(quantity, price) for quantity, price in items)
    assert Fraction(amount) == sum((Fraction(quantity) * Fraction(price) for quantity, price in items), Fraction())


def test_where_ordinary_decimals_would_round() -> None:
    """28 digits, as Python has them unless told otherwise, would lose the smallest price."""
    small, large = Decimal("0.000000000001"), Decimal(10) ** 17
    assert Context(prec=28).add(large, small) == large
    assert Fraction(total((large, small))) == 10**17 + Fraction(1, 10**12)
    assert less(total((large, small)), large) == small


@given(st.decimals(min_value=0, max_value=10**6, places=9), st.integers(1, 10**6))
def test_per_thousand_is_right_to_a_millionth(amount: Decimal, questions: int) -> None:
    """Rounded once, by at most half of a step."""
    found = per_thousand(amount, questions)
    assert abs(Fraction(found) - Fraction(amount) * 1000 / questions) <= Fraction(1, 2_000_000)


def test_a_float_is_what_it_prints_as() -> None:
    """Measured seconds come as floats: 0.1 is a tenth."""
    assert number("seconds", 0.1) == Decimal("0.1")
    assert str(number("zero", Decimal("-0"))) == "0"


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), Decimal("sNaN"), True, "3", 1e30, 1e-30])
def test_what_is_no_amount_is_refused_by_name(value: object) -> None:
    """Nothing that is not finite, or has more digits than the sums keep, comes in."""
    with pytest.raises(ConfigurationError, match="the price"):
        number("the price", value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0.10", "0.1"), ("1E+3", "1000"), ("-0.0", "0"), ("0E-12", "0"), ("1E-9", "0.000000001"), ("-2.50", "-2.5")],
)
def test_amounts_are_shown_with_all_digits_and_none_that_say_nothing(amount: str, text: str) -> None:
    """No exponents, no zeros at the end."""
    assert shown(Decimal(amount)) == text
