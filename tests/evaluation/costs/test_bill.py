"""Bills add up: every component has its line, what is not known is not 0, and what has no price is an error."""

import dataclasses
import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import UnknownPriceError
from langgraph_prefetch.evaluation.costs.bill import GROUPS, Bill, bill
from langgraph_prefetch.evaluation.costs.compare import difference
from langgraph_prefetch.evaluation.costs.price_file import load_prices
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.costs.usage import Counted, Usage, billed_requests, units

PRICES = load_prices("evals/prices.toml")
NAMES = [each.name for each in dataclasses.fields(Usage) if each.name != "questions"]
COUNTS = st.builds(
    Counted,
    known=st.decimals(min_value=0, max_value=10**12, places=9),
    unknown_runs=st.integers(0, 3),
)
USAGES = st.builds(Usage, questions=st.integers(1, 10**6), **dict.fromkeys(NAMES, COUNTS))


def of(arm: str, usage: Usage) -> Bill:
    return bill(arm, usage, PRICES, model="example-large", embedder="example-embedder")


def known(count: float) -> Counted:
    return Counted(known=Decimal(str(count)))


@given(USAGES)
def test_components_add_up_to_the_total_exactly(usage: Usage) -> None:
    """In the sums of the run, and in those of 1,000 questions, no digit is lost between the lines and the total."""
    made = of("any", usage)
    assert Fraction(made.total) == sum((Fraction(line.amount) for line in made.lines), Fraction())
    shares = [made.per_thousand(line) for line in made.lines]
    assert Fraction(made.total_per_thousand) == sum(map(Fraction, shares), Fraction())
    assert Fraction(made.total_per_thousand) == sum(map(Fraction, made.groups().values()), Fraction())
    assert all(each == each.quantize(Decimal("0.000001")) for each in shares)


@given(USAGES, USAGES)
def test_a_difference_is_that_of_its_lines(first: Usage, second: Usage) -> None:
    """What two arms differ by is what their lines differ by, exactly; a line that is unknown in one is in none."""
    bills = of("bare", first), of("wrapped", second)
    found = difference(*bills)
    totals = [
        sum((Fraction(each.per_thousand(line)) for line in each.lines if line.name not in found.unknown), Fraction())
        for each in bills
    ]
    assert Fraction(found.total) == totals[1] - totals[0]
    assert found.complete or not all(each.complete for each in bills)


def test_every_component_by_hand() -> None:
    """One bill, calculated with pencil and paper."""
    usage = Usage(
        questions=500,
        input_tokens=known(2_000_000),
        cached_input_tokens=known(1_000_000),
        output_tokens=known(100_000),
        wasted_input_tokens=known(10_000),
        wasted_output_tokens=known(1_000),
        retrievals=known(1_000),
        wasted_retrievals=known(250),
        queue_requests=known(3_000_000),
        cache_reads=known(2_000_000),
        cache_writes=known(1_000_000),
        cache_gb_months=known(0.5),
        worker_vcpu_seconds=known(400),
        worker_gb_seconds=known(1_000),
        embedding_tokens=known(1_000_000),
    )
    made = of("wrapped", usage)
    assert {line.name: str(line.amount.normalize()) for line in made.lines} == {
        "model input": "6",
        "model input, cached": "0.3",
        "model output": "1.5",
        "wasted model calls, input": "0.03",
        "wasted model calls, output": "0.015",
        "retrievals": "2",
        "wasted retrievals": "0.5",
        "queue requests": "1.2",
        "cache reads": "0.3",
        "cache writes": "0.75",
        "cache storage": "0.125",
        "worker processors": "0.005",
        "worker memory": "0.0014",
        "query embeddings": "0.02",
    }
    assert made.total == Decimal("12.7464")
    assert made.total_per_thousand == Decimal("25.4928")
    assert made.wasted == Decimal("0.545")
    assert made.groups()["retrieval, wasted"] == 1
    assert {line.group for line in made.lines} == set(GROUPS)
    assert made.complete


