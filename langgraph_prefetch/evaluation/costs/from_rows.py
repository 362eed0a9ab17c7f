"""From the rows of runs to usage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from langgraph_prefetch.evaluation.costs.deployment import Deployment
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.costs.usage import Counted, Usage, billed_requests, units
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.money import MICRO, number, share, times, total

_GB_MONTH = Decimal(10**9 * 30 * 24 * 3600)
"""Bytes times seconds."""
_TINY = Decimal("1e-12")


def usage_of(rows: Sequence[RunRow], assumed: Deployment, prices: Prices) -> Usage:
    """What the runs of one arm used.

    A run that failed told nothing of what it had used until then, so its use is unknown. A speculation is counted from
    its start, since most backends bill a search that nobody waits for any more.

    Args:
        rows: all runs of one arm.
        assumed: where its speculations run.
        prices: say how a queue and a table count (chunks, units); amounts are not read.
    """
    told = [row for row in rows if row.error is None]
    untold = len(rows) - len(told)
    started = sum(row.speculations for row in told)
    wasted = sum(row.wasted for row in told)
    ran = sum(search.answered == "ran" for row in told for search in row.searches)
    calls = sum(len(row.searches) for row in told) if started else 0
    seconds = times(Decimal(started), _seconds(told, assumed)) if started else Decimal(0)

    def counted(known: Decimal | int, seen: float = 1) -> Counted:
        """``seen`` 0: no run of the arm has used any of it, and so none of those that told nothing is taken to have."""
        return Counted(known=Decimal(known), unknown_runs=untold if seen else 0)

    read = _tokens(rows, lambda row: row.input_tokens)
    cached = min(sum(row.cached_input_tokens for row in told), int(read.known))
    searches_embedded = times(Decimal(ran + started), _number(assumed.embedding_tokens_per_search))
    return Usage(
        questions=len(rows),
        input_tokens=Counted(known=read.known - cached, unknown_runs=read.unknown_runs),
        cached_input_tokens=Counted(known=Decimal(cached)),
        output_tokens=_tokens(rows, lambda row: row.output_tokens),
        wasted_input_tokens=counted(again := sum(row.wasted_input_tokens for row in told), again),
        wasted_output_tokens=counted(written := sum(row.wasted_output_tokens for row in told), written),
        retrievals=counted(ran + started - wasted),
        wasted_retrievals=counted(wasted, started),
        queue_requests=counted(_requests(started, assumed, prices), started * assumed.requests_per_message),
        cache_reads=counted(_reads(calls, assumed, prices), calls * assumed.cache_reads_per_call),
        cache_writes=counted(_writes(started, assumed, prices), started * assumed.cache_writes_per_speculation),
        cache_gb_months=counted(_kept(started, assumed), started * assumed.cache_writes_per_speculation),
        worker_vcpu_seconds=counted(times(seconds, _number(assumed.worker_vcpus)), started * assumed.worker_vcpus),
        worker_gb_seconds=counted(times(seconds, _number(assumed.worker_gb)), started * assumed.worker_gb),
        embedding_tokens=counted(searches_embedded, assumed.embedding_tokens_per_search),
    )


def _tokens(rows: Sequence[RunRow], of: Callable[[RunRow], int | None]) -> Counted:
    known = [value for row in rows if (value := _told(row, of(row))) is not None]
    return Counted(known=Decimal(sum(known)), unknown_runs=len(rows) - len(known))


def _told(row: RunRow, tokens: int | None) -> int | None:
    """None where the run did not tell. A model that was called and says 0 has not: some that are scripted do."""
    if row.error is not None or (not tokens and row.model_calls):
        return None
    return tokens


def _seconds(rows: Iterable[RunRow], assumed: Deployment) -> Decimal:
    """Of one speculation: as assumed, else the mean of the searches whose time is known, to a microsecond."""
    if assumed.worker_seconds is not None:
        return _number(assumed.worker_seconds)
    taken = [
        number("retrieval_seconds", search.retrieval_seconds)
        for row in rows
        for search in row.searches
        if search.retrieval_seconds is not None
    ]
    return share(total(taken), Decimal(len(taken)), MICRO) if taken else Decimal(0)


def _requests(messages: int, assumed: Deployment, prices: Prices) -> int:
    queue = prices.queue
    if queue is None:  # its price is asked for where requests are
        return messages * assumed.requests_per_message
    batch = min(assumed.messages_per_request, queue.batch_messages)
    sent = billed_requests(messages, assumed.message_bytes, batch_messages=batch, chunk_bytes=queue.chunk_bytes)
    return assumed.requests_per_message * sent


def _reads(calls: int, assumed: Deployment, prices: Prices) -> int:
    unit = prices.cache.read_unit_bytes if prices.cache else 1
    return units(calls * assumed.cache_reads_per_call, assumed.item_bytes, unit)


def _writes(speculations: int, assumed: Deployment, prices: Prices) -> int:
    unit = prices.cache.write_unit_bytes if prices.cache else 1
    return units(speculations * assumed.cache_writes_per_speculation, assumed.item_bytes, unit)


def _kept(speculations: int, assumed: Deployment) -> Decimal:
    items = Decimal(speculations * assumed.cache_writes_per_speculation * assumed.item_bytes)
    return share(times(items, _number(assumed.keep_seconds)), _GB_MONTH, _TINY)


def _number(value: float) -> Decimal:
    return number("a quantity", value)
