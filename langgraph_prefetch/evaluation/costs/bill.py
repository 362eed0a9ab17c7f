"""Usage times prices: a bill, one line a component, that adds up exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from langgraph_prefetch.errors import UnknownPriceError
from langgraph_prefetch.evaluation.costs.prices import MILLION, ModelPrice, Prices
from langgraph_prefetch.evaluation.costs.usage import Counted, Usage
from langgraph_prefetch.money import per_thousand, times, total

MODEL = "model"
RETRIEVAL = "retrieval"
QUEUE = "queue"
CACHE = "cache"
WORKER = "worker"
EMBEDDING = "embedding"
GROUPS = (MODEL, RETRIEVAL, QUEUE, CACHE, WORKER, EMBEDDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One component.

    Attributes:
        name: such as ``wasted retrievals``.
        group: one of `GROUPS`.
        quantity: how much was used; where some runs did not tell, the least that it can be.
        unit: of the quantity.
        unit_price: of one.
        wasted: whether it was for something that no answer came from.
    """

    name: str
    group: str
    quantity: Counted
    unit: str
    unit_price: Decimal
    wasted: bool = False

    @property
    def amount(self) -> Decimal:
        """Quantity times price, exactly; of what is known."""
        return times(self.quantity.known, self.unit_price)

    @property
    def known(self) -> bool:
        """Whether anything is known of it: a line that no run told of is unknown, and not 0."""
        return self.quantity.complete or self.quantity.known > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """All components of an arm, and their sums."""

    arm: str
    questions: int
    currency: str
    lines: tuple[Line, ...]

    @property
    def total(self) -> Decimal:
        """The sum of all lines, exactly."""
        return total(line.amount for line in self.lines)

    @property
    def complete(self) -> bool:
        """Whether all lines are known of all runs; if not, the total is the least that it can be."""
        return all(line.quantity.complete for line in self.lines)

    @property
    def wasted(self) -> Decimal:
        """The sum of the lines that no answer came from."""
        return total(line.amount for line in self.lines if line.wasted)

    @property
    def wasted_complete(self) -> bool:
        """Whether what was wasted is known of all runs."""
        return all(line.quantity.complete for line in self.lines if line.wasted)

    def per_thousand(self, line: Line) -> Decimal:
        """A line for 1,000 questions, to a millionth; 0 where there were no questions."""
        return per_thousand(line.amount, self.questions) if self.questions else Decimal(0)

    @property
    def total_per_thousand(self) -> Decimal:
        """The sum of the lines for 1,000 questions: of the rounded ones, so that what is shown adds up."""
        return total(map(self.per_thousand, self.lines))

    def groups(self) -> dict[str, Decimal]:
        """For 1,000 questions, each group of lines, what was wasted on its own; groups of nothing are left out."""
        sums: dict[str, Decimal] = {}
        for line in self.lines:
            name = f"{line.group}, wasted" if line.wasted else line.group
            sums[name] = total((sums.get(name, Decimal(0)), self.per_thousand(line)))
        return {name: amount for name, amount in sums.items() if amount}


def bill(arm: str, usage: Usage, prices: Prices, *, model: str | None = None, embedder: str | None = None) -> Bill:
    """What an arm costs.

    Args:
        arm: its name.
        usage: what it used.
        prices: of what.
        model: whose tokens these are; None where no model was called.
        embedder: whose tokens the queries' are; None where no query was embedded.

    Raises:
        UnknownPriceError: something was used that has no price, or by nobody.
    """
    lines = (
        *_model_lines(usage, prices, model),
        *_retrieval_lines(usage, prices),
        *_service_lines(usage, prices),
        *_embedding_lines(usage, prices, embedder),
    )
    return Bill(arm=arm, questions=usage.questions, currency=prices.currency, lines=lines)


def _model_lines(usage: Usage, prices: Prices, model: str | None) -> Iterable[Line]:
    counted = (
        ("model input", usage.input_tokens, "input", False),
        ("model input, cached", usage.cached_input_tokens, "cached", False),
        ("model output", usage.output_tokens, "output", False),
        ("wasted model calls, input", usage.wasted_input_tokens, "input", True),
        ("wasted model calls, output", usage.wasted_output_tokens, "output", True),
    )
    if model is None and not any(_used(quantity) for _, quantity, _, _ in counted):
        return
    if model is None:
        raise UnknownPriceError("tokens were used, and no model is named whose price they have: name it with `model`")
    price = prices.model(model)
    for name, quantity, kind, wasted in counted:
        yield Line(
            name=name,
            group=MODEL,
            quantity=quantity,
            unit="tokens",
            unit_price=times(_token_price(price, kind), MILLION),
            wasted=wasted,
        )


def _token_price(price: ModelPrice, kind: str) -> Decimal:
    if kind == "output":
        return price.output_per_million
    if kind == "cached" and price.cached_input_per_million is not None:
        return price.cached_input_per_million
    return price.input_per_million


def _retrieval_lines(usage: Usage, prices: Prices) -> Iterable[Line]:
    counted = (("retrievals", usage.retrievals, False), ("wasted retrievals", usage.wasted_retrievals, True))
    if not any(_used(quantity) for _, quantity, _ in counted):
        return
    if prices.retrieval is None:
        raise _missing("retrieval", prices)
    for name, quantity, wasted in counted:
        yield Line(
            name=name,
            group=RETRIEVAL,
            quantity=quantity,
            unit="calls",
            unit_price=prices.retrieval.per_call,
            wasted=wasted,
        )


def _service_lines(usage: Usage, prices: Prices) -> Iterable[Line]:
    queue, cache, worker = prices.queue, prices.cache, prices.worker
    read, written = (_one(cache.per_million_reads), _one(cache.per_million_writes)) if cache else (None, None)
    rows = (
        (
            "queue requests",
            QUEUE,
            usage.queue_requests,
            "requests",
            _one(queue.per_million_requests) if queue else None,
        ),
        ("cache reads", CACHE, usage.cache_reads, "units", read),
        ("cache writes", CACHE, usage.cache_writes, "units", written),
        ("cache storage", CACHE, usage.cache_gb_months, "GB-months", cache.gb_month if cache else None),
        (
            "worker processors",
            WORKER,
            usage.worker_vcpu_seconds,
            "vCPU seconds",
            worker.vcpu_second if worker else None,
        ),
        ("worker memory", WORKER, usage.worker_gb_seconds, "GB seconds", worker.gb_second if worker else None),
    )
    for name, group, quantity, unit, price in rows:
        if not _used(quantity):
            continue
        if price is None:
            raise _missing(group, prices)
        yield Line(name=name, group=group, quantity=quantity, unit=unit, unit_price=price)


def _embedding_lines(usage: Usage, prices: Prices, embedder: str | None) -> Iterable[Line]:
    if not _used(usage.embedding_tokens):
        return
    if embedder is None:
        raise UnknownPriceError("queries were embedded, and no embedder is named whose price they have: name it")
    price = _one(prices.embedding(embedder).per_million_tokens)
    yield Line(
        name="query embeddings", group=EMBEDDING, quantity=usage.embedding_tokens, unit="tokens", unit_price=price
    )


def _one(per_million: Decimal) -> Decimal:
    return times(per_million, MILLION)


def _used(quantity: Counted) -> bool:
    return quantity.known > 0 or not quantity.complete


def _missing(table: str, prices: Prices) -> UnknownPriceError:
    return UnknownPriceError(f"{prices.file} has no table [{table}], and it was used: add its prices")
