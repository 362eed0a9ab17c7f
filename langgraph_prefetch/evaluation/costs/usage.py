"""What was used, counted: no prices here."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A quantity, and how many runs it is not known of. With any of them it is the least that it can be.

    Attributes:
        known: the sum over the runs it is known of.
        unknown_runs: runs that did not tell.
    """

    known: Decimal = Decimal(0)
    unknown_runs: int = 0

    @property
    def complete(self) -> bool:
        """Whether every run told."""
        return not self.unknown_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an arm used for its questions.

    Attributes:
        questions: asked, answered or not.
        input_tokens, output_tokens: of the agent's model calls.
        cached_input_tokens: those of the input that the provider read from its prompt cache; they are not among
            ``input_tokens``.
        wasted_input_tokens, wasted_output_tokens: of model calls made in private and not adopted.
        retrievals: searches that answered a call.
        wasted_retrievals: searches that were started and answered none.
        queue_requests: billed requests, chunks included.
        cache_reads, cache_writes: units.
        cache_gb_months: 10**9 bytes for 30 days.
        worker_vcpu_seconds, worker_gb_seconds: of the machines that run speculations elsewhere.
        embedding_tokens: of queries.
    """

    questions: int
    input_tokens: Counted = Counted()
    output_tokens: Counted = Counted()
    cached_input_tokens: Counted = Counted()
    wasted_input_tokens: Counted = Counted()
    wasted_output_tokens: Counted = Counted()
    retrievals: Counted = Counted()
    wasted_retrievals: Counted = Counted()
    queue_requests: Counted = Counted()
    cache_reads: Counted = Counted()
    cache_writes: Counted = Counted()
    cache_gb_months: Counted = Counted()
    worker_vcpu_seconds: Counted = Counted()
    worker_gb_seconds: Counted = Counted()
    embedding_tokens: Counted = Counted()


def billed_requests(messages: int, message_bytes: int, *, batch_messages: int, chunk_bytes: int) -> int:
    """Requests that a queue bills for ``messages`` sent in full batches.

    A batch is one request, and one more for each further ``chunk_bytes`` that its messages begin.
    """
    full, rest = divmod(messages, batch_messages)
    return full * _chunks(batch_messages * message_bytes, chunk_bytes) + (
        _chunks(rest * message_bytes, chunk_bytes) if rest else 0
    )


def units(items: int, item_bytes: int, unit_bytes: int) -> int:
    """Units that a table bills for ``items``: for each item those that it begins, and at least one."""
    return items * _chunks(item_bytes, unit_bytes)


def _chunks(size: int, chunk: int) -> int:
    return max(1, -(-size // chunk))  # rounded up, in whole numbers