def test_what_nobody_told_is_unknown_and_not_nothing() -> None:
    """Where no run told, a line is unknown; where some did, it is the least; and the total says so."""
    none = of("any", Usage(questions=2, input_tokens=Counted(unknown_runs=2)))
    (line,) = (each for each in none.lines if each.name == "model input")
    assert not line.known
    assert not none.complete
    some = of("any", Usage(questions=2, input_tokens=Counted(known=Decimal(10), unknown_runs=1)))
    (line,) = (each for each in some.lines if each.name == "model input")
    assert line.known
    assert line.amount > 0
    assert not some.complete
    assert not difference(none, of("told", Usage(questions=2, input_tokens=known(10)))).complete


@pytest.mark.parametrize(
    ("usage", "missing"),
    [
        ({"retrievals": known(1)}, r"no table \[retrieval\]"),
        ({"wasted_retrievals": Counted(unknown_runs=1)}, r"no table \[retrieval\]"),
        ({"queue_requests": known(1)}, r"no table \[queue\]"),
        ({"cache_reads": known(1)}, r"no table \[cache\]"),
        ({"worker_gb_seconds": known(1)}, r"no table \[worker\]"),
        ({"embedding_tokens": known(1)}, "no price for the embedder 'example-embedder'"),
        ({"input_tokens": known(1)}, "no price for the model 'example-large'"),
    ],
)
def test_what_is_used_needs_a_price(usage: dict[str, Counted], missing: str) -> None:
    """A component is never left out for want of its price; the error names what is missing."""
    bare = Prices(file="own.toml", date=datetime.date(2026, 11, 1), currency="EUR", stale_after_days=90)
    with pytest.raises(UnknownPriceError, match=missing):
        bill(
            "any",
            Usage(questions=1, **usage),
            bare,
            model="example-large" if "input_tokens" in usage else None,
            embedder="example-embedder",
        )


def test_tokens_of_nobody_have_no_price() -> None:
    """A model or an embedder has to be named where its tokens were used, and nowhere else."""
    with pytest.raises(UnknownPriceError, match="no model is named"):
        bill("any", Usage(questions=1, output_tokens=known(1)), PRICES)
    with pytest.raises(UnknownPriceError, match="no price for the model 'misspelt'"):
        bill("any", Usage(questions=1, retrievals=known(1)), PRICES, model="misspelt")
    with pytest.raises(UnknownPriceError, match="no embedder is named"):
        bill("any", Usage(questions=1, embedding_tokens=known(1)), PRICES)
    assert bill("any", Usage(questions=1, retrievals=known(1)), PRICES).total == Decimal("0.002")


def test_a_model_without_a_price_of_cached_tokens_reads_them_at_the_full_one() -> None:
    """Leaving the price out must not make them free."""
    made = bill("any", Usage(questions=1, cached_input_tokens=known(1_000_000)), PRICES, model="example-small")
    assert made.total == Decimal("0.20")


def test_no_questions_cost_nothing_each() -> None:
    """No division by nothing."""
    assert of("any", Usage(questions=0)).total_per_thousand == 0


@pytest.mark.parametrize(
    ("messages", "size", "batch", "requests"),
    [(0, 100, 10, 0), (1, 0, 1, 1), (10, 100, 10, 1), (11, 100, 10, 2), (3, 65_537, 1, 6), (12, 64_000, 10, 12)],
)
def test_requests_are_billed_in_batches_and_chunks(messages: int, size: int, batch: int, requests: int) -> None:
    """12 messages of 64,000 bytes: a batch of 10 begins 10 chunks of 65,536, and one of 2 begins 2."""
    assert billed_requests(messages, size, batch_messages=batch, chunk_bytes=65_536) == requests


@pytest.mark.parametrize(("items", "size", "count"), [(0, 100, 0), (3, 0, 3), (3, 1_024, 3), (3, 1_025, 6)])
def test_items_take_the_units_that_they_begin(items: int, size: int, count: int) -> None:
    """Rounded up for each item, and never less than one."""
    assert units(items, size, 1_024) == count
