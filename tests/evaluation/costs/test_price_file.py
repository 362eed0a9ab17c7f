"""A price file is read strictly: what it says is what is counted, and what it does not say is an error with a name."""

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from langgraph_prefetch.errors import PriceFileError, UnknownPriceError
from langgraph_prefetch.evaluation.costs.price_file import STALE_AFTER_DAYS, load_prices
from langgraph_prefetch.evaluation.costs.prices import ModelPrice, Prices

EXAMPLES = Path("evals/prices.toml")
TOP = 'date = 2026-11-01\ncurrency = "USD"\n'
MODEL = '[models.large]\ninput_per_million = 3.00\noutput_per_million = 15\nsource = "a page"\n'


def load(folder: Path, text: str) -> Prices:
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return load_prices(path)


def test_the_examples_are_read_and_say_that_they_are_examples() -> None:
    """The file that ships has every table, and nobody can take it for real prices."""
    prices = load_prices(EXAMPLES)
    assert prices.models
    assert prices.embeddings
    assert all((prices.retrieval, prices.queue, prices.cache, prices.worker))
    assert "made-up" in prices.note


def test_prices_are_decimals_as_they_are_written(tmp_path: Path) -> None:
    """0.1 is a tenth, and not the binary number beside it; what is left out is what the docstring says."""
    prices = load(tmp_path, TOP + MODEL + '[retrieval]\nper_call = 0.1\nsource = "a page"\n')
    assert prices.models == {
        "large": ModelPrice(input_per_million=Decimal(3), output_per_million=Decimal(15), source="a page")
    }
    assert prices.retrieval is not None
    assert prices.retrieval.per_call == Decimal("0.1")
    assert (prices.date, prices.currency) == (datetime.date(2026, 11, 1), "USD")
    assert (prices.stale_after_days, prices.queue) == (STALE_AFTER_DAYS, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "date is missing"),
        ("date = 2026-11-01\n", "currency is missing"),
        (TOP + "retreival = 3\n", r"retreival is not known.*Did you mean 'retrieval'"),
        (TOP + MODEL + "input_per_milion = 3\n", r"models\.large\.input_per_milion is not known.*'input_per_million'"),
        (TOP + MODEL.replace("3.00", "-3.00"), r"models\.large\.input_per_million must be a finite number from 0"),
        (TOP + MODEL.replace("3.00", "nan"), r"models\.large\.input_per_million must be a finite number"),
        (TOP + MODEL.replace("3.00", "inf"), r"models\.large\.input_per_million must be a finite number"),
        (TOP + MODEL.replace("3.00", "'3.00'"), r"models\.large\.input_per_million must be a number, not '3\.00'"),
        (TOP + MODEL.replace("3.00", "true"), r"models\.large\.input_per_million must be a number, not True"),
        (TOP + MODEL.replace("3.00", "1e40"), r"input_per_million must have at most 30 digits and lie between"),
        (TOP + MODEL.replace("3.00", "0." + "3" * 40), r"input_per_million must have at most 30 digits"),
        (TOP + MODEL.replace('source = "a page"\n', ""), r"models\.large\.source is missing"),
        (TOP + MODEL.replace('"a page"', '" "'), r"models\.large\.source must be a text that says something"),
        (TOP + "models = 3\n", "models must be a table"),
        (TOP + "[models]\nlarge = 3\n", r"models\.large must be a table"),
        (TOP + "stale_after_days = 0\n", "stale_after_days must be a whole number from 1"),
        (TOP.replace("2026-11-01", '"2026-11-01"'), "date must be a date"),
        (TOP.replace("2026-11-01", "2026-11-01T10:00:00"), "date must be a date"),
        ("date = \n", "not TOML"),
    ],
)
def test_what_is_no_price_is_an_error_that_names_it(tmp_path: Path, text: str, said: str) -> None:
    """A misspelt, missing, negative or infinite price can never be taken for 0."""
    with pytest.raises(PriceFileError, match=said) as caught:
        load(tmp_path, text)
    assert caught.value.path.endswith("prices.toml")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """No file, no text, no file of prices."""
    with pytest.raises(PriceFileError, match="No such file"):
        load_prices(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PriceFileError, match="not UTF-8"):
        load_prices(tmp_path / "bytes.toml")
    (tmp_path / "huge.toml").write_text("#" * 1_000_001)
    with pytest.raises(PriceFileError, match="larger than 1 MB"):
        load_prices(tmp_path / "huge.toml")


def test_a_missing_model_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    """Nobody has to guess which name the file has."""
    prices = load(tmp_path, TOP + MODEL)
    assert prices.model("large").input_per_million == 3
    with pytest.raises(UnknownPriceError, match=r"no price for the model 'larg'; it has: large.*Did you mean 'large'"):
        prices.model("larg")
    with pytest.raises(UnknownPriceError, match=r"no price for the embedder 'any'; it has: none"):
        prices.embedding("any")


def test_old_prices_and_prices_of_the_future_are_flagged(tmp_path: Path) -> None:
    """Up to the limit nothing is said."""
    prices = load(tmp_path, TOP + "stale_after_days = 30\n")
    assert prices.stale(datetime.date(2026, 12, 1)) is None
    assert "31 days old" in (prices.stale(datetime.date(2026, 12, 2)) or "")
    assert "after today" in (prices.stale(datetime.date(2026, 10, 31)) or "")
