"""What happens to runs, model calls, speculations and search calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from langgraph_prefetch.values import Source

DRY_RUN = "dry run"
"""Why a speculation was ignored that would have been started but for ``dry_run``."""


class Fate(StrEnum):
    """How a speculation ended; every one ends in exactly one of these."""

    SERVED = "served"
    WASTED = "wasted"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """An agent run began to be listened to."""

    run_id: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A model call began. ``step`` counts from 1 within the run."""

    run_id: str
    step: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A model call ended.

    Attributes:
        pieces: how many pieces of its stream were heard (0: it did not stream).
        slices: how many pieces of text and reasoning were heard in each of equal slices of its time.
        call_at: when the first piece of a tool call was heard, in clock seconds.
    """

    run_id: str
    step: int
    at: float
    pieces: int
    slices: tuple[int, ...] = ()
    call_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationStarted:
    """A background retrieval was handed to the executor.

    Attributes:
        p_served: P(it will be served), by the gate; None, as the next three, where there is no gate.
        saved_seconds: what it is expected to save if it is.
        gain: ``p_served`` * ``saved_seconds`` * value of a second, in the unit of the prices; None without prices.
        loss: (1 - ``p_served``) * price of a call.
        destination: who reads the tool's queries.
        query_hash: stands for the query where that is not shown; of equal queries equal within one process.
    """

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source
    probability: float
    cue: str
    query: str | None = None
    p_served: float | None = None
    saved_seconds: float | None = None
    gain: float | None = None
    loss: float | None = None
    destination: str = "own_store"
    query_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationJoined:
    """A signal asked for what is already under way or ready."""

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationIgnored:
    """A signal started nothing, and why (``budget: per_run``, ``rejected: queue full``, ``gate: not worth it`` …).

    ``p_served``, ``saved_seconds``, ``gain`` and ``loss``: as for `SpeculationStarted`, where the signal was weighed.
    """

    run_id: str
    step: int
    at: float
    tool: str
    source: Source
    reason: str
    query: str | None = None
    p_served: float | None = None
    saved_seconds: float | None = None
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationEnded:
    """A speculation met its fate. ``seconds``: how long its retrieval ran, None where it never did or still does."""

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source
    fate: Fate
    reason: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCallAnswered:
    """A real call of a named tool was answered.

    Attributes:
        source: what served it; None: the tool itself ran, for ``reason``.
        late: it joined a speculation that was still running.
        waited_seconds: how long the agent waited for the answer.
        retrieval_seconds: how long the retrieval behind the answer took; of a near miss, how long the tool's own
            retrievals have taken on average.
        lead_seconds: from dispatch to the call, where served.
        hideable_seconds: min(retrieval, time from the query being readable in the stream to the call); of a near miss,
            which needs no readable query, the whole retrieval.
        hidden_seconds: retrieval time the agent did not wait for, at most ``hideable_seconds``.
        failed: the tool raised or returned an error.
        forgone: why a speculation that would have answered it was not started (``dry run``, ``gate: not worth it`` …);
            None: there was none.
        forgone_seconds: retrieval time that one would have hidden.
    """

    run_id: str
    step: int
    at: float
    call_id: str | None
    tool: str
    source: Source | None
    speculation_id: str | None
    late: bool
    reason: str
    waited_seconds: float
    retrieval_seconds: float
    lead_seconds: float
    hideable_seconds: float
    hidden_seconds: float
    failed: bool = False
    query: str | None = None
    forgone: str | None = None
    forgone_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """An agent run is over; what it left behind was cancelled. ``idle``: models ran and none of them streamed."""

    run_id: str
    at: float
    idle: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something of ours failed; the agent's run went on as if prefetch were not there."""

    at: float
    where: str
    error: str
