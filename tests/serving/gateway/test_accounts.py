"""Costs add up exactly, and waste has lines of its own."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.costs.price_file import load_prices
from langgraph_prefetch.events import Fate, SpeculationEnded
from langgraph_prefetch.serving.gateway import Account, CallPrice, Fruit, gateway
from langgraph_prefetch.serving.gateway.prices import Used, charges
from langgraph_prefetch.values import Source

PRICE = CallPrice(per_call=Decimal("0.01"))
ONE = tuple(charges(Used(calls=1), PRICE))


def ended(speculation: str, fate: Fate) -> SpeculationEnded:
    return SpeculationEnded(
        run_id="r",
        step=1,
        at=1.0,
        speculation_id=speculation,
        tool="search",
        source=Source.REASONING,
        fate=fate,
        reason="",
    )


PRICES = st.builds(
    CallPrice,
    per_call=st.decimals(0, 10, places=9),
    input_per_million=st.decimals(0, 100, places=7),
    output_per_million=st.decimals(0, 100, places=7),
    cached_input_per_million=st.none() | st.decimals(0, 100, places=7),
    per_second=st.decimals(0, 1, places=9),
)
USED = st.builds(
    Used,
    calls=st.integers(0, 1),
    input_tokens=st.integers(0, 10**6),
    cached_input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    seconds=st.decimals(0, 1000, places=6),
)
CALLS = st.lists(st.tuples(st.sampled_from("ab"), PRICES, USED, st.booleans(), st.sampled_from([None, "1", "2"])))


@given(CALLS, st.lists(st.sampled_from([("1", Fate.SERVED), ("2", Fate.WASTED), ("1", Fate.CANCELLED)])))
def test_the_total_is_the_sum_of_the_calls(
    calls: list[tuple[str, CallPrice, Used, bool, str | None]], ends: list[tuple[str, Fate]]
) -> None:
    """Exactly, whatever the prices, and whatever becomes of speculations."""
    account, told = Account(), Fraction(0)
    for component, price, used, wasted, speculation in calls:
        parts = charges(used, price)
        early = speculation is not None
        told += Fraction(account.charge("g", component, parts, wasted=wasted, early=early, speculation=speculation))
    for speculation, fate in ends:
        account(ended(speculation, fate))
    statement = account.statement()
    assert Fraction(statement.total) == told == sum((Fraction(line.amount) for line in statement.lines), Fraction(0))
    assert sum(statement.by_component().values(), Decimal(0)).normalize() == +statement.total.normalize()


def test_early_calls_are_open_until_their_speculation_has_ended() -> None:
    """Then used or wasted; whichever comes first, the charge or the end."""
    account = Account()
    for speculation in ("served", "wasted"):
        account.charge("g", "search", ONE, early=True, speculation=speculation)
    assert {line.fruit: line.quantity for line in account.statement().lines} == {Fruit.OPEN: 2}
    account(ended("served", Fate.SERVED))
    account(ended("wasted", Fate.WASTED))
    account(ended("late", Fate.CANCELLED))
    account.charge("g", "search", ONE, early=True, speculation="late")
    statement = account.statement()
    assert {line.fruit: line.quantity for line in statement.lines} == {Fruit.USED: 1, Fruit.WASTED: 2}
    assert (statement.wasted, statement.total) == (Decimal("0.02"), Decimal("0.03"))


def test_a_price_that_changes_has_a_line_of_its_own() -> None:
    """What was used before keeps its price."""
    account = Account()
    account.charge("g", "a", ONE)
    account.charge("g", "a", charges(Used(calls=3), CallPrice(per_call=Decimal("0.02"))))
    assert [(line.quantity, line.unit_price) for line in account.statement().lines] == [
        (Decimal(1), Decimal("0.01")),
        (Decimal(3), Decimal("0.02")),
    ]


def test_prices_of_a_price_file_are_taken_as_they_are(tmp_path: Path) -> None:
    """A model's, with tokens read from the cache; a search's; or a number for each call."""
    file = tmp_path / "prices.toml"
    file.write_text(
        'date = 2026-11-01\ncurrency = "USD"\n[models.large]\ninput_per_million = 3.0\noutput_per_million = 15.0\n'
        'cached_input_per_million = 0.3\nsource = "example"\n[retrieval]\nper_call = 0.002\nsource = "example"\n'
    )
    prices = load_prices(file)
    model = CallPrice.of(prices.model("large"))
    used = Used(calls=1, input_tokens=1_000, cached_input_tokens=2_000, output_tokens=100)
    assert sum((each.amount for each in charges(used, model)), Decimal(0)) == Decimal("0.0051")
    assert prices.retrieval is not None
    assert CallPrice.of(prices.retrieval).per_call == Decimal("0.002")
    assert CallPrice.of(0.1).per_call == Decimal("0.1")


@pytest.mark.parametrize("raw", [False, True])
def test_tokens_from_a_cache_are_told_apart(raw: bool) -> None:
    """Providers count them among the input; they are billed once, at their own price. Also inside structured output."""
    usage: Any = {
        "input_tokens": 100, "output_tokens": 10, "total_tokens": 110, "input_token_details": {"cache_read": 40},
    }  # fmt: skip
    message = AIMessage("yes", usage_metadata=usage)
    answers: Runnable[Any, Any] = RunnableLambda(lambda given: {"raw": message, "parsed": True} if raw else message)
    price = CallPrice(input_per_million=Decimal(3), output_per_million=Decimal(15), cached_input_per_million=Decimal(1))
    gated: Any = gateway(answers, name="large", price=price)
    gated.invoke("?")
    lines = gated.gateway.account.statement().lines
    assert {line.unit_price * 1_000_000: line.quantity for line in lines} == {3: 60, 15: 10, 1: 40}


@pytest.mark.parametrize("price", [-1, float("nan"), "free", True])
def test_a_price_that_is_none_is_refused(price: object) -> None:
    """The message says what it must be."""
    with pytest.raises(ConfigurationError, match="price must"):
        CallPrice.of(price)  # type: ignore[arg-type]
