"""Prices as values. None of them stands in the code: they come from a dated file (see `price_file`)."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from langgraph_prefetch.errors import UnknownPriceError, did_you_mean

Price = TypeVar("Price")

MILLION = Decimal("0.000001")
"""One millionth: token prices are quoted by the million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """Of a chat model, for one million tokens each.

    Attributes:
        input_per_million: of tokens read.
        output_per_million: of tokens written.
        cached_input_per_million: of tokens read from the provider's prompt cache; as ``input`` where it is not given.
        source: where the prices were read.
    """

    input_per_million: Decimal
    output_per_million: Decimal
    cached_input_per_million: Decimal | None = None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPrice:
    """Of an embedder, for one million tokens."""

    per_million_tokens: Decimal
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalPrice:
    """Of one search by the backend, whether its result is used or not."""

    per_call: Decimal
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePrice:
    """Of a queue that bills requests.

    Attributes:
        per_million_requests: requests are billed one by one, and quoted by the million.
        chunk_bytes: every so many bytes of a request are billed as one more.
        batch_messages: most messages in one request.
        source: where the prices were read.
    """

    per_million_requests: Decimal
    chunk_bytes: int
    batch_messages: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePrice:
    """Of a key-value table that bills units and storage.

    Attributes:
        per_million_reads, per_million_writes: units.
        read_unit_bytes, write_unit_bytes: an item takes one unit for each so many bytes that it has begun.
        gb_month: 10**9 bytes, kept for 30 days.
        source: where the prices were read.
    """

    per_million_reads: Decimal
    per_million_writes: Decimal
    read_unit_bytes: int
    write_unit_bytes: int
    gb_month: Decimal
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPrice:
    """Of the machines that run speculations elsewhere."""

    vcpu_second: Decimal
    gb_second: Decimal
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """A price file.

    Attributes:
        file: where it was read.
        date: of the prices.
        currency: of all of them.
        stale_after_days: older prices are flagged.
        note: what a reader has to know, such as that they are examples.
        models, embeddings: by name.
        retrieval, queue, cache, worker: None where the file has none; what is never used needs no price.
    """

    file: str
    date: datetime.date
    currency: str
    stale_after_days: int
    note: str = ""
    models: Mapping[str, ModelPrice] = field(default_factory=dict)
    embeddings: Mapping[str, EmbeddingPrice] = field(default_factory=dict)
    retrieval: RetrievalPrice | None = None
    queue: QueuePrice | None = None
    cache: CachePrice | None = None
    worker: WorkerPrice | None = None

    def model(self, name: str) -> ModelPrice:
        """The prices of a chat model. Raises `UnknownPriceError` where the file has none."""
        return _named("model", name, self.models, self.file)

    def embedding(self, name: str) -> EmbeddingPrice:
        """The price of an embedder. Raises `UnknownPriceError` where the file has none."""
        return _named("embedder", name, self.embeddings, self.file)

    def stale(self, today: datetime.date) -> str | None:
        """What is wrong with the date of the prices, in words; None if nothing is."""
        age = (today - self.date).days
        if age < 0:
            return f"{self.file}: the prices are dated {self.date}, after today ({today}): correct the date"
        if age > self.stale_after_days:
            return f"{self.file}: the prices are of {self.date}, {age} days old: look them up again, and date the file"
        return None


def _named(what: str, name: str, prices: Mapping[str, Price], file: str) -> Price:
    if name not in prices:
        known = ", ".join(sorted(prices)) or "none"
        raise UnknownPriceError(
            f"{file} has no price for the {what} {name!r}; it has: {known}.{did_you_mean(name, prices)}"
        )
    return prices[name]
